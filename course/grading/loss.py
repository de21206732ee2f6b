"""A candidate that hung or died, and why."""

import signal
from dataclasses import dataclass, replace

from course.grading.report import Verdict


@dataclass(frozen=True)
class Lost:
    """Why a candidate is gone."""

    verdict: Verdict
    why: str
    why_in_silence: str = ""
    """What is told of it in a hidden test, where `why` may hold a number that student code took from the test."""


USED_UP = (Verdict.OUTPUT_LIMIT, Verdict.OUT_OF_MEMORY)
"""After these the next exercise starts with a fresh candidate, so that it has what the last one used up."""

ENDED = "the process ended itself"

OUT_OF_TIME = Lost(Verdict.TIMED_OUT, "the time for the whole notebook was used up")


def in_silence(lost: Lost) -> Lost:
    """The same, as it is told in a hidden test."""
    return replace(lost, why=lost.why_in_silence) if lost.why_in_silence else lost


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
            return Lost(Verdict.CRASHED, f"the process was ended by {name}", why_in_silence=ENDED)
        case int():
            # Not with which code: it might be a number of a hidden test.
            return Lost(Verdict.CRASHED, ENDED)
    return Lost(Verdict.CRASHED, "it cut its connection")
