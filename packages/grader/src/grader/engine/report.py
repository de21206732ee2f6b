"""Defines the report on one notebook: a verdict, points and a message for every test cell."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from grader.engine.explanation import Cause, Ending, Explanation, Repair
from grader.engine.view import ExerciseView, first_to_do, views
from grader.errors import SandboxUnavailable

FORMAT = 1
"""Version of the JSON form of a report. It grows when a field changes its meaning or is removed."""
RELATIVE, ABSOLUTE = 1e-4, 1e-6
"""Tolerances for comparing the numbers of fingerprints; the first is relative to their root mean square."""


class Verdict(StrEnum):
    """The way in which a test cell ended. Only a cell that ran to its end can have passed."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    OUTPUT_LIMIT = "output limit"
    NOT_CONFINED = "not confined"
    UNGRADABLE = "ungradable"
    """The fault is in the test, not in the student's code."""


class Fingerprint(msgspec.Struct, array_like=True, frozen=True):
    """The replies of an exercise's code to its tests, from which students with the same mistake are found.

    `structure` is a digest of everything that must be equal: kinds of replies and errors, shapes, dtypes, integers and
    texts. `drawn` is a digest of all random draws, '' if there are none. `numbers` has two floats for each reply with
    real numbers: their root mean square, and a projection of them.
    """

    structure: str
    drawn: str = ""
    numbers: tuple[float, ...] = ()

    def is_like(self, other: "Fingerprint") -> bool:
        """Return whether both behave alike in every test, apart from rounding."""
        if (self.structure, self.drawn, len(self.numbers)) != (other.structure, other.drawn, len(other.numbers)):
            return False
        pairs = zip(self.numbers[::2], self.numbers[1::2], other.numbers[::2], other.numbers[1::2], strict=True)
        for size, projection, other_size, other_projection in pairs:
            allowed = RELATIVE * max(size, other_size) + ABSOLUTE
            if abs(size - other_size) > allowed or abs(projection - other_projection) > allowed:
                return False
        return True


class Result(msgspec.Struct, omit_defaults=True):
    """The result of one test cell: points out of max_points, what a student reads of it, a log for the instructor.

    `exercise` is the one to which the test belongs. The first failed result of an exercise has the `fingerprint` of its
    behaviour, with which equal ones are found in a class. If the test was judged with our answers to earlier exercises,
    `alone` is its result with the student's own. `ending` tells the instructor which line of the test ended it, and
    why. `together` is true if the test ran in one process with the student's code, which could then read and change it.
    The `seeds` of a test that lost points are the first numbers that `torch.Generator.seed` returned in it: with these,
    it draws the same random numbers again. The records beside autograded notebooks have the same fields.
    """

    name: str
    exercise: str
    verdict: Verdict
    points: float
    max_points: float
    explanation: Explanation = Explanation()
    fingerprint: Fingerprint | None = None
    log: str = ""
    alone: "Result | None" = None
    ending: Ending | None = None
    together: bool = False
    seeds: tuple[int, ...] = ()

    @property
    def message(self) -> str:
        """The text that a student reads below the test."""
        return self.explanation.message

    @property
    def not_written(self) -> bool:
        """Whether the answer still raises the `NotImplementedError` of the release."""
        return self.explanation.cause is Cause.NOT_WRITTEN

    @property
    def is_ungradable(self) -> bool:
        """Whether it lost points by a fault of the test."""
        return self.verdict is Verdict.UNGRADABLE

    def as_ungradable(self, ending: Ending | None = None) -> "Result":
        """Return the result of a test that is itself at fault; by default, its own ending is the reason."""
        explanation = Explanation(cause=Cause.UNGRADABLE)
        return replace(self, verdict=Verdict.UNGRADABLE, explanation=explanation, ending=ending or self.ending)

    def published(self) -> "PublishedResult":
        """Return the result without the parts that only instructors see."""
        alone = None if self.alone is None else self.alone.published()
        return PublishedResult(
            self.name, self.verdict, self.points, self.max_points, self.message, self.explanation.causes, self.exercise,
            self.explanation, alone,
        )  # fmt: skip


class UnfinishedCell(msgspec.Struct, frozen=True):
    """A cell of ours that raised in the sandbox, by its index, and why.

    `missing` are the names that it should have bound there, and `missing_in_tests` those that tests lack, too.
    """

    index: int
    ending: Ending
    missing: frozenset[str]
    missing_in_tests: frozenset[str]


