"""Decides which hand-ins are accepted, and what students learn. Instructors set the rules in nbgrader_config.py.

c.SubmissionPolicy.attempts = 5
c.SubmissionPolicy.assignments = {"06-vision": {"due": "2026-07-01 18:00 Europe/Berlin", "counts": "best"}}
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace
from nbformat import NotebookNode
from traitlets import Dict, Enum, Integer, TraitError, Unicode
from traitlets.config import Config

from grader.classroom.student import parsed_time
from grader.classroom.web.refusal import Refusal
from grader.commands.shared import with_current_names
from grader.engine.explanation import Explanation
from grader.engine.limits import Settings
from grader.engine.notebook.cells import grade_id, is_not_graded
from grader.engine.notebook.plan import Step
from grader.engine.notebook.repair import repair
from grader.engine.report import PublishedResult, as_json
from grader.engine.supervisor.parsers import parse
from grader.engine.view import views
from grader.errors import UnreadableFile

EVERYTHING, SENTENCES, POINTS = "everything", "points and sentences", "points"
CURRENT_NAMES = {"told": "disclosure"}
"""The current names of settings, by those of earlier versions."""
FREE_ATTEMPTS = 3
MAX_PAUSE = 600


@dataclass(frozen=True)
class Attempts:
    """The number of a student's attempts at a notebook, and the time of the last one."""

    used: int = 0
    last: datetime | None = None


class SubmissionPolicy(Settings):
    """The rules for hand-ins. Times without a zone are in UTC."""

    def __init__(self, config: Config | None = None) -> None:
        """Read the rules from a configuration, which may use their earlier name, c.HandIn.

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
            except ValueError:
                raise TraitError(
                    f"c.SubmissionPolicy.{name} is a time such as '2026-03-02 10:00:00 UTC', "
                    f"not {getattr(self, name)!r}"
                ) from None

    open = Unicode("", help="The time from which notebooks are accepted; empty for at once.").tag(config=True)
    due = Unicode(
        "", help="The due time, which the service writes into the gradebook: nbgrader's penalties and extensions go by "
        "that one. Empty for the due date that is there. The service does not start if both exist and differ."
    ).tag(config=True)  # fmt: skip
    late = Enum(
        ["accept", "refuse"], "accept",
        help="Whether notebooks are taken after the due time. nbgrader's plugin for late submissions subtracts its "
        "penalty; a hand-in that it would cost points is taken when the student confirms it."
    ).tag(config=True)  # fmt: skip
    attempts = Integer(0, min=0, help="Attempts of a student at each notebook; 0 for any number.").tag(config=True)
    cooldown = Integer(
        15, min=0,
        help="Seconds that a student must wait after the fourth attempt at a notebook. The pause doubles with each "
        "further one: after attempt n it is min(600, cooldown * 2 ** (n - 4)), and 0 for n <= 3."
    ).tag(config=True)  # fmt: skip
    counts = Enum(
        ["last", "best"], "last",
        help="The hand-in that counts: the last, or the one with the most points from tests after a late penalty (of "
        "several, the first)."
    ).tag(config=True)  # fmt: skip
    disclosure = Enum(
        [EVERYTHING, SENTENCES, POINTS], EVERYTHING,
        help="The part of a report that students see before the due time; later they see everything. 'points and "
        "sentences' leaves out the diagnosis and the feedback page. 'points' also leaves out all messages and the "
        "names of hidden tests."
    ).tag(config=True)  # fmt: skip
    assignments = Dict(help="Other rules for some assignments: {name: {setting: value}}.").tag(config=True)

    def for_assignment(self, assignment: str) -> "SubmissionPolicy":
        """Return the rules of an assignment."""
        own = with_current_names(self.assignments.get(assignment, {}), CURRENT_NAMES)
        settings = {**self.config.SubmissionPolicy, **own, "assignments": {}}
        return SubmissionPolicy(Config(SubmissionPolicy=settings))

    @property
    def own_due(self) -> datetime | None:
        """The due time that the configuration names, in UTC, or None. The gradebook has it once the service runs."""
        return _time(self.due)

    def pause(self, attempts: int) -> float:
        """Return the seconds that must pass after the last of `attempts`."""
        if attempts <= FREE_ATTEMPTS:
            return 0.0
        # The exponent is limited too, so that the number stays small.
        return float(min(MAX_PAUSE, self.cooldown * 2 ** min(attempts - FREE_ATTEMPTS - 1, 10)))

    def left(self, used: int) -> int | None:
        """Return the number of attempts left after `used`; None for any number."""
        return max(0, self.attempts - used) if self.attempts else None

    def require_allowed(self, due: datetime | None, now: datetime, attempts: Attempts) -> None:
        """Check that a student may hand in a notebook.

        Args:
            due: the student's due date in the gradebook, in UTC.
            now: the time in UTC.
            attempts: the attempts so far.

        Raises:
            Refusal: the assignment is not open or past its due time, no attempt is left, or the pause is not over.
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
                    429,
                    f"wait {wait:.0f} seconds before attempt {attempts.used + 1}: each further wait is longer",
                    wait,
                )

    def disclosure_at(self, now: datetime, due: datetime | None) -> str:
        """Return the disclosure to a student now: one of the values of `disclosure`."""
        return EVERYTHING if due is not None and now > due else self.disclosure


