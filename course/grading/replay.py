"""Recorded calls, made again on code of ours in the place of a student's.

    call --> Replay: our code, with the student's parameters --> alike, or not

They were recorded at the wire. Nothing of the student's runs here. Where the student's code asked a function of the
test, ours must ask the same, and is told the same.
"""

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch

from course.grading.calls import Back, Exchange
from course.grading.service import Answer, Service
from course.grading.tensors import Packed

TOLERANCE = {"rtol": 1e-4, "atol": 1e-5, "equal_nan": True}


class OtherQuestions(Exception):
    """Our code asks the test's functions something else than the student's code did, or not as often."""


class Replay:
    """One conversation on a service of ours; `numbers` translates the names of objects."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._service = Service(SimpleNamespace(namespace=namespace), self._told)
        self._numbers: dict[int, int] = {}
        self._backs: list[Back] = []
        self._asks_otherwise = False

    def answer(self, exchange: Exchange) -> Answer:
        """What our code answers to the call.

        Raises what asking leads to where it cannot even be asked, and OtherQuestions where it does not ask the test's
        functions what the student's code asked them.
        """
        self._backs, self._asks_otherwise = list(exchange.backs), False
        request = {key: self._translated(part) for key, part in exchange.request.items() if key != "forget"}
        request["modules"] = [self._numbers[number] for number in request["modules"] if number in self._numbers]
        answer, tensors = self._service.answer(request, exchange.sent.unpacked())
        if self._backs or self._asks_otherwise:
            raise OtherQuestions
        return answer, [tensor.detach().clone() for tensor in tensors]

    def adopt(self, exchange: Exchange, answer: Answer) -> None:
        """From now on our objects stand for the student's, and our modules have the student's parameters."""
        if "done" in exchange.answer:
            self._adopt(exchange.answer["done"], exchange.got.unpacked().tensors, answer[0]["done"])

    def _told(self, question: dict[str, Any], tensors: list[torch.Tensor]) -> tuple[dict[str, Any], Packed]:
        """What the test's function told the student's code, if ours asks the same."""
        back = self._backs.pop(0) if self._backs else None
        if back is None or not _alike(back.question, back.given.unpacked().tensors, question, tensors):
            self._asks_otherwise = True
            raise OtherQuestions
        return self._translated(back.told), back.returned.unpacked()

    def _translated(self, tree: Any) -> Any:
        match tree:
            case {"says": {"remote": int(number), **rest}}:
                return {"says": {"remote": self._numbers[number], **{k: self._translated(v) for k, v in rest.items()}}}
            case {"dict": [[int(), {"dict": _}], *_] as states}:
                # The state of modules, by their number; those of other tests are nobody's business here.
                known = [[self._numbers[n], self._translated(state)] for n, state in states if n in self._numbers]
                return {"dict": known}
            case dict():
                return {key: self._translated(part) for key, part in tree.items()}
            case list():
                return [self._translated(part) for part in tree]
        return tree

    def _adopt(self, theirs: Any, got: list[torch.Tensor], ours: Any) -> None:
        match theirs, ours:
            case {"says": dict(one)}, {"says": dict(other)}:
                self._numbers[one["remote"]] = other["remote"]
                if one.get("kind") == "module":
                    self._take_parameters(one, got, self._service.known(other["remote"]))
            case dict(), dict():
                for key in theirs:
                    self._adopt(theirs[key], got, ours[key])
            case list(), list():
                for one, other in zip(theirs, ours, strict=True):
                    self._adopt(one, got, other)

    def _take_parameters(self, theirs: dict[str, Any], got: list[torch.Tensor], module: torch.nn.Module) -> None:
        mine = dict(module.named_parameters(remove_duplicate=False))
        for name, number, _, value in (part["tuple"] for part in theirs["parameters"]):
            mine[name].data = got[value["tensor"]].to(mine[name].dtype).clone()
            self._numbers[number] = self._service.number(mine[name])


def adopted(exchange: Exchange) -> bytes:
    """What `adopt` takes from an answer: the numbers of objects, and modules with their parameters."""
    objects = [part["says"] for part in _parts(exchange.answer.get("done")) if isinstance(part, dict)]
    values = exchange.got.data if any(said.get("parameters") for said in objects) else b""
    return repr([(said.get("remote"), said.get("parameters")) for said in objects]).encode() + values


def is_alike(exchange: Exchange, answer: Answer) -> bool:
    """Whether our code answered as the student's did."""
    ours, tensors = answer
    if "raised" in exchange.answer or "raised" in ours:
        return _same_error(exchange.answer.get("raised"), ours.get("raised"))
    return _alike(exchange.answer["done"], exchange.got.unpacked().tensors, ours["done"], tensors)


def is_telling(exchange: Exchange) -> bool:
    """Whether there is something in the answer to compare, besides that an object came back."""
    return "raised" in exchange.answer or any(
        part is not None and not isinstance(part, dict) for part in _parts(exchange.answer["done"])
    )


def _parts(tree: Any) -> Iterator[Any]:
    """The objects in an answer, as they are told of, and its plain values."""
    match tree:
        case {"says": _}:
            yield tree
        case dict():
            yield from _parts(list(tree.values()))
        case list():
            for part in tree:
                yield from _parts(part)
        case _:
            yield tree


def _alike(theirs: Any, got: list[torch.Tensor], ours: Any, tensors: list[torch.Tensor]) -> bool:
    match theirs, ours:
        case {"tensor": one}, {"tensor": other}:
            return got[one].shape == tensors[other].shape and torch.allclose(
                got[one].double(), tensors[other].double(), **TOLERANCE
            )
        case {"says": dict(one)}, {"says": dict(other)}:
            return one.get("kind") == other.get("kind") and _shapes(one, got) == _shapes(other, tensors)
        case dict(), dict():
            return theirs.keys() == ours.keys() and all(_alike(theirs[k], got, ours[k], tensors) for k in theirs)
        case list(), list():
            pairs = zip(theirs, ours, strict=False)
            return len(theirs) == len(ours) and all(_alike(one, got, other, tensors) for one, other in pairs)
        case float(), float():
            return math.isclose(theirs, ours, rel_tol=1e-4, abs_tol=1e-5) or theirs != theirs and ours != ours
    return theirs == ours


def _shapes(module: dict[str, Any], tensors: list[torch.Tensor]) -> dict[str, torch.Size]:
    """The shapes of a module's parameters by name; of an object that is none, nothing."""
    parts = (part["tuple"] for part in module.get("parameters", ()))
    return {name: tensors[value["tensor"]].shape for name, _, _, value in parts}


def _same_error(theirs: dict[str, Any] | None, ours: dict[str, Any] | None) -> bool:
    """Whether both raised the same: who raises an error on purpose words it as they like, Python and torch do not."""
    if theirs is None or ours is None or theirs["kind"] != ours["kind"]:
        return False
    return _is_on_purpose(theirs) and _is_on_purpose(ours) or theirs["message"] == ours["message"]


def _is_on_purpose(said: dict[str, Any]) -> bool:
    """Whether an error comes from a line of a cell that is there to raise one."""
    return bool(said["frames"]) and said["frames"][-1][2].startswith(("raise", "assert"))
