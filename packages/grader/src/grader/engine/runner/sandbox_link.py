"""Connects the test runner to its sandbox: sets time limits, finds the cause of a loss, and replaces the sandbox.

The parent starts every sandbox, including replacements, and passes its socket to the runner.
"""

import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import TypeVar

from grader.engine.cpu_limit import CpuLimitExceeded, cpu_limit
from grader.engine.explanation import TIME_IS_UP, Cause, Explanation
from grader.engine.report import Verdict
from grader.engine.rpc.channel import FROM_SANDBOX, Channel, ConnectionClosed, DeadlineExceeded
from grader.engine.rpc.jobs import NeedExitStatus, NeedSandbox, SandboxExit
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import VERSION, NotConfined, Ready
from grader.engine.runner.clock import Clock, Deadline

START_SECONDS = 60
"""Seconds that a sandbox may take to report that it is ready."""
RESOURCE_VERDICTS = (Verdict.OUTPUT_LIMIT, Verdict.OUT_OF_MEMORY)
"""After these verdicts, the next exercise gets a fresh sandbox, because the resources of this one are used up."""
ENDED = "the process ended itself"

T = TypeVar("T")


@dataclass(frozen=True)
class SandboxFailure:
    """The cause of the loss of a sandbox.

    `redacted_reason` replaces `why` in a hidden test if `why` may hold a number that student code took from the test.
    """

    verdict: Verdict
    why: str
    redacted_reason: str = ""

    @property
    def explanation(self) -> Explanation:
        """The explanation of each test that lost its points because of it."""
        return Explanation(cause=Cause.OUT_OF_TIME) if self is OUT_OF_TIME else Explanation("", Cause.STOPPED, self.why)

    def redacted(self) -> "SandboxFailure":
        """Return the failure without anything that a hidden test must not reveal."""
        return replace(self, why=self.redacted_reason) if self.redacted_reason else self


OUT_OF_TIME = SandboxFailure(Verdict.TIMED_OUT, TIME_IS_UP)


class SandboxLost(Exception):
    """The sandbox hung, died or broke the protocol."""

    def __init__(self, failure: SandboxFailure) -> None:
        super().__init__(failure.why)
        self.failure = failure


def failure_from_exit(ended: SandboxExit) -> SandboxFailure:
    """Return the cause of the loss, from the report of the parent."""
    if ended.verdict is not None:
        return SandboxFailure(ended.verdict, ended.why)
    if ended.exit_status is None:
        return SandboxFailure(Verdict.CRASHED, "it closed its connection")
    if ended.exit_status < 0:
        number = -ended.exit_status
        # Real-time signals have no names.
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return SandboxFailure(Verdict.CRASHED, f"the process was ended by {name}", redacted_reason=ENDED)
    # The exit status is omitted, because it might encode a number of a hidden test.
    return SandboxFailure(Verdict.CRASHED, ENDED)


class SandboxLink:
    """A connection to a sandbox over `channel`; `unconfined` holds the reason if it is not confined.

    Args:
        parent: the connection to the parent, which starts sandboxes.
        cell_seconds: the time limit of one cell or test.
    """

    channel: Channel

    def __init__(self, parent: Connection, cell_seconds: float) -> None:
        self._parent = parent
        self._cell_seconds = cell_seconds
        self._clock = Clock()
        self.unconfined: str | None = None
        self.was_interrupted = False
        """Whether the CPU limit interrupted this process somewhere in its own code."""
        self._connect()

    def begin_pass(self, seconds: float) -> None:
        """Begin a pass, which may take this many seconds altogether."""
        self._pass = Deadline(self._clock, seconds)

    def is_out_of_time(self) -> bool:
        """Return whether the time of the pass is used up."""
        return self._pass.is_over()

    def ask(self, act: Callable[[Channel], T]) -> T:
        """Return the value of `act`, which uses the channel.

        Raises:
            SandboxLost: the sandbox hung, died or broke the protocol.
        """
        cell = Deadline(self._clock, self._cell_seconds)
        self.channel.postponed = lambda: min(cell.moment(), self._pass.moment())
        self.channel.deadline = self.channel.postponed()
        try:
            # Decoding a reply may take long, too.
            with cpu_limit(self._cell_seconds):
                return act(self.channel)
        except (DeadlineExceeded, CpuLimitExceeded) as error:
            self.was_interrupted |= isinstance(error, CpuLimitExceeded)
            if self.is_out_of_time():
                raise SandboxLost(OUT_OF_TIME) from None
            why = f"it took longer than {self._cell_seconds:g} s"
            raise SandboxLost(SandboxFailure(Verdict.TIMED_OUT, why)) from None
        except ConnectionClosed:
            self._parent.send(NeedExitStatus())
            raise SandboxLost(failure_from_exit(self._parent.recv())) from None
        except ProtocolError as error:
            raise SandboxLost(SandboxFailure(Verdict.ERROR, "its reply could not be read")) from error

    def replace(self) -> None:
        """Replace the sandbox with a fresh one."""
        self.channel.close()
        self._parent.send(NeedSandbox())
        self._parent.recv()
        self._connect()

    def close(self) -> None:
        """Disconnect from the sandbox."""
        self.channel.close()
        self._clock.close()

    def _connect(self) -> None:
        self.channel = Channel(socket.socket(fileno=recv_handle(self._parent)), FROM_SANDBOX)
        self.channel.deadline = time.monotonic() + START_SECONDS
        try:
            first, _ = self.channel.receive()
            match first:
                case Ready(version=version) if version == VERSION:
                    self._clock.follow(first.pid)
                case NotConfined():
                    self.unconfined = first.why
                case _:
                    raise ProtocolError(f"a sandbox must begin with Ready of version {VERSION}; got {first!r}")
        except (ConnectionClosed, DeadlineExceeded, ProtocolError) as error:
            self.unconfined = f"the process for student code did not start ({type(error).__name__})"
