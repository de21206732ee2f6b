"""Names the mistake: which known misconception behaves exactly as the student's code did?

    calls of the tests and their answers --replayed on--> our reference with one mistake made --the same?--> its name

The calls were recorded at the wire. Nothing of the student's runs here: what answers is our own mutated reference, with
the student's parameters. Right answers are never replayed, and what is said was written for students beforehand.
"""

import hashlib
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from types import SimpleNamespace
from typing import Any

import torch

from course.errors import CourseError
from course.grading.cells import execute
from course.grading.conversation import Memory
from course.grading.messages import NOT_WRITTEN
from course.grading.plan import Step
from course.grading.recorder import Exchanges
from course.grading.report import Result, Verdict
from course.grading.service import Service
from course.grading.suspects import Suspects
from course.grading.tensors import Blob
from course.grading.wire import opened
from course.misconceptions import Misconception

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


def _calls(exchanges: Exchanges) -> list[Exchange]:
    """The calls among the messages, each with its answer; what the code calls back in between is left out."""
    found = []
    for said, heard in exchanges:
        tree, blob = opened(said)
        if "ask" in tree:
            request, sent = tree, blob
        answer, got = opened(heard)
        if "back" not in answer and request["ask"] == "call":
            found.append(Exchange(request, sent, answer, got))
    return found


def name_mistakes(
    steps: list[Step], results: dict[int, Result], known: Suspects, exchanges: dict[str, Exchanges], memory: Memory
) -> None:
    """Tells a student whose exercise failed which known mistake behaves exactly like it.

    `exchanges` are the tests' by exercise. Who answers as somebody before makes the same mistake.
    """
    failed: dict[str, Result] = {}
    for step in steps:
        result = results.get(step.index)
        if result is not None and result.verdict in (Verdict.FAILED, Verdict.ERROR):
            failed.setdefault(step.exercise, result)
    diagnosis = None
    for exercise, result in failed.items():
        if result.message == NOT_WRITTEN:
            continue
        said = exchanges.get(exercise, [])
        digest = _digest(known, exercise, said)
        if digest in memory.names:
            mistake = memory.names[digest]
        else:
            diagnosis = diagnosis or Diagnosis(known)
            mistake = diagnosis.find(exercise, said)
            if not diagnosis.is_out_of_time():
                memory.name(digest, mistake)
        if mistake is not None:
            result.message += f" Your code behaves exactly like one that {mistake.name}. {mistake.say}"


def _digest(known: Suspects, exercise: str, exchanges: Exchanges) -> bytes:
    """What names all that a diagnosis depends on."""
    mistakes = [mistake for mistake in known.mistakes if mistake.exercise == exercise]
    digest = hashlib.sha256(repr((known.cells, mistakes, exercise)).encode())
    for message in chain.from_iterable(exchanges):
        # Each begins with its length.
        digest.update(message)
    return digest.digest()


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

    def is_out_of_time(self) -> bool:
        """Whether it gave up."""
        return time.monotonic() > self._end

    def find(self, exercise: str, exchanges: Exchanges) -> Misconception | None:
        """The mistake of `exercise` that answers every recorded call as the student's code did, or None."""
        try:
            calls = _calls(exchanges)
        except Exception:
            return None  # the candidate answers what it likes
        return self._find(exercise, calls)

    def _find(self, exercise: str, exchanges: list[Exchange]) -> Misconception | None:
        reference = dict(self._known.cells).get(exercise)
        if reference is None:
            return None
        alike = self._answered_alike(exercise, reference, exchanges)
        if alike == len(exchanges):
            return None
        # The conversation that told the student's code from the reference tells most mistakes from it too.
        exchanges = _conversation_of(exchanges, alike) + exchanges
        for mistake in self._known.mistakes:
            if self.is_out_of_time():
                return None
            # An edit that does not fit the reference any more names nobody.
            with suppress(CourseError):
                if mistake.exercise == exercise and self._answered_alike(
                    exercise, mistake.applied_to(reference), exchanges
                ) == len(exchanges):
                    return mistake
        return None

    def _answered_alike(self, exercise: str, answer: str, exchanges: list[Exchange]) -> int:
        """How many of the calls `answer` answers as they were answered, up to the first that it does not."""
        namespace, alike = dict(self._namespace), 0
        # A call that the mutated reference cannot even be asked is one that it does not answer alike.
        with suppress(Exception):
            execute(answer, exercise, namespace)
            replay = _Replay(namespace)
            while alike < len(exchanges) and replay.agrees(exchanges[alike]):
                alike += 1
            if not replay.compared:
                return 0
        return alike


def _conversation_of(exchanges: list[Exchange], number: int) -> list[Exchange]:
    """The calls of the conversation that this one is part of, up to it; none where others share its objects."""
    if exchanges[number].request["talk"]:
        return []
    begin = next((before for before in range(number, -1, -1) if exchanges[before].request["new"]), 0)
    return exchanges[begin : number + 1]


class _Replay:
    """One candidate's calls on another service; `numbers` translates the names of objects."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._service = Service(SimpleNamespace(namespace=namespace), _no_callback)
        self._talks: dict[int, dict[int, int]] = {}
        self.compared = 0

    def agrees(self, exchange: Exchange) -> bool:
        if exchange.request["new"]:
            self._talks[exchange.request["talk"]] = {}
        self._numbers = self._talks[exchange.request["talk"]]
        request = {key: self._translated(part) for key, part in exchange.request.items() if key != "forget"}
        request["modules"] = [self._numbers[number] for number in request["modules"] if number in self._numbers]
        answer, tensors = self._service.answer(request, exchange.sent.unpacked())
        if "raised" in exchange.answer or "raised" in answer:
            self.compared += 1
            return _same_error(exchange.answer.get("raised"), answer.get("raised"))
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
        module = self._service.known(ours["remote"])
        mine = dict(module.named_parameters(remove_duplicate=False))
        values = {part["tuple"][0]: part["tuple"] for part in theirs["parameters"]}
        if mine.keys() != values.keys():
            return False
        for name, (_, number, _, value) in values.items():
            if mine[name].shape != got[value["tensor"]].shape:
                return False
            mine[name].data = got[value["tensor"]].to(mine[name].dtype).clone()
            self._numbers[number] = self._service.number(mine[name])
        return True


def _same_error(theirs: dict[str, Any] | None, ours: dict[str, Any] | None) -> bool:
    """Whether both raised the same: who raises an error on purpose words it as they like, Python and torch do not."""
    if theirs is None or ours is None or theirs["kind"] != ours["kind"]:
        return False
    return _is_on_purpose(theirs) and _is_on_purpose(ours) or theirs["message"] == ours["message"]


def _is_on_purpose(said: dict[str, Any]) -> bool:
    """Whether an error comes from a line of a cell that is there to raise one."""
    return bool(said["frames"]) and said["frames"][-1][2].startswith(("raise", "assert"))


def _no_callback(*_: Any) -> Any:
    raise RuntimeError("a test's own functions are not there any more")
