"""What grading says of one notebook: a verdict, points and words for every test cell."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

GIVEN_UP = "Grading did not come to an end."
"""The message of every test of a notebook that the grader itself could not get through."""


class Verdict(StrEnum):
    """How a test cell ended. Only a cell that ran to its end has passed."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    OUTPUT_LIMIT = "output limit"
    NOT_CONFINED = "not confined"


@dataclass
class Result:
    """One test cell: points earned of max_points, a message for the student, a log for the instructor."""

    name: str
    verdict: Verdict
    points: float
    max_points: float
    message: str = ""
    log: str = ""


@dataclass
class Report:
    """One notebook: a result for each test cell, what was repaired, and what the student's own cells put out.

    `outputs` holds nbformat outputs by the index of the cell in the repaired notebook.
    """

    results: list[Result] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    outputs: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def points(self) -> float:
        return sum(result.points for result in self.results)

    @property
    def max_points(self) -> float:
        return sum(result.max_points for result in self.results)

    @property
    def was_given_up(self) -> bool:
        """Whether the grader could not get through the notebook: nobody knows what its tests would have come to."""
        return any(result.message == GIVEN_UP for result in self.results)

    def as_json(self) -> dict[str, Any]:
        """Plain data that json.dumps takes."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Report":
        """The report that `as_json` gave."""
        results = [Result(**{**result, "verdict": Verdict(result["verdict"])}) for result in data["results"]]
        outputs = {int(index): outputs for index, outputs in data["outputs"].items()}
        return cls(results, list(data["repairs"]), outputs)


def shown(result: Result) -> list[dict[str, Any]]:
    """The output of a test cell, from which nbgrader takes the score: none for full points, a number, or an error."""
    if result.verdict is Verdict.PASSED:
        return []
    if result.points:
        data = {"text/plain": repr(result.points)}
        return [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}]
    return [error_output(result.verdict, result.message)]


def error_output(verdict: Verdict, message: str) -> dict[str, Any]:
    """A verdict with its message, as an error in the notebook."""
    return {"output_type": "error", "ename": str(verdict), "evalue": message, "traceback": [f"{verdict}: {message}"]}
