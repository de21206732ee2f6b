"""Records the messages of tests, and reads them as calls afterwards, which show how a student's code behaves.

messages, as bytes --Recorder--> Exchanges --recorded_sessions--> RecordedCall: request, callbacks, reply
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, opened
from grader.engine.rpc.protocol import Backward, Call, Callback, CallbackReply, Gradients, Raised, Request, Returned
from grader.engine.rpc.tensors import EncodedTensors

Exchanges = list[tuple[bytes, bytes]]
"""Messages and the replies to them, as they crossed."""

MAX_EXCHANGES = 40
"""Exchanges of one test that are kept: enough to distinguish misconceptions, few enough for a test that trains."""
MAX_BYTES = 32 * 2**20
"""Bytes of all exchanges that are kept: a sandbox may send answers as large as a message may be."""


class Recorder:
    """The first exchanges of each test of a notebook, by exercise."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchanges] = {}
        self._room = MAX_BYTES
        self._broken: set[int] = set()

    def keep(self, exercise: str, session: int, exchanges: Exchanges) -> None:
        """Record what a test sent and received.

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
            # From here on, what happens to the session's objects is not recorded, so later calls cannot be judged.
            self._broken.add(session)

    def forget(self, exercises: set[str]) -> None:
        """Drop the exchanges of these exercises, because another sandbox comes, and only its replies count."""
        self._broken.clear()
        for exercise in exercises:
            self.exchanges.pop(exercise, None)


class RecordedCallback(NamedTuple):
    """A call of a test's function by student code, in the middle of a call of student code, and the reply to it."""

    question: Callback
    arguments: EncodedTensors
    reply: CallbackReply
    returned: EncodedTensors


@dataclass(frozen=True)
class RecordedCall:
    """One call, or the gradients of one, and the reply. `sent` holds the bytes of all that crossed before the reply."""

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
