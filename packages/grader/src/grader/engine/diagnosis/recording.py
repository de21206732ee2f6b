"""Records the messages of tests, and later reads them as calls that show the behaviour of a student's code.

messages, as bytes --Recorder--> Exchanges --recorded_sessions--> RecordedCall: request, callbacks, reply
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, opened
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import Backward, Call, Callback, CallbackReply, Gradients, Raised, Request, Returned
from grader.engine.rpc.values.tensors import EncodedTensors

Exchanges = list[tuple[bytes, bytes]]
"""Messages and the replies to them, as they crossed."""

MAX_EXCHANGES = 40
"""Exchanges of one test that are kept: enough to tell misconceptions apart, few enough for a test that trains."""
MAX_BYTES = 32 * 2**20
"""Bytes of all exchanges that are kept, because a sandbox may fill every message to its limit."""


class Recorder:
    """The first exchanges of each test of a notebook, by exercise."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchanges] = {}
        self._room = MAX_BYTES
        self._broken: set[int] = set()

    def keep(self, exercise: str, session: int, exchanges: Exchanges) -> None:
        """Record the exchanges of a test.

        Args:
            exercise: the exercise of the test.
            session: the id of its session if other tests share it, else 0.
            exchanges: messages and replies, in order.
        """
        kept = self.exchanges.setdefault(exercise, [])
        for sent, received in exchanges[:MAX_EXCHANGES]:
            self._room -= len(sent) + len(received)
            if self._room < 0 or session in self._broken:
                break
            kept.append((sent, received))
        else:
            if len(exchanges) <= MAX_EXCHANGES:
                return
        if session:
            # Changes of the session's objects are no longer recorded, so later calls cannot be judged.
            self._broken.add(session)

    def forget(self, exercises: set[str]) -> None:
        """Drop the exchanges of these exercises: only the replies of the next sandbox count."""
        self._broken.clear()
        for exercise in exercises:
            self.exchanges.pop(exercise, None)


class RecordedCallback(NamedTuple):
    """A call of a test's function by student code while a test calls it, and the reply."""

    question: Callback
    arguments: EncodedTensors
    reply: CallbackReply
    returned: EncodedTensors


@dataclass(frozen=True)
class RecordedCall:
    """A call, or a backward pass, and the reply. `sent` holds all bytes that crossed before the reply."""

    sent: bytes
    request: Call | Backward
    arguments: EncodedTensors
    reply: Returned | Gradients | Raised
    returned: EncodedTensors
    callbacks: list[RecordedCallback]


def recorded_sessions(exchanges: Exchanges) -> list[list[RecordedCall]]:
    """Return the calls among the messages, by session; raise ProtocolError if a message breaks the protocol."""
    sessions: list[list[RecordedCall]] = []
    latest: dict[int, list[RecordedCall]] = {}
    last: tuple[Any, EncodedTensors] = None, EncodedTensors()
    for message, received in exchanges:
        tree, tensors = opened(message, TO_SANDBOX)
        if isinstance(tree, Request):
            if isinstance(last[0], Callback) and not getattr(tree, "new", False):
                raise ProtocolError("a call that a function of the test made during another call cannot be replayed")
            sent, request, arguments, callbacks = b"", tree, tensors, []
            if isinstance(request, Call) and request.new:
                latest[request.session] = []
                sessions.append(latest[request.session])
        else:
            callbacks.append(RecordedCallback(*last, tree, tensors))
        sent += message
        reply, returned = last = opened(received, FROM_SANDBOX)
        if isinstance(reply, Callback):
            sent += received
        elif isinstance(request, Call | Backward):
            latest[request.session].append(RecordedCall(sent, request, arguments, reply, returned, callbacks))
    return sessions
