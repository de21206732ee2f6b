"""Repeats recorded calls on a mutated reference solution instead of the student's code.

    RecordedCall --> Replay: the reference, with the student's parameters --> its answer

No student code runs here. Where the student's code called a function of the test, the reference must make the same
call, and gets the same reply.
"""

from typing import Any

import msgspec

from grader.engine.diagnosis.comparison import handles, same_values
from grader.engine.diagnosis.recording import RecordedCall, RecordedCallback
from grader.engine.rpc.message import Tree
from grader.engine.rpc.objects.handles import FROM_SANDBOX_BY_NAME, ModuleHandle, handle_from
from grader.engine.rpc.protocol import (
    Backward,
    Call,
    Callback,
    CallbackReply,
    CallbackReturned,
    CellDone,
    ModuleChanges,
    Returned,
)
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.sandbox.server import Answer, RpcServer
from grader.engine.torch_if_used import torch


class DifferentCallbacks(Exception):
    """The reference does not call the test's functions as often or with the same arguments as the student's code."""


class _Names:
    """A shell with the names of the reference, whose cells have run already."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def run(self, source: str, name: str, code: bytes = b"") -> CellDone:
        raise NotImplementedError("a replay runs no cells")


class Replay:
    """One session on a local server, with the names that the reference's cells have bound."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._server = RpcServer(_Names(namespace), self._reply_to)
        self._ids: dict[int, int] = {}
        """Ids of the reference's objects by the ids of the student's."""
        self._callbacks: list[RecordedCallback] = []
        self._differs = False

    def answer(self, call: RecordedCall) -> Answer:
        """Return the reference's answer to a call.

        Raises:
            DifferentCallbacks: it calls the test's functions differently from the student's code.
            Exception: the call cannot be made on the reference.
        """
        self._callbacks, self._differs = list(call.callbacks), False
        reply, tensors = self._server.answer(self._translated_request(call.request), call.arguments.decoded(watch=True))
        if self._callbacks or self._differs:
            raise DifferentCallbacks
        return reply, [tensor.detach().clone() for tensor in tensors]

    def adopt(self, call: RecordedCall, answer: Answer) -> None:
        """Map the student's objects to those of an answer, and copy the student's parameters into its modules.

        Args:
            call: the call.
            answer: the reference's answer to it.
        """
        reply = answer[0]
        if isinstance(call.reply, Returned) and isinstance(reply, Returned):
            self._adopt(call.reply.value, call.returned.decoded().tensors, reply.value)

    def _reply_to(self, question: Callback, tensors: list[torch.Tensor]) -> tuple[CallbackReply, DecodedTensors]:
        """Return the recorded reply of the test's function if the reference makes the same call."""
        recorded = self._callbacks.pop(0) if self._callbacks else None
        if recorded is None or not _same_callback(recorded, question, tensors):
            self._differs = True
            raise DifferentCallbacks
        reply = recorded.reply
        if isinstance(reply, CallbackReturned):
            reply = CallbackReturned(value=self._translated(reply.value))
        return reply, recorded.returned.decoded()

    def _translated_request(self, request: Call | Backward) -> Call | Backward:
        """Return the request with the ids of the reference's objects, without modules of other tests."""
        if isinstance(request, Backward):
            return msgspec.structs.replace(request, forget=[])
        return msgspec.structs.replace(
            request,
            call=self._translated(request.call),
            modules=[self._ids[object_id] for object_id in request.modules if object_id in self._ids],
            changes=[
                (self._ids[object_id], changes) for object_id, changes in request.changes if object_id in self._ids
            ],
            forget=[],
        )

    def _translated(self, tree: Tree) -> Tree:
        match tree:
            case {"object_id": int(object_id), **rest}:
                return {"object_id": self._ids[object_id], **rest}
            case dict():
                return {key: self._translated(part) for key, part in tree.items()}
            case list():
                return [self._translated(part) for part in tree]
        return tree

    def _adopt(self, student: Tree, tensors: list[torch.Tensor], reference: Tree) -> None:
        match student, reference:
            case {"handle": dict(part)}, {"handle": local}:
                handle = handle_from(part, FROM_SANDBOX_BY_NAME)
                self._ids[handle.object_id] = local.object_id
                if isinstance(handle, ModuleHandle):
                    self._take_parameters(handle, tensors, local.object_id)
            case dict(), dict():
                for key in student:
                    self._adopt(student[key], tensors, reference[key])
            case list(), list():
                for student_part, reference_part in zip(student, reference, strict=True):
                    self._adopt(student_part, tensors, reference_part)

    def _take_parameters(self, handle: ModuleHandle, tensors: list[torch.Tensor], object_id: int) -> None:
        parameters = dict(self._server.object(object_id).named_parameters(remove_duplicate=False))
        values: list[torch.Tensor] = []
        changes = ModuleChanges()
        for described in handle.parameters:
            parameter = parameters[described.path]
            changes.values.append((described.path, len(values), parameter.requires_grad))
            values.append(tensors[described.tensor].to(parameter.dtype))
            self._ids[described.object_id] = self._server.object_id(parameter)
        self._server.change(object_id, changes, values)


def _same_callback(recorded: RecordedCallback, question: Callback, tensors: list[torch.Tensor]) -> bool:
    if (recorded.question.function, recorded.question.verb) != (question.function, question.verb):
        return False
    return same_values(recorded.question.call, recorded.arguments.decoded().tensors, question.call, tensors)


def adopted(call: RecordedCall) -> bytes:
    """Return the parts of a reply that `adopt` uses, as bytes: ids of objects, and modules with parameters."""
    if not isinstance(call.reply, Returned):
        return b""
    found = handles(call.reply.value)
    modules = [handle for handle in found if isinstance(handle, ModuleHandle)]
    ids = [(handle.object_id, handle.parameters if isinstance(handle, ModuleHandle) else None) for handle in found]
    return repr(ids).encode() + (call.returned.data if any(module.parameters for module in modules) else b"")