def fingerprint(content: bytes, notebook: str, source: NotebookNode) -> str:
    """Return a digest of the parts of a notebook that are graded: code that runs, written answers, and our tests.

    Two files with the same digest are one attempt. Outputs, counts, metadata and cells that are not graded, such as the
    one that hands in, play no part, nor do empty cells, which JupyterLab adds at the end. Text in the student's own
    cells does, because it is marked.

    Args:
        content: the bytes of the file.
        notebook: the notebook's name.
        source: the instructors' notebook.

    Raises:
        Refusal: the file is not a notebook.
    """
    try:
        submission = parse(content, f"{notebook}.ipynb")
    except UnreadableFile as error:
        raise Refusal(400, f"{error.why}: save it once more in JupyterLab, and hand it in again") from None
    graded = [
        (grade_id(cell), cell.cell_type, cell.source.replace("\r\n", "\n").rstrip(), cell.get("attachments"))
        for cell in repair(source, submission).notebook.cells
        if not is_not_graded(cell) and (grade_id(cell) or cell.source.strip())
    ]
    return hashlib.sha256(json.dumps(graded).encode()).hexdigest()


def published(
    report: dict[str, Any], disclosure: str, steps: Mapping[str, Step], *, is_alone: bool = False
) -> dict[str, Any]:
    """Return a report in its JSON form without the parts that a student may not see yet.

    The points and the state of an exercise are those of its tests, whatever is said about them.

    Args:
        report: the result of `Report.as_json`.
        disclosure: one of the values of `SubmissionPolicy.disclosure`.
        steps: the tests of the source by name; another test counts as hidden.
        is_alone: True for the results without our answers to earlier exercises.
    """
    tests = [_known(test.get("alone", test) if is_alone else test, steps) for test in report["tests"]]
    disclosed = [_disclosed(test, number, disclosure, steps) for number, test in enumerate(tests, 1)]
    exercises = [replace(shown, state=known.state) for shown, known in zip(views(disclosed), views(tests), strict=True)]
    repairs = [] if disclosure == POINTS else report["repairs"]
    return as_json(disclosed, repairs, given_up=report["given_up"], exercises=exercises)


def _known(test: dict[str, Any], steps: Mapping[str, Step]) -> PublishedResult:
    """Return a stored result, with the fields that an earlier version did not store."""
    result = msgspec.convert(test, PublishedResult)
    step = steps.get(result.name)
    return replace(result, exercise=result.exercise or (step.exercise if step else ""))


def _disclosed(test: PublishedResult, number: int, disclosure: str, steps: Mapping[str, Step]) -> PublishedResult:
    """Return the part of a result that its student may see; `number` is that of the test."""
    explanation = test.explanation
    if explanation == Explanation() and not (test.causes and disclosure == SENTENCES):
        # An earlier version stored only a message, which contains the diagnosis.
        explanation = Explanation(detail=test.message)
    if disclosure == EVERYTHING:
        return replace(test, explanation=explanation)
    name = test.name
    if disclosure == POINTS:
        is_hidden = name not in steps or steps[name].is_hidden
        name, explanation = f"hidden test {number}" if is_hidden else name, Explanation()
    explanation = explanation.undiagnosed()
    return replace(test, name=name, explanation=explanation, message=explanation.message, causes=[], alone=None)


def shown(time: datetime) -> str:
    """Return a UTC time as text."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _time(text: str) -> datetime | None:
    return parsed_time(text) if text else None
