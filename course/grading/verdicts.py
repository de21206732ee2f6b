"""How the end of a test is read: as a verdict and as points."""

from typing import Any

from course.grading.plan import Step
from course.grading.report import Result, Verdict


def verdict_on(said: dict[str, Any]) -> Verdict:
    """The verdict on an exception of the student's, described as failure.describe does."""
    message = str(said.get("message"))
    if said.get("name") == "OutputLimit":
        return Verdict.OUTPUT_LIMIT
    if said.get("kind") == "MemoryError" or "can't allocate memory" in message or "not enough memory" in message:
        return Verdict.OUT_OF_MEMORY
    return Verdict.ERROR


def partial(value: Any, points: float) -> float:
    """What a test gives whose last line is `value`: all of its points if that is no number, and nothing for NaN."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return points
    return max(0.0, min(float(value), points)) if value == value else 0.0


def no_points(step: Step, verdict: Verdict, message: str, log: str = "") -> Result:
    """The result of a test that did not run to its end."""
    return Result(step.name, verdict, 0.0, step.points, message, log)
