"""Compares the reference's answer to a call with the reply of the student's code.

    reply of the student's code, answer of the reference --> values, gradients, writes, errors --> alike, or not

Free choices of a student are ignored at first: the initialisation of parameters, the order of layers, and measured
numbers. If nothing else differs, one of them may be the mistake, so `exactly` compares them, too.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy

from grader.engine.diagnosis.recording import RecordedCall
from grader.engine.rpc.message import ProtocolError, Tree
from grader.engine.rpc.objects.handles import (
    FROM_SANDBOX_BY_NAME,
    FromSandbox,
    Handle,
    ModuleHandle,
    ObjectHandle,
    handle_from,
)
from grader.engine.rpc.protocol import Effects, ErrorInfo, Gradients, ModuleChanges, Raised, Returned
from grader.engine.rpc.values.tensors import numbers
from grader.engine.rpc.values.trees import unpack
from grader.engine.sandbox.server import NO_EFFECTS, Answer
from grader.engine.torch_if_used import torch

RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Tolerances within which numbers are equal."""

Tensors = list[torch.Tensor]


def is_alike(call: RecordedCall, answer: Answer, *, exactly: bool = False) -> bool:
    """Return whether the reference answered a call as the student's code did.

    Args:
        call: the call, with the reply of the student's code.
        answer: the reference's reply and its tensors.
        exactly: whether to compare drawn numbers, the random state, the structure of modules and measures, too.
    """
    return _is_same((call.reply, call.returned.decoded().tensors), answer, exactly)


def is_same(left: Answer, right: Answer, *, exactly: bool = False) -> bool:
    """Return whether two references answered a call alike; `exactly` as above."""
    return _is_same(left, right, exactly)


def draws(reply: Returned | Gradients | Raised | FromSandbox) -> bool:
    """Return whether code has drawn random numbers in a call."""
    return isinstance(reply, Returned) and (reply.effects or NO_EFFECTS).random is not None


def _is_same(left: tuple[Any, Tensors], right: tuple[Any, Tensors], exactly: bool) -> bool:
    comparison = _ReplyComparison(left[1], right[1], exactly)
    match left[0], right[0]:
        case Raised() as one, Raised() as other:
            return _same_error(one.error, other.error)
        case Returned() as one, Returned() as other:
            return comparison.same_return(one, other)
        case Gradients() as one, Gradients() as other:
            return comparison.same_gradients(one, other)
    return False


def is_informative(call: RecordedCall) -> bool:
    """Return whether a reply holds a value to compare, and not only a handle of an object."""
    return not isinstance(call.reply, Returned) or any(
        part is not None and not _is_handle(part) for part in _parts(call.reply.value)
    )


def same_values(left: Tree, left_tensors: Tensors, right: Tree, right_tensors: Tensors) -> bool:
    """Return whether two values are alike.

    Args:
        left: the value that crossed between the processes.
        left_tensors: its tensors.
        right: the same in the process of the reference.
        right_tensors: its tensors.
    """
    return _ReplyComparison(left_tensors, right_tensors).same(left, msgspec.to_builtins(right))


def handles(tree: Tree) -> list[FromSandbox]:
    """Return the handles of a value."""
    return [handle_from(part["handle"], FROM_SANDBOX_BY_NAME) for part in _parts(tree) if _is_handle(part)]


