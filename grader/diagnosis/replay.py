"""Repeats recorded calls on a mutated reference solution in place of the student's code.

    RecordedCall --> Replay: the reference, with the student's parameters --> alike, or not

No student code runs here. Where the student's code called a function of the test, the reference must make the same
call, and gets the same reply.
"""

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import torch

from grader.diagnosis.recording import RecordedCall, RecordedCallback
from grader.rpc.protocol import (
    Call,
    Callback,
    CallbackReply,
    CallbackReturned,
    CellDone,
    ErrorInfo,
    FromSandbox,
    ModuleHandle,
    Raised,
    Returned,
    Tree,
)
from grader.rpc.tensors import DecodedTensors
from grader.sandbox.server import Answer, RpcServer

RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Tolerances within which numbers are alike."""


class DifferentCallbacks(Exception):
    """The reference calls the test's functions with other arguments than the student's code, or not as often."""


class _Names:
    """The names of the reference, whose cells have run already."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def run(self, source: str, name: str, code: bytes = b"") -> CellDone:
        raise NotImplementedError("a replay runs no cells")


class Replay:
    """One session on a local server.

    Args:
        namespace: the names that the cells of the reference have bound.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._server = RpcServer(_Names(namespace), self._reply_to)
        self._ids: dict[int, int] = {}
        """Ids of the reference's objects by the ids of the student's."""
        self._callbacks: list[RecordedCallback] = []
        self._differs = False

    def answer(self, call: RecordedCall) -> Answer:
        """Return the reference's answer to a call.

        Raises:
            DifferentCallbacks: it does not call the test's functions as the student's code did.
            Exception: the call cannot even be made on the reference.
        """
        self._callbacks, self._differs = list(call.callbacks), False
        reply, tensors = self._server.answer(self._translated_call(call.request), call.arguments.decoded())
        if self._callbacks or self._differs:
            raise DifferentCallbacks
        return reply, [tensor.detach().clone() for tensor in tensors]

    def adopt(self, call: RecordedCall, answer: Answer) -> None:
        """Let the objects of an answer stand for the student's from now on, with the student's parameters in modules.

        Args:
            call: the call.
            answer: the reference's answer to it.
        """
        reply = answer[0]
        if isinstance(call.reply, Returned) and isinstance(reply, Returned):
            self._adopt(call.reply.value, call.returned.decoded().tensors, reply.value)

    def _reply_to(self, question: Callback, tensors: list[torch.Tensor]) -> tuple[CallbackReply, DecodedTensors]:
        """The recorded reply of the test's function, if the reference makes the same call as the student's code."""
        recorded = self._callbacks.pop(0) if self._callbacks else None
        if recorded is None or not _same_callback(recorded, question, tensors):
            self._differs = True
            raise DifferentCallbacks
        reply = recorded.reply
        if isinstance(reply, CallbackReturned):
            reply = CallbackReturned(value=self._translated(reply.value))
        return reply, recorded.returned.decoded()

    def _translated_call(self, request: Call) -> Call:
        """The call with the ids of the reference's objects; modules of other tests are left out."""
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
                handle = msgspec.convert(part, FromSandbox)
                self._ids[handle.object_id] = local.object_id
                if isinstance(handle, ModuleHandle):
                    self._take_parameters(handle, tensors, self._server.object(local.object_id))
            case dict(), dict():
                for key in student:
                    self._adopt(student[key], tensors, reference[key])
            case list(), list():
                for student_part, reference_part in zip(student, reference, strict=True):
                    self._adopt(student_part, tensors, reference_part)

    def _take_parameters(self, handle: ModuleHandle, tensors: list[torch.Tensor], module: torch.nn.Module) -> None:
        parameters = dict(module.named_parameters(remove_duplicate=False))
        for described in handle.parameters:
            parameter = parameters[described.path]
            parameter.data = tensors[described.tensor].to(parameter.dtype).clone()
            self._ids[described.object_id] = self._server.object_id(parameter)


