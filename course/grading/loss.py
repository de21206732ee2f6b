"""A candidate that hung or died, and why."""

import signal
from dataclasses import dataclass

from course.grading.report import Verdict


@dataclass(frozen=True)
class Lost:
    """Why a candidate is gone."""

    verdict: Verdict
    why: str


USED_UP = (Verdict.OUTPUT_LIMIT, Verdict.OUT_OF_MEMORY)
"""After these the next exercise starts with a fresh candidate, so that it has what the last one used up."""

ENDED, BY_SIGNAL = "the process ended itself", "the process was ended by"

OUT_OF_TIME = Lost(Verdict.TIMED_OUT, "the time for the whole notebook was used up")


def in_silence(lost: Lost) -> Lost:
    """What is told of it in a hidden test: which signal student code sends to itself may be a number of the test."""
    return Lost(lost.verdict, ENDED) if lost.why.startswith(BY_SIGNAL) else lost


class CandidateLost(Exception):
    """The candidate hung or died."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.why)
        self.lost = lost


def death(how: int | str | None) -> Lost:
    """Why a candidate is gone, from its exit code or from what the driver says that it had too much of."""
    match how:
        case str(excess):
            return Lost(Verdict.OUTPUT_LIMIT if "files" in excess else Verdict.CRASHED, excess)
        case int(code) if code < 0:
            # Real-time signals have no names.
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return Lost(Verdict.CRASHED, f"{BY_SIGNAL} {name}")
        case int():
            # Not with which code: it might be a number of a hidden test.
            return Lost(Verdict.CRASHED, ENDED)
    return Lost(Verdict.CRASHED, "it cut its connection")
