"""Names the mistake: which known misconception behaves exactly as the student's code did?

    calls of the tests and their answers --replayed on--> our reference with one mistake made --the same?--> its name

The calls were recorded at the wire. Nothing of the student's runs here: what answers is our own mutated reference, with
the student's parameters. Right answers are never replayed, and what is said was written for students beforehand.
"""

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from course.errors import CourseError
from course.grading.cells import execute
from course.grading.service import Service
from course.grading.suspects import Suspects
from course.grading.tensors import Blob
from course.misconceptions import Misconception

MAX_EXCHANGES = 40
"""Calls of one test that are kept: enough to tell mistakes apart, few enough for a test that trains."""
MAX_BYTES = 32 * 2**20
"""What all calls that are kept may hold in tensors: a candidate may answer with as much as can cross."""
MAX_SECONDS = 2.0
"""What finding a name may take in one notebook; after that nobody is told one."""
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5, "equal_nan": True}


@dataclass(frozen=True)
class Exchange:
    """One call and what came back, as they crossed."""

    request: dict[str, Any]
    sent: Blob
    answer: dict[str, Any]
    got: Blob


class Recorder:
    """Keeps the first calls of the tests of each exercise, while they run."""

    def __init__(self) -> None:
        self.exchanges: dict[str, list[Exchange]] = {}
        self._exercise = ""
        self._left = 0
        self._room = MAX_BYTES
        self._strangers: set[int] = set()

    def forget(self, exercises: set[str]) -> None:
        """What follows comes from another candidate; of these exercises only that counts."""
        self._strangers = set()
        for exercise in exercises:
            self.exchanges.pop(exercise, None)

    def begin(self, exercise: str) -> None:
        """A test of `exercise` begins."""
        self._exercise, self._left = exercise, MAX_EXCHANGES

    def __call__(self, request: dict[str, Any], sent: Blob, answer: dict[str, Any], got: Blob) -> None:
        if request["ask"] != "call" or self._strangers and _mentions(request["call"], self._strangers):
            return
        self._room -= len(sent.data) + len(got.data)
        if self._left == 0 or self._room < 0:
            # What becomes of these modules from here on is not kept, so nothing can be said of them any more.
            self._strangers.update(request["modules"])
        else:
            self._left -= 1
            self.exchanges.setdefault(self._exercise, []).append(Exchange(request, sent, answer, got))


def _mentions(tree: Any, numbers: set[int]) -> bool:
    """Whether one of the objects `numbers` stands in the tree of a call."""
    match tree:
        case {"says": {"remote": int(number)}} if number in numbers:
            return True
        case dict():
            return any(_mentions(part, numbers) for part in tree.values())
        case list():
            return any(_mentions(part, numbers) for part in tree)
    return False


class Diagnosis:
    """Compares recorded calls with known mistakes, for at most MAX_SECONDS."""

    def __init__(self, known: Suspects) -> None:
        self._known = known
        self._end = time.monotonic() + MAX_SECONDS
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        for name, source in known.cells:
            # A helper of ours that wants what only a student's notebook has is not needed to compare answers.
            with suppress(Exception):
                execute(source, name, self._namespace)

    def find(self, exercise: str, exchanges: list[Exchange]) -> Misconception | None:
        """The mistake of `exercise` that answers every recorded call as the student's code did, or None."""
        reference = dict(self._known.cells).get(exercise)
        if reference is None or self._answers_alike(exercise, reference, exchanges):
            return None
        for mistake in self._known.mistakes:
            if time.monotonic() > self._end:
                return None
            # An edit that does not fit the reference any more names nobody.
            with suppress(CourseError):
                if mistake.exercise == exercise and self._answers_alike(
                    exercise, mistake.applied_to(reference), exchanges
                ):
                    return mistake
        return None

    def _answers_alike(self, exercise: str, answer: str, exchanges: list[Exchange]) -> bool:
        namespace = dict(self._namespace)
        try:
            execute(answer, exercise, namespace)
            replay = _Replay(namespace)
            return all(replay.agrees(exchange) for exchange in exchanges) and replay.compared > 0
        except Exception:
            # A call that the mutated reference cannot even be asked is one that it does not answer alike.
            return False


class _Replay:
    """One candidate's calls on another service; `numbers` translates the names of objects."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._service = Service(SimpleNamespace(namespace=namespace), _no_callback)
        self._numbers: dict[int, int] = {}
        self.compared = 0

    def agrees(self, exchange: Exchange) -> bool:
        request = {key: self._translated(part) for key, part in exchange.request.items() if key != "forget"}
        request["modules"] = [self._numbers[number] for number in request["modules"] if number in self._numbers]
        answer, tensors = self._service.answer(request, exchange.sent.unpacked())
        if "raised" in exchange.answer or "raised" in answer:
            kinds = [said.get("raised", {}).get("kind") for said in (exchange.answer, answer)]
            self.compared += 1
            return kinds[0] == kinds[1]
        return self._alike(exchange.answer["done"], exchange.got.unpacked().tensors, answer["done"], tensors)

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

    def _alike(self, theirs: Any, got: list[torch.Tensor], ours: Any, tensors: list[torch.Tensor]) -> bool:
        match theirs, ours:
            case {"tensor": one}, {"tensor": other}:
                self.compared += 1
                return got[one].shape == tensors[other].shape and torch.allclose(
                    got[one].double(), tensors[other].double(), **TOLERANCE
                )
            case {"says": dict(one)}, {"says": dict(other)}:
                return self._same_object(one, got, other)
            case dict(), dict():
                return theirs.keys() == ours.keys() and all(
                    self._alike(theirs[k], got, ours[k], tensors) for k in theirs
                )
            case list(), list():
                pairs = zip(theirs, ours, strict=False)
                return len(theirs) == len(ours) and all(self._alike(one, got, other, tensors) for one, other in pairs)
            case float(), float():
                self.compared += 1
                return math.isclose(theirs, ours, rel_tol=1e-4, abs_tol=1e-5) or theirs != theirs and ours != ours
        self.compared += theirs is not None
        return theirs == ours

    def _same_object(self, theirs: dict[str, Any], got: list[torch.Tensor], ours: dict[str, Any]) -> bool:
        """Two objects that stand for one another. A module of ours takes over the numbers of the student's."""
        self._numbers[theirs["remote"]] = ours["remote"]
        if theirs.get("kind") != "module":
            return theirs.get("kind") == ours.get("kind")
        module = self._service._objects[ours["remote"]]
        mine = dict(module.named_parameters(remove_duplicate=False))
        values = {part["tuple"][0]: part["tuple"] for part in theirs["parameters"]}
        if mine.keys() != values.keys():
            return False
        for name, (_, number, _, value) in values.items():
            if mine[name].shape != got[value["tensor"]].shape:
                return False
            mine[name].data = got[value["tensor"]].to(mine[name].dtype).clone()
            self._numbers[number] = self._service._number(mine[name])
        return True


def _no_callback(*_: Any) -> Any:
    raise RuntimeError("a test's own functions are not there any more")