@dataclass
class Report:
    """The report on one notebook: a result for each test cell, in order, and the repairs that it needed.

    `outputs` holds nbformat outputs by the index of the cell in the repaired notebook. `given_up` is true if the grader
    itself failed, so that the results say nothing about the submission. `unfinished` are the cells of ours that raised.
    """

    results: list[Result] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    given_up: bool = False
    unfinished: list[UnfinishedCell] = field(default_factory=list)

    @property
    def points(self) -> float:
        """The sum of the points of all tests."""
        return sum(result.points for result in self.results)

    @property
    def max_points(self) -> float:
        """The sum of the points that the tests can give."""
        return sum(result.max_points for result in self.results)

    def require_confined(self) -> None:
        """Raise SandboxUnavailable if student code could not be confined, because the points are then meaningless."""
        for result in self.results:
            if result.verdict is Verdict.NOT_CONFINED:
                raise SandboxUnavailable(result.message)

    def as_json(self) -> dict[str, Any]:
        """Return the published form of this report, as packages/grader/docs/report.schema.json describes it.

        It leaves out outputs and logs, because a log shows hidden tests.
        """
        return as_json(
            [result.published() for result in self.results], [*map(str, self.repairs)], given_up=self.given_up
        )


class PublishedResult(msgspec.Struct, omit_defaults=True):
    """One test in the JSON form of a report; `causes` names the misconceptions that explain why it failed.

    `message` is the text of `explanation`, and both are empty if there is nothing to say. If the test was judged with
    our answers to earlier exercises, `alone` is its result with the student's own.
    """

    name: str = msgspec.field(name="test")
    verdict: Verdict
    points: float
    max_points: float
    message: str
    causes: list[str]
    exercise: str = ""
    explanation: Explanation = Explanation()
    alone: "PublishedResult | None" = None


class PublishedReport(msgspec.Struct):
    """The JSON form of a report. `repairs` are sentences; `given_up` is true if grading did not finish.

    `exercises` is what to show of the tests; `next` names the first exercise that is not right, if there is one.
    """

    format: int
    points: float
    max_points: float
    exercises: list[ExerciseView]
    next: str
    tests: list[PublishedResult]
    repairs: list[str]
    given_up: bool


def as_json(
    tests: list[PublishedResult], repairs: list[str], *, given_up: bool, exercises: list[ExerciseView] | None = None
) -> dict[str, Any]:
    """Return the JSON form of a report.

    Args:
        tests: its tests, without anything that a student may not know yet.
        repairs: sentences.
        given_up: whether grading did not finish.
        exercises: what to show of the tests; None for what the tests say.
    """
    points, max_points = sum(test.points for test in tests), sum(test.max_points for test in tests)
    shown = views(tests) if exercises is None else exercises
    following = first_to_do(shown)
    published = PublishedReport(
        FORMAT, points, max_points, shown, following.exercise if following else "", tests, repairs, given_up
    )
    form: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(published))
    return form


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Report.as_json`."""
    return msgspec.json.schema(PublishedReport)


def shown(result: Result) -> list[dict[str, Any]]:
    """Return the outputs of a test cell, from which nbgrader takes the score.

    No output or text means full points, a number partial points, and an error none.
    """
    if result.verdict is Verdict.PASSED:
        return [{"output_type": "stream", "name": "stdout", "text": result.message}] if result.message else []
    if result.points:
        data = {"text/plain": repr(result.points)}
        return [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}]
    return [error_output(result.verdict, result.message)]


def error_output(verdict: Verdict, message: str) -> dict[str, Any]:
    """Return an error output as nbformat stores it.

    Args:
        verdict: how the test or cell ended.
        message: a message for the student.
    """
    return {"output_type": "error", "ename": str(verdict), "evalue": message, "traceback": [f"{verdict}: {message}"]}


def partial(value: Any, points: float) -> float:
    """Return the points of a test that ran to its end.

    Args:
        value: the value of its last line. A number is clamped to the range from 0 to `points`, and NaN gives 0. Any
            other value gives all points.
        points: the maximum of the test.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return points
    return max(0.0, min(float(value), points)) if value == value else 0.0
