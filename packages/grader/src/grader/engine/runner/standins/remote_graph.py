"""Makes a call in the sandbox a node of the local autograd graph.

outputs of a call, inputs that collect gradients --attach--> a node whose backward asks the sandbox
"""

from typing import Any, Protocol

import torch


class GradientSource(Protocol):
    """Computes the gradients of earlier calls; `client.RpcClient` is one."""

    def backward(self, graph: int, gradients: dict[int, torch.Tensor]) -> list[torch.Tensor | None]: ...


class RemoteGraph:
    """A call; while this object lives, its gradients can be computed.

    Args:
        source: computes its gradients.
        number: the number of the call.
        unused: the number is added to these when the gradients are no longer needed.
    """

    __slots__ = ("number", "source", "unused")

    def __init__(self, source: GradientSource, number: int, unused: list[int]) -> None:
        self.source, self.number, self.unused = source, number, unused

    def __del__(self) -> None:
        self.unused.append(self.number)


def attach(graph: RemoteGraph, outputs: list[torch.Tensor], collecting: list[torch.Tensor]) -> None:
    """Make the outputs of a call depend on its inputs in autograd.

    Args:
        graph: the call.
        outputs: tensors of its value that have a gradient in the sandbox.
        collecting: the inputs of the call that collect gradients.
    """
    _Node.apply(graph, outputs, *collecting)


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: RemoteGraph, outputs: list[torch.Tensor], *collecting: torch.Tensor) -> tuple:
        ctx.graph = graph
        # As in one process, an output that a test does not use is not differentiated: not every output can be.
        ctx.set_materialize_grads(False)
        # autograd attaches its graph to these tensors, parts of the call's value. In a list, they are not inputs.
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        used = {place: gradient for place, gradient in enumerate(gradients) if gradient is not None}
        return None, None, *ctx.graph.source.backward(ctx.graph.number, used)
