"""Decides what students may hand in, and what they learn of it. Instructors set it in nbgrader_config.py.

c.SubmissionPolicy.attempts = 5
c.SubmissionPolicy.assignments = {"06-vision": {"due": "2026-07-01 18:00 Europe/Berlin", "counts": "best"}}
"""

from codecs import BOM_UTF8
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace
from nbgrader.utils import parse_utc
from traitlets import Dict, Enum, Integer, TraitError, Unicode
from traitlets.config import Config

from grader.commands.shared import with_current_names
from grader.engine.explanation import Explanation
from grader.engine.limits import Settings
from grader.engine.report import PublishedResult, as_json

EVERYTHING, SENTENCES, POINTS = "everything", "points and sentences", "points"
CURRENT_NAMES = {"told": "disclosure"}
"""The current names of settings, by those of earlier versions."""
FREE_ATTEMPTS = 3
MAX_PAUSE = 600
PYTHON_ONLY = {b"NaN": b"0", b"Infinity": b"0", b"\\u": b"\\n"}
"""Tokens that Python's JSON has and JSON has not, with substitutes: two numbers, and half of a surrogate pair."""


@dataclass(eq=False)
class Refusal(Exception):
    """Why a request is refused: an HTTP status, a sentence, and after how many seconds it may be repeated."""

    status: int
    why: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Attempts:
    """How many attempts at a notebook a student has used, and when the last one arrived."""

    used: int = 0
    last: datetime | None = None


class _Object(msgspec.Struct):
    """A JSON object of which no member is kept: a file may have millions."""


_OBJECT = msgspec.json.Decoder(_Object)


class SubmissionPolicy(Settings):
    """The rules for handing in. Times without a zone are in UTC."""

    def __init__(self, config: Config | None = None) -> None:
        """Read the rules from a configuration, which may have them under their earlier name, c.HandIn.

        Raises:
            TraitError: a setting has a wrong value or a misspelt name.
        """
        settings: dict[str, Any] = {}
        for section in ("HandIn", "SubmissionPolicy"):
            settings |= with_current_names((config or Config()).get(section, {}), CURRENT_NAMES)
        super().__init__(config=Config(SubmissionPolicy=settings))
        self.require_known(
            name for rules in self.assignments.values() for name in with_current_names(rules, CURRENT_NAMES)
        )
        for name in ("open", "due"):
            try:
                _time(getattr(self, name))
            except Exception:  # whatever dateutil raises for a text that is not a time
                raise TraitError(
                    f"c.SubmissionPolicy.{name} is a time such as '2026-03-02 10:00:00 UTC', "
                    f"not {getattr(self, name)!r}"
                ) from None

    open = Unicode("", help="From when notebooks are accepted; empty for at once.").tag(config=True)
    due = Unicode(
        "", help="Until when; empty for the due date in the gradebook, which an extension moves."
    ).tag(config=True)  # fmt: skip
    late = Enum(
        ["accept", "refuse"], "accept",
        help="Whether a notebook is accepted after the due time. nbgrader's plugin for late submissions takes its "
        "penalty from it, by the due date in the gradebook."
    ).tag(config=True)  # fmt: skip
    attempts = Integer(0, min=0, help="How many attempts a student has at each notebook; 0 for any number.").tag(
        config=True
    )
    cooldown = Integer(
        15, min=0,
        help="Seconds that a student must wait after the fourth attempt at a notebook. The pause doubles with each "
        "further one: after attempt n it is min(600, cooldown * 2 ** (n - 4)), and none for n <= 3."
    ).tag(config=True)  # fmt: skip
    counts = Enum(
        ["last", "best"], "last",
        help="Which hand-in counts: the last, or the one with the most points from tests after a late penalty (of "
        "several, the last)."
    ).tag(config=True)  # fmt: skip
    disclosure = Enum(
        [EVERYTHING, SENTENCES, POINTS], EVERYTHING,
        help="What a student learns before the due time; after it, everything. 'points and sentences' leaves out the "
        "diagnosis and the feedback page. 'points' also leaves out all messages and the names of hidden tests."
    ).tag(config=True)  # fmt: skip
    assignments = Dict(help="Other rules for some assignments: {name: {setting: value}}.").tag(config=True)

    def for_assignment(self, assignment: str) -> "SubmissionPolicy":
        """Return the rules of an assignment."""
        own = with_current_names(self.assignments.get(assignment, {}), CURRENT_NAMES)
        settings = {**self.config.SubmissionPolicy, **own, "assignments": {}}
        return SubmissionPolicy(Config(SubmissionPolicy=settings))

    def due_at(self, gradebook_due: datetime | None) -> datetime | None:
        """Return the due time in UTC, if there is one.

        Args:
            gradebook_due: that of the student in the gradebook.
        """
        return _time(self.due) or gradebook_due

    def pause(self, attempts: int) -> float:
        """Return the seconds that must pass after so many attempts."""
        if attempts <= FREE_ATTEMPTS:
            return 0.0
        # The exponent is limited too, so that the number is never large.
        return float(min(MAX_PAUSE, self.cooldown * 2 ** min(attempts - FREE_ATTEMPTS - 1, 10)))

    def left(self, used: int) -> int | None:
        """Return how many attempts are left after `used`; None for any number."""
        return max(0, self.attempts - used) if self.attempts else None

    def require_allowed(self, now: datetime, due: datetime | None, attempts: Attempts) -> None:
        """Check whether a student may hand in a notebook.

        Args:
            now: the time in UTC.
            due: what `due_at` returned.
            attempts: those that the student has used.

        Raises:
            Refusal: the assignment is not open, the due time or all attempts have passed, or a pause has not.
        """
        opens = _time(self.open)
        if opens is not None and now < opens:
            raise Refusal(403, f"this assignment opens at {shown(opens)}", (opens - now).total_seconds())
        if due is not None and now > due and self.late == "refuse":
            raise Refusal(403, f"this assignment was due at {shown(due)}, and nothing is accepted after that")
        if self.left(attempts.used) == 0:
            raise Refusal(403, f"all {self.attempts} attempts at this notebook are used")
        if attempts.last is not None:
            wait = (attempts.last + timedelta(seconds=self.pause(attempts.used)) - now).total_seconds()
            if wait > 0:
                raise Refusal(
                    429, f"attempt {attempts.used + 1} is possible in {wait:.0f} seconds: the pause grows", wait
                )

    def disclosure_at(self, now: datetime, due: datetime | None) -> str:
        """Return what a student may learn now: one of the values of `disclosure`."""
        return EVERYTHING if due is not None and now > due else self.disclosure


