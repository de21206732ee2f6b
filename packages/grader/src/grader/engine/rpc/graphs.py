"""Makes a call to the other process a node of the local graph of autograd, in both directions, and so for all orders.

    process that calls: Node --graph, gradients of outputs--> process that was called: Graphs.differentiate
                             <-- gradients of inputs --------

A backward pass that autograd records (`create_graph=True`) is a call like any other: the gradients are outputs of a
graph of their own, whose inputs are the given gradients and the inputs of the first call.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from grader.engine.torch_if_used import nn, torch


class Differentiates(Protocol):
    """Asks the other process for gradients."""

    unused_graphs: list[int]
    """Graphs that are no longer needed; the next message tells the other process."""

    def new_graph(self) -> int: ...

    def gradients_of(
        self, graph: int, gradients: dict[int, torch.Tensor], new: int | None
    ) -> tuple[list[torch.Tensor | None], list[int]]:
        """Return the gradients of the inputs of a call, and the places of those that are outputs of the graph `new`."""
        ...


class Graph:
    """A call; while this object lives, the other process can compute its gradients.

    Args:
        asker: asks the other process.
        number: the number of the call.
    """

    __slots__ = ("asker", "number")

    def __init__(self, asker: Differentiates, number: int) -> None:
        self.asker, self.number = asker, number

    def __del__(self) -> None:
        self.asker.unused_graphs.append(self.number)


class Node(torch.autograd.Function):
    """A call as a node of the local graph: its backward pass asks the other process."""

    @staticmethod
    def forward(ctx: Any, graph: Graph, outputs: list[torch.Tensor], *inputs: torch.Tensor) -> tuple:
        """Attach the graph to the outputs, parts of the call's value. In a list, they are not inputs."""
        ctx.graph = graph
        # As in one process, an output that a test does not use is not differentiated: not every output can be.
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        """Return the gradients of the inputs."""
        used = {place: gradient for place, gradient in enumerate(gradients) if gradient is not None}
        asker = ctx.graph.asker
        new = asker.new_graph() if torch.is_grad_enabled() else None
        found, again = asker.gradients_of(ctx.graph.number, used, new)
        if new is not None:
            attached(Graph(asker, new), [found[place] for place in again], [*used.values(), *ctx.saved_tensors])
        return None, None, *found


def attached(graph: Graph, outputs: list[Any], inputs: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the outputs of a call, which from now on have its gradients.

    Args:
        graph: the call.
        outputs: tensors that came from the other process.
        inputs: the tensors here on which they depend.
    """
    return Node.apply(graph, outputs, *inputs) if outputs else ()


class Graphs:
    """The calls that the other process has made, and may differentiate."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}

    def add(self, number: int, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> None:
        """Keep a call.

        Args:
            number: its number.
            inputs: its inputs that require gradients.
            outputs: its outputs that depend on them.
        """
        self._calls[number] = inputs, outputs

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop calls that are no longer needed."""
        for number in numbers:
            self._calls.pop(number, None)

    def differentiate(
        self, number: int, places: list[int], gradients: list[torch.Tensor], new: int | None
    ) -> tuple[list[torch.Tensor | None], list[int]]:
        """Return the gradients of the inputs of a call, and the places of those that can be differentiated again.

        Args:
            number: the call.
            places: the places of the outputs that have gradients.
            gradients: these gradients.
            new: the number of the graph of the backward pass itself, if it is recorded.

        Raises:
            KeyError: there is no such call.
            IndexError: it has no such output.
        """
        inputs, outputs = self._calls[number]
        if new is not None:
            gradients = [gradient.requires_grad_() for gradient in gradients]
        used = [outputs[place] for place in places]
        more = {"allow_unused": True, "retain_graph": True, "create_graph": new is not None}
        with torch.set_grad_enabled(new is not None):
            found: list[Any] = list(torch.autograd.grad(used, inputs, gradients, **more))
        # A parameter of two modules is an input twice, but has only one gradient.
        known: set[int] = set()
        for place, tensor in enumerate(inputs):
            if id(tensor) in known:
                found[place] = None
            known.add(id(tensor))
        if new is None:
            return found, []
        again = [place for place, gradient in enumerate(found) if gradient is not None and gradient.requires_grad]
        self.add(new, [*gradients, *inputs], [found[place] for place in again])
        return found, again


def kinds(tensors: list[torch.Tensor], inputs: list[torch.Tensor]) -> tuple[list[int], list[tuple[int, bool, bool]]]:
    """Return the results that depend on `inputs`, and the leaves as (number, is a parameter, requires_grad)."""
    input_ids = {id(tensor) for tensor in inputs}
    differentiable, leaves = [], []
    for number, tensor in enumerate(tensors):
        if inputs and tensor.requires_grad and (not tensor.is_leaf or id(tensor) in input_ids):
            differentiable.append(number)
        elif tensor.requires_grad or isinstance(tensor, nn.Parameter):
            leaves.append((number, isinstance(tensor, nn.Parameter), tensor.requires_grad))
    return differentiable, leaves
