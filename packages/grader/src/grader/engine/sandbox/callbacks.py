"""Calls functions and modules of the test from student code. Gradients flow through them.

student code --> Callbacks.call --Callback--> runner --CallbackReply--> value, or the exception of the test's function
"""

import itertools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from grader.engine.rpc.exceptions import known_class
from grader.engine.rpc.graphs import Graph, attached
from grader.engine.rpc.objects.handles import Given, LentRef
from grader.engine.rpc.objects.lent import borrowed
from grader.engine.rpc.protocol import Callback, CallbackRaised, CallbackReply
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.rpc.values.trees import Packer, Refer, Resolve, pack, tensor_at, unpack
from grader.engine.sandbox.printed import PrintedText
from grader.engine.torch_if_used import torch

CALLBACK_NUMBER = "callback_number"
"""The attribute that holds the number of an exception that a function of the test raised."""

AskBack = Callable[[Callback, list[torch.Tensor]], tuple[CallbackReply, DecodedTensors]]


class Callbacks:
    """The calls of one session.

    Args:
        ask_back: sends a callback to the runner in the middle of a call and returns the reply.
        refer: makes a handle for an object of the student's.
        resolve: finds the object of a handle.
        printed: what student code has printed so far.
        namespace: the student's names.
        suspended: takes the test's changes of the process back while the grader's own code runs.
    """

    def __init__(
        self,
        ask_back: AskBack,
        refer: Refer,
        resolve: Resolve,
        printed: PrintedText,
        namespace: dict[str, Any],
        suspended: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._ask_back, self._refer, self._resolve, self._printed = ask_back, refer, resolve, printed
        self._namespace, self._suspended = namespace, suspended
        self._graphs = itertools.count()
        self.unused_graphs: list[int] = []
        self._borrowed: dict[int, Any] = {}
        """What stands for functions and objects of the test, by their numbers."""
        self.given: dict[int, list[Any]] = {}
        """The kinds and numbers of these, by their ids."""

    def lent(self, ref: LentRef) -> Any:
        """Return what stands for a function, a module or an object of the test, always the same.

        Args:
            ref: its description.
        """
        if ref.number not in self._borrowed:
            item = self._borrowed[ref.number] = borrowed(ref, self._ask, self._namespace)
            self.given[id(item)] = [Given.LENT, ref.number]
        return self._borrowed[ref.number]

    def _ask(self, number: int, verb: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        with self._suspended():
            return self._answer(number, verb, args, kwargs)

    def _answer(self, number: int, verb: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        tensors: list[torch.Tensor] = []
        call = Packer(self._refer, tensors, self.given).walk((args, kwargs), 0)
        question = Callback(function=number, call=call, verb=verb)
        question.grad_enabled = torch.is_grad_enabled()
        needing = [(n, each) for n, each in enumerate(tensors) if question.grad_enabled and each.requires_grad]
        if needing:
            question.requires_grad = [(number, tensor.is_leaf) for number, tensor in needing]
            question.graph = self.new_graph()
        value, outputs, _ = self._asked(question, tensors)
        if question.graph is not None:
            attached(Graph(self, question.graph), outputs, [tensor for _, tensor in needing])
        return value

    def new_graph(self) -> int:
        """Return the number of a new call."""
        return next(self._graphs)

    def gradients_of(
        self, graph: int, gradients: dict[int, torch.Tensor], new: int | None
    ) -> tuple[list[torch.Tensor | None], list[int]]:
        """Return the gradients of the arguments of a function of the test.

        Args:
            graph: the number of the call.
            gradients: the gradients of its outputs, by place.
            new: the graph of this backward pass itself, if it is to be differentiated.
        """
        tensors: list[torch.Tensor] = []
        with self._suspended():
            call = pack((tuple(gradients.values()), {}), self._refer, tensors)
            question = Callback(function=graph, call=call, outputs=list(gradients), graph=new)
            found, _, again = self._asked(question, tensors)
        return found, again

    def _asked(self, question: Callback, tensors: list[torch.Tensor]) -> tuple[Any, list[torch.Tensor], list[int]]:
        """Return the value of a callback, its tensors that have gradients, and their numbers."""
        question.printed = self._printed.take()
        question.forget, self.unused_graphs = self.unused_graphs, []
        reply, decoded = self._ask_back(question, tensors)
        if isinstance(reply, CallbackRaised):
            raise _error_of_the_test(reply)
        value = unpack(reply.value, decoded.tensors, self._resolve)
        if question.outputs is not None:
            return value, [], reply.differentiable
        return value, [tensor_at(decoded.tensors, number) for number in reply.differentiable], reply.differentiable


def _error_of_the_test(raised: CallbackRaised) -> Exception:
    """Return an exception of the same built-in class, with the number by which the runner finds the original."""
    kind: type[Exception] = known_class(raised.kind) or RuntimeError
    try:
        error = kind(raised.message)
    except TypeError:
        error = RuntimeError(raised.message)
    setattr(error, CALLBACK_NUMBER, raised.number)
    return error