def require_object(content: bytes) -> None:
    """Check that a file is a JSON object, as every notebook is; grading checks what else a notebook needs.

    Raises:
        Refusal: it is none.
    """
    for allowed, substitute in PYTHON_ONLY.items():
        content = content.replace(allowed, substitute)
    try:
        _OBJECT.decode(content.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, RecursionError):
        raise Refusal(
            400,
            "this file is no JSON object, as a notebook is: save it once more in JupyterLab, and hand it in again",
        ) from None


def published(
    report: dict[str, Any], disclosure: str, hidden: Collection[str], *, is_alone: bool = False
) -> dict[str, Any]:
    """Return a report in its JSON form without what a student may not learn yet.

    Args:
        report: what `Report.as_json` returned.
        disclosure: what the student may learn.
        hidden: the names of the hidden tests.
        is_alone: whether to tell the results as if nothing had been judged with our answers to earlier exercises.
    """
    tests = [
        msgspec.convert(test.get("alone", test) if is_alone else test, PublishedResult) for test in report["tests"]
    ]
    disclosed = [_disclosed(test, number, disclosure, hidden) for number, test in enumerate(tests, 1)]
    return as_json(disclosed, [] if disclosure == POINTS else report["repairs"], given_up=report["given_up"])


def _disclosed(test: PublishedResult, number: int, disclosure: str, hidden: Collection[str]) -> PublishedResult:
    """The part of a result that its student may see; `number` is that of the test."""
    explanation = test.explanation
    if explanation == Explanation() and not (test.causes and disclosure == SENTENCES):
        # An earlier version kept a message alone, into which it had written the diagnosis.
        explanation = Explanation(detail=test.message)
    if disclosure == EVERYTHING:
        return replace(test, explanation=explanation)
    name = test.name
    if disclosure == POINTS:
        name, explanation = f"hidden test {number}" if name in hidden else name, Explanation()
    explanation = explanation.undiagnosed()
    return replace(test, name=name, explanation=explanation, message=explanation.message, causes=[], alone=None)


def shown(time: datetime) -> str:
    """Return a UTC time as text."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _time(text: str) -> datetime | None:
    time: datetime | None = parse_utc(text) if text else None
    return time
