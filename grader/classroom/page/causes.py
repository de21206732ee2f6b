"""Reads the message of a test that failed: what does not hold, why, and what to fix before it."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.report import BEHAVES_LIKE, JUDGED_WITH, NOT_GRADED

JUDGED = re.compile(rf"\s*{JUDGED_WITH.removesuffix('.').format('(.+?)')}\.", re.DOTALL)
DIAGNOSIS = re.compile(rf"\s*\b{BEHAVES_LIKE}.*", re.DOTALL)
BLANK = re.compile(r"Not written yet(?: \(in ([\w-]+), line \d+: .*\))?\.", re.DOTALL)
UNDEFINED = re.compile(r"\S+ is not defined: the cell that should define it .*", re.DOTALL)
OUT_OF_TIME = "Your code was stopped: the time for the whole notebook was used up."
CAUSE = re.compile(
    r"\bYour code (?:raised|was stopped|printed too much|hands its work|returned something that no test).*", re.DOTALL
)
RAISED = re.compile(r"Your code raised ([\w.]+)(?:: .*?)?( \(in [\w-]+, line \d+).*", re.DOTALL)
"""A visible check quotes the text of the error, and a hidden test does not: both have one cause."""


@dataclass(frozen=True)
class Found:
    """The finding of one test.

    `truth` is the property that does not hold, `sentence` the reason, and tests with the same `key` failed for one
    reason. `first` is what must be mended before: the name of another exercise, or a sentence. `judged_with` are the
    exercises in whose place ours were used. All are empty if the test passed with the student's own code.
    """

    truth: str = ""
    sentence: str = ""
    key: str = ""
    diagnosis: str = ""
    first: str = ""
    judged_with: tuple[str, ...] = ()
    is_not_written: bool = False


def read_message(exercise: str, test: NotebookNode, *, is_full: bool) -> Found:
    """Return what a test cell says.

    Args:
        exercise: the name of its exercise.
        test: the cell, with the outputs of the grader.
        is_full: whether it gave all its points.
    """
    message = _message(test)
    judged = JUDGED.search(message)
    judged_with = tuple(re.findall("`([^`]+)`", judged[1])) if judged else ()
    if is_full:
        return Found(judged_with=judged_with)
    message = JUDGED.sub("", message)
    diagnosis = DIAGNOSIS.search(message)
    message = DIAGNOSIS.sub("", message).strip()
    if blank := BLANK.fullmatch(message):
        other = blank[1] if blank[1] not in (None, exercise) else ""
        return Found(first=other, judged_with=judged_with, is_not_written=not other)
    if UNDEFINED.search(message) or message in (OUT_OF_TIME, NOT_GRADED):
        cause = UNDEFINED.search(message)
        return Found(first=cause[0] if cause else message, judged_with=judged_with)
    cause = CAUSE.search(message)
    sentence = cause[0] if cause else ""
    truth = message[: cause.start()].strip() if cause else message
    return Found(
        truth=truth or ("" if sentence else _opening(test)),
        sentence=sentence,
        key=RAISED.sub(r"\1\2", sentence),
        diagnosis=diagnosis[0].strip() if diagnosis else "",
        judged_with=judged_with,
    )


def _message(test: NotebookNode) -> str:
    """The grader's message below a test: that of an error, or text."""
    for output in test.get("outputs", ()):
        if output.output_type == "error":
            return str(output.evalue)
        if output.output_type == "stream":
            return "".join(output.text)
    return ""


def _opening(test: NotebookNode) -> str:
    """The comment with which a test opens: what it is about, if it gave a part of its points and no message."""
    first, *_ = test.source.split("\n### ")
    lines = [line[2:].strip() for line in first.split("\n") if line.startswith("# ")]
    return " ".join(lines) or "This test gave a part of its points."