def _same_callback(recorded: RecordedCallback, question: Callback, tensors: list[torch.Tensor]) -> bool:
    if recorded.question.function != question.function:
        return False
    return _alike(recorded.question.call, recorded.arguments.decoded().tensors, _plain(question.call), tensors)


def adopted(call: RecordedCall) -> bytes:
    """Return as bytes what `adopt` takes from a reply: the ids of objects, and modules with their parameters."""
    if not isinstance(call.reply, Returned):
        return b""
    handles = [msgspec.convert(part["handle"], FromSandbox) for part in _parts(call.reply.value) if _is_handle(part)]
    modules = [handle for handle in handles if isinstance(handle, ModuleHandle)]
    ids = [(handle.object_id, handle.parameters if isinstance(handle, ModuleHandle) else None) for handle in handles]
    return repr(ids).encode() + (call.returned.data if any(module.parameters for module in modules) else b"")


def is_alike(call: RecordedCall, answer: Answer) -> bool:
    """Return whether the reference answered a call as the student's code did.

    Args:
        call: the call, with the reply of the student's code.
        answer: the reference's reply and its tensors.
    """
    reply, tensors = answer
    match call.reply, reply:
        case Raised() as student, Raised() as reference:
            return _same_error(student.error, reference.error)
        case Returned() as student, Returned() as reference:
            return _alike(student.value, call.returned.decoded().tensors, _plain(reference.value), tensors)
    return False


def is_telling(call: RecordedCall) -> bool:
    """Return whether a reply holds something to compare, besides the fact that an object came back."""
    return isinstance(call.reply, Raised) or any(
        part is not None and not _is_handle(part) for part in _parts(call.reply.value)
    )


def _plain(tree: Tree) -> Tree:
    """A tree of the reference in the form that it would have after crossing."""
    return msgspec.to_builtins(tree)


def _is_handle(part: Any) -> bool:
    return isinstance(part, dict) and "handle" in part


def _parts(tree: Tree) -> Iterator[Any]:
    """Yield the handles in a tree, and its plain values."""
    match tree:
        case {"handle": _}:
            yield tree
        case dict():
            yield from _parts(list(tree.values()))
        case list():
            for part in tree:
                yield from _parts(part)
        case _:
            yield tree


def _alike(left: Tree, left_tensors: list[torch.Tensor], right: Tree, right_tensors: list[torch.Tensor]) -> bool:
    match left, right:
        case {"tensor": i}, {"tensor": j}:
            x, y = left_tensors[i], right_tensors[j]
            return x.shape == y.shape and torch.allclose(x.double(), y.double(), RELATIVE, ABSOLUTE, equal_nan=True)
        case {"handle": dict(i)}, {"handle": dict(j)}:
            return _shapes(i, left_tensors) == _shapes(j, right_tensors)
        case dict(), dict():
            return left.keys() == right.keys() and all(
                _alike(left[key], left_tensors, right[key], right_tensors) for key in left
            )
        case list(), list():
            return len(left) == len(right) and all(
                _alike(x, left_tensors, y, right_tensors) for x, y in zip(left, right, strict=True)
            )
        case float(), float():
            return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return left == right


def _shapes(part: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
    """The shapes of a module's parameters by name; for another object, whether it can be called."""
    handle = msgspec.convert(part, FromSandbox)
    if isinstance(handle, ModuleHandle):
        return {parameter.path: tensors[parameter.tensor].shape for parameter in handle.parameters}
    return handle.is_callable


def _same_error(student: ErrorInfo, reference: ErrorInfo) -> bool:
    """Whether both raised the same error. Messages are compared only for errors raised by Python or torch."""
    if student.kind != reference.kind:
        return False
    return _is_on_purpose(student) and _is_on_purpose(reference) or student.message == reference.message


def _is_on_purpose(error: ErrorInfo) -> bool:
    """Whether an error comes from a raise or assert statement in a cell."""
    return bool(error.frames) and error.frames[-1].text.startswith(("raise", "assert"))
