"""Computes the fingerprint of an exercise's behaviour from the recorded messages of its tests.

    replies --> digest of exact values, digest of drawn numbers, two floats for each reply with real numbers

The rules are those of `comparison`, but for the replies of two students: no reference could take over the parameters of
both. If they drew different parameters or used more random numbers, their numbers differ for that reason alone.
"""

import hashlib
import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec
import numpy

from grader.engine.diagnosis.comparison import no_handles
from grader.engine.diagnosis.recording import Exchanges, RecordedCall, recorded_sessions
from grader.engine.report import Fingerprint
from grader.engine.rpc.message import Tree
from grader.engine.rpc.objects.handles import ABOUT_NAMES, ModuleHandle
from grader.engine.rpc.protocol import Call, Gradients, Raised, Returned
from grader.engine.rpc.values.tensors import numbers
from grader.engine.rpc.values.trees import unpack
from grader.engine.sandbox.server import NO_EFFECTS
from grader.engine.torch_if_used import torch

DIGITS = 7
"""Significant digits of a stored number: more than a comparison of two students needs."""


def fingerprint(exchanges: Exchanges) -> Fingerprint | None:
    """Return the fingerprint of the behaviour in recorded messages.

    Returns:
        None if they hold nothing readable, or if no test came to call the code: it does not run, and behaves in no way.
    """
    try:
        calls = list(chain.from_iterable(recorded_sessions(exchanges)))
        if all(map(_is_about_names, calls)):
            return None
        builder = _FingerprintBuilder()
        for call in calls:
            builder.add(call)
        return builder.fingerprint()
    except Exception:
        return None  # the sandbox may have sent anything


def _is_about_names(call: RecordedCall) -> bool:
    """Return whether a call only looks names up or lists them."""
    match call.request:
        case Call(call={"tuple": [{"handle": {"verb": verb}}, *_]}):
            return verb in ABOUT_NAMES
    return False


class _FingerprintBuilder:
    """The fingerprint so far, and the tensors of the reply that is being read."""

    def __init__(self) -> None:
        self._structure, self._drawn = hashlib.sha256(), hashlib.sha256()
        self._has_drawn = False
        self._numbers: list[float] = []
        self._tensors: list[torch.Tensor] = []
        self._reals: list[numpy.ndarray] = []

    def fingerprint(self) -> Fingerprint:
        drawn = self._drawn.hexdigest()[:16] if self._has_drawn else ""
        return Fingerprint(self._structure.hexdigest()[:16], drawn, tuple(self._numbers))

    def add(self, call: RecordedCall) -> None:
        """Add a call."""
        self._tensors, self._reals = call.returned.decoded().tensors, []
        self._note(type(call.request).__name__, type(call.reply).__name__)
        match call.reply:
            case Raised() as reply:
                # Its message may depend on more: the student's own names, or another exercise's shapes.
                self._note(reply.error.kind)
            case Gradients() as reply:
                # Layers may be created in any order.
                self._unordered(place for place in reply.tensors if place is not None)
                self._note(len(reply.tensors), reply.tensors.count(None))
            case Returned() as reply:
                self._tree(reply.value)
                self._note(reply.differentiable, *reply.printed)
                self._effects(reply)
        self._add_numbers()

    def _note(self, *parts: Any) -> None:
        self._structure.update(repr(parts).encode())

    def _tree(self, tree: Tree) -> None:
        match tree:
            case {"tensor": int(place)}:
                self._tensor(place)
            case {"array": [int(place), *kind]}:
                self._note("array", *kind)
                self._tensor(place)
            case {"numpy": [str(dtype), str()]} if dtype.startswith(("float", "complex")):
                number = unpack(tree, [], no_handles)
                self._note(dtype)
                self._reals.append(numpy.array([number.real, number.imag], numpy.float64))
            case {"handle": dict(handle)}:
                self._handle(handle)
            case dict():
                self._note("{", *tree)
                for part in tree.values():
                    self._tree(part)
            case list():
                self._note("[", len(tree))
                for part in tree:
                    self._tree(part)
            case float():
                self._reals.append(numpy.array([tree]))
            case _:
                self._note(type(tree).__name__, tree)

    def _tensor(self, place: int) -> None:
        tensor = self._tensors[place]
        self._note(tuple(tensor.shape), str(tensor.dtype))
        array = numbers(tensor)
        if array.dtype.kind == "f":
            self._reals.append(array.astype(numpy.float64).flatten())
        elif array.dtype.kind == "c":
            self._reals.append(numpy.stack((array.real, array.imag), -1).astype(numpy.float64).flatten())
        else:
            self._note(array.tolist())

    def _unordered(self, places: Iterable[int]) -> None:
        """Add tensors sorted by content: by their shapes, and then by their sizes."""
        tensors = [self._tensors[place] for place in places]
        self._note(sorted((tuple(tensor.shape), str(tensor.dtype)) for tensor in tensors))
        sizes = sorted(_rms(numbers(tensor).astype(numpy.float64)) for tensor in tensors if tensor.is_floating_point())
        self._reals.append(numpy.array(sizes))

    def _handle(self, handle: dict[str, Any]) -> None:
        if handle.get("type") != ModuleHandle.__name__:
            self._note("object", handle.get("is_callable", False))
            return
        module = msgspec.convert(handle, ModuleHandle)
        for parameter in sorted(module.parameters, key=lambda each: each.path):
            tensor = self._tensors[parameter.tensor]
            self._note(parameter.path, tuple(tensor.shape), str(tensor.dtype))
            self._draw(tensor)

    def _draw(self, tensor: torch.Tensor) -> None:
        """Add a parameter, or the random state after a call, on which later numbers may depend."""
        self._drawn.update(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes())
        self._has_drawn = True

    def _effects(self, reply: Returned) -> None:
        effects = reply.effects or NO_EFFECTS
        if effects.random is not None:
            self._draw(self._tensors[effects.random])
        for number, place in effects.written:
            self._note("written", number)
            self._tensor(place)
        self._note("gradients", [(number, place is None) for number, place in effects.gradients])
        self._unordered(place for _, place in effects.gradients if place is not None)
        for number, tree in effects.containers:
            self._note("container", number)
            self._tree(tree)
        for _, changes in effects.modules:
            self._note(sorted(changes.training), [path for path, *_ in sorted(changes.values)])
            for _, place, _ in sorted(changes.values):
                self._tensor(place)
            self._unordered(place for _, place in changes.gradients if place is not None)

    def _add_numbers(self) -> None:
        """Add the two floats of a reply. Values that are not finite count exactly."""
        reals = numpy.concatenate(self._reals) if self._reals else numpy.empty(0)
        if not len(reals):
            return
        finite = numpy.isfinite(reals)
        if not finite.all():
            self._note([str(each) for each in reals[~finite].tolist()], (~finite).nonzero()[0].tolist())
            reals = reals[finite]
        if len(reals):
            # Any fixed direction will do that is not orthogonal to a wrong answer.
            direction = numpy.cos(numpy.arange(len(reals), dtype=numpy.float64) ** 2 + 1.0)
            self._numbers += _digits([_rms(reals), float(reals @ direction) / math.sqrt(len(reals))])


def _rms(values: numpy.ndarray) -> float:
    with numpy.errstate(over="ignore"):
        return float(numpy.sqrt(numpy.mean(numpy.square(values)))) if values.size else 0.0


def _digits(values: list[float]) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