class _ReplyComparison:
    """The tensors of a student's reply and of the reference's reply to the same call."""

    def __init__(self, left: Tensors, right: Tensors, exactly: bool = False) -> None:
        self._left, self._right, self._exactly = left, right, exactly

    def same_return(self, left: Returned, right: Returned) -> bool:
        """Return whether both calls had the same value and the same effects."""
        return (
            self.same(msgspec.to_builtins(left.value), msgspec.to_builtins(right.value))
            and left.differentiable == right.differentiable
            and left.printed == right.printed
            and (not self._exactly or left.measured == right.measured)
            and self._same_effects(left.effects or NO_EFFECTS, right.effects or NO_EFFECTS)
        )

    def same_gradients(self, left: Gradients, right: Gradients) -> bool:
        """Return whether the gradients are equal, in any order of the layers."""
        if len(left.tensors) != len(right.tensors) or left.tensors.count(None) != right.tensors.count(None):
            return False
        rest = [place for place in right.tensors if place is not None]
        for place in left.tensors:
            if place is not None:
                like = next((other for other in rest if self._same_tensor(place, other)), None)
                if like is None:
                    return False
                rest.remove(like)
        return True

    def same(self, left: Tree, right: Tree) -> bool:
        """Return whether two trees are equal, in containers and numbers of the same types."""
        match left, right:
            case {"given": [_, _, content]}, _:
                return self.same(content, right)
            case _, {"given": [_, _, content]}:
                return self.same(left, content)
            case {"tensor": i}, {"tensor": j}:
                return self._same_tensor(i, j)
            case {"array": [i, *kind]}, {"array": [j, *other]}:
                return kind == other and self._same_tensor(i, j)
            case {"numpy": [str(dtype), _]}, {"numpy": [other, _]}:
                numbers = unpack(left, [], no_handles), unpack(right, [], no_handles)
                return dtype == other and (numbers[0] == numbers[1] or _is_close(*numbers))
            case {"handle": dict(i)}, {"handle": dict(j)}:
                return self._same_handle(handle_from(i, FROM_SANDBOX_BY_NAME), handle_from(j, FROM_SANDBOX_BY_NAME))
            case dict(), dict():
                return left.keys() == right.keys() and all(self.same(left[key], right[key]) for key in left)
            case list(), list():
                return len(left) == len(right) and all(map(self.same, left, right))
            case float(), float():
                return _is_close(left, right)
        return type(left) is type(right) and left == right

    def _same_tensor(self, i: int, j: int) -> bool:
        x, y = self._left[i], self._right[j]
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        one, other = numbers(x), numbers(y)
        if numpy.array_equal(one, other):
            return True
        wide = numpy.complex128 if one.dtype.kind == "c" else numpy.float64
        with numpy.errstate(all="ignore"):
            return numpy.allclose(one.astype(wide), other.astype(wide), RELATIVE, ABSOLUTE, equal_nan=True)

    def _same_handle(self, left: FromSandbox, right: FromSandbox) -> bool:
        if isinstance(left, ObjectHandle) and isinstance(right, ObjectHandle):
            return left.is_callable == right.is_callable
        if not isinstance(left, ModuleHandle) or not isinstance(right, ModuleHandle):
            return False
        paths = {part.path: part for part in left.parameters}, {part.path: part for part in right.parameters}
        if paths[0].keys() != paths[1].keys():
            return False
        if not self._exactly:
            return all(
                self._left[part.tensor].shape == self._right[paths[1][name].tensor].shape
                for name, part in paths[0].items()
            )
        return _make(left) == _make(right) and all(
            self._same_tensor(one.tensor, other.tensor)
            for kind in ("parameters", "buffers")
            for one, other in zip(_by_path(left, kind), _by_path(right, kind), strict=True)
        )

    def _same_effects(self, left: Effects, right: Effects) -> bool:
        """Return whether both calls wrote the same into their arguments and into modules."""
        return (
            self._same_places(left.written, right.written)
            and self._same_places(left.gradients, right.gradients)
            and self.same(msgspec.to_builtins(left.containers), msgspec.to_builtins(right.containers))
            and len(left.modules) == len(right.modules)
            and all(map(self._same_changes, (each for _, each in left.modules), (each for _, each in right.modules)))
            and (not self._exactly or self._same_places([("", left.random)], [("", right.random)]))
        )

    def _same_changes(self, left: ModuleChanges, right: ModuleChanges) -> bool:
        return (
            self._same_places(sorted(each[:2] for each in left.values), sorted(each[:2] for each in right.values))
            and self._same_places(sorted(left.gradients), sorted(right.gradients))
            and sorted(left.training) == sorted(right.training)
        )

    def _same_places(self, left: Sequence[tuple], right: Sequence[tuple]) -> bool:
        """Return whether both have the same names with equal tensors."""
        return [name for name, _ in left] == [name for name, _ in right] and all(
            i is j if i is None or j is None else self._same_tensor(i, j)
            for (_, i), (_, j) in zip(left, right, strict=True)
        )


def no_handles(handle: Handle, tensors: Tensors) -> Any:
    """Refuse a handle where a number is expected."""
    raise ProtocolError(f"a number must not be a {type(handle).__name__}")


def _is_close(left: Any, right: Any) -> bool:
    """Return whether two numbers of the same type are equal within the tolerances; dates and integers are not close."""
    if isinstance(left, complex | numpy.complexfloating):
        return _is_close(left.real, right.real) and _is_close(left.imag, right.imag)
    if not isinstance(left, float | numpy.floating):
        return False
    both_nan = math.isnan(left) and math.isnan(right)
    return both_nan or math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _make(module: ModuleHandle) -> Any:
    """Return the structure of a module: its base, its buffers, its trainable and its shared parameters."""
    first: dict[int, str] = {}
    for parameter in _by_path(module, "parameters"):
        first.setdefault(parameter.object_id, parameter.path)
    learning = [(each.path, each.requires_grad, first[each.object_id]) for each in _by_path(module, "parameters")]
    buffers = [(each.path, each.is_persistent) for each in _by_path(module, "buffers")]
    return module.parts[0].base, learning, buffers


def _by_path(module: ModuleHandle, kind: str) -> list[Any]:
    return sorted(getattr(module, kind), key=lambda each: each.path)


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


def _same_error(student: ErrorInfo, reference: ErrorInfo) -> bool:
    """Return whether both errors are equal; messages are compared only for errors raised by Python or torch."""
    if student.kind != reference.kind:
        return False
    return _is_on_purpose(student) and _is_on_purpose(reference) or student.message == reference.message


def _is_on_purpose(error: ErrorInfo) -> bool:
    """Return whether an error comes from a raise or assert statement in a cell."""
    return bool(error.frames) and error.frames[-1].text.startswith(("raise", "assert"))
