"""The examiner's line to its candidate: who is at the other end, how long may it take, and is it lost.

The driver starts every candidate and hands its socket over; a candidate that is lost is replaced in the same way.
"""

import socket
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from course.grading.candidate import READY
from course.grading.clock import Clock, Deadline
from course.grading.loss import OUT_OF_TIME, CandidateLost, Lost, death
from course.grading.patience import OutOfPatience, at_most
from course.grading.report import Verdict
from course.grading.wire import Channel, Closed, Late, WireError

START_SECONDS = 60


class Line:
    """A connection to a candidate over `channel`; `unconfined` says why it runs nothing, if it does not."""

    channel: Channel

    def __init__(self, driver: Connection, cell_seconds: float) -> None:
        self._driver = driver
        self._cell_seconds = cell_seconds
        self._clock = Clock()
        self.unconfined: str | None = None
        self.was_cut_off = False
        """Whether this process was interrupted at some place or other of its own computing."""
        self._connect()

    def begin_round(self, seconds: float) -> None:
        """From now on everything together may take so long."""
        self._round = Deadline(self._clock, seconds)

    def is_out_of_time(self) -> bool:
        """Whether the time of the round is used up."""
        return self._round.is_over()

    def ask(self, act: Callable[[], Any]) -> Any:
        """What `act`, which uses the channel, returns; raises CandidateLost where the candidate hangs or dies in it."""
        if self.unconfined is not None:
            return {"outputs": [], "raised": None}
        cell = Deadline(self._clock, self._cell_seconds)
        self.channel.postponed = lambda: min(cell.moment(), self._round.moment())
        self.channel.deadline = self.channel.postponed()
        try:
            # What came back may take long to read, too.
            with at_most(self._cell_seconds):
                return act()
        except (Late, OutOfPatience) as error:
            self.was_cut_off |= isinstance(error, OutOfPatience)
            if self.is_out_of_time():
                raise CandidateLost(OUT_OF_TIME) from None
            raise CandidateLost(Lost(Verdict.TIMED_OUT, f"it took longer than {self._cell_seconds:g} s")) from None
        except Closed:
            self._driver.send({"need": "exit code"})
            raise CandidateLost(death(self._driver.recv())) from None
        except WireError as error:
            raise CandidateLost(Lost(Verdict.ERROR, "what came back from it could not be read")) from error

    def replace(self) -> None:
        """Lets the candidate go and gets a fresh one, in which nothing has run."""
        self.channel.close()
        self._driver.send({"need": "candidate"})
        self._driver.recv()
        self._connect()

    def close(self) -> None:
        """Lets the candidate go."""
        self.channel.close()
        self._clock.close()

    def _connect(self) -> None:
        self.channel = Channel(socket.socket(fileno=recv_handle(self._driver)))
        self.channel.deadline = time.monotonic() + START_SECONDS
        try:
            answer, _ = self.channel.receive()
            if answer["done"] == READY:
                self._clock.follow(answer["pid"])
            else:
                self.unconfined = answer["why"]
        except (Closed, Late, WireError, KeyError) as error:
            self.unconfined = f"the process for student code did not start ({type(error).__name__})"
