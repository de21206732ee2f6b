"""Caches the outcomes of tests by the sequence of answers that led to them.

    test sends A --answer--> sends B --answer--> ... --answer--> outcome
              \\--another answer--> sends C ...

A test draws its random numbers from a seed and sees student code only through its sandbox. So its next message and its
outcome depend on the answers so far and on nothing else. If another student's code gave the same answers before, the
test itself need not run: its messages are sent again, and its outcome is reused. At the first new answer the test runs,
gets the answers that have arrived already, and goes on from there.

Messages are sent one by one, each only after the same answer as before, so a sandbox never sees more than the test
would show it.
"""

import hashlib
from typing import Any

import torch

from grader.engine.rpc.channel import FROM_SANDBOX, Channel, decode, encode
from grader.engine.rpc.protocol import Message
from grader.engine.rpc.tensors import DecodedTensors

MAX_REMEMBERED = 32 * 2**20
"""Bytes, about, that a cache may hold. When it is full, it starts again empty."""
MAX_KEPT = 32 * 2**20
"""Bytes that are kept of one session: a sandbox may send answers as large as a message may be."""
NODE_BYTES = 2_000
"""Bytes, about, of a node without its message. Most of them are the log of an outcome."""


class NonDeterministicTest(BaseException):
    """A test sent another message after the same answers. It is a BaseException, so that no test catches it."""


class Node:
    """A point of a session: the test's next message or its outcome, and the node to which each answer leads."""

    __slots__ = ("after", "outcome", "sends")

    def __init__(self) -> None:
        self.sends: bytes | None = None
        self.outcome: Any = None
        self.after: dict[bytes, Node] = {}


class AnswerCache:
    """The sessions of all tests so far. The key of a test is a digest of all that it depends on besides the answers."""

    def __init__(self) -> None:
        self._roots: dict[bytes, Node | None] = {}
        self._bytes = 0

    def root(self, test: bytes) -> Node | None:
        """Return the first node of a test, or None for a test that did not repeat itself."""
        return self._roots.setdefault(test, Node())

    def distrust(self, test: bytes) -> None:
        """Note that a test depends on more than its answers."""
        self._roots[test] = None

    def count(self, added: int) -> None:
        """Note that the cache has grown by so many bytes; empty it if it is full."""
        self._bytes += added
        if self._bytes > MAX_REMEMBERED:
            self._bytes = 0
            self._roots = {test: None for test, root in self._roots.items() if root is None}


class Session:
    """A Channel to a sandbox while a test runs.

    Args:
        channel: the channel to the sandbox.
        node: the first node of the test in the cache. Without it, nothing is remembered.
    """

    def __init__(self, channel: Channel, node: Node | None = None) -> None:
        self.exchanges: list[tuple[bytes, bytes]] = []
        """The messages sent and the answers to them, up to about MAX_KEPT bytes."""
        self.added = 0
        """Bytes by which the cache has grown."""
        self._channel = channel
        self._node = node
        self._repeated = 0
        self._room = MAX_KEPT
        self._sent = b""

    def known_outcome(self) -> Any:
        """Send the test's known messages again as long as the answers are known, too; return the known outcome.

        None means that an answer was new, and that the test itself must run.
        """
        while self._node is not None and self._node.sends is not None and self._room > 0:
            self._write(self._node.sends)
            self._read()
        return None if self._node is None else self._node.outcome

    def send(self, message: Message, tensors: list[torch.Tensor]) -> None:
        """Send a message of the test, unless it has been sent already.

        Args:
            message: the message.
            tensors: its tensors.

        Raises:
            NonDeterministicTest: after the same answers, the test sent another message before.
            Exception: what Channel.send raises.
        """
        data = encode(message, tensors)
        if self._repeated < len(self.exchanges):
            _require_repetition(data == self.exchanges[self._repeated][0])
            return
        if self._node is not None:
            _require_repetition(self._node.outcome is None and self._node.sends in (None, data))
            if self._node.sends is None:
                self._node.sends, self.added = data, self.added + len(data)
        self._write(data)

    def receive(self) -> tuple[Any, DecodedTensors]:
        """Return the answer to the last message; raise what Channel.receive raises."""
        if self._repeated == len(self.exchanges):
            answer = self._read()
            self._repeated = len(self.exchanges)
        else:
            answer = self.exchanges[self._repeated][1]
            self._repeated += 1
        return decode(answer, FROM_SANDBOX)

    def end(self, outcome: Any) -> None:
        """Remember that the test ended here; raise NonDeterministicTest if it went on from here before."""
        if self._node is not None:
            _require_repetition(self._node.sends is None and self._repeated == len(self.exchanges))
            self._node.outcome = outcome

    def _write(self, data: bytes) -> None:
        self._channel.write(data)
        self._sent = data

    def _read(self) -> bytes:
        answer = self._channel.read()
        if self._room > 0:
            self._room -= len(self._sent) + len(answer)
            self.exchanges.append((self._sent, answer))
        if self._node is not None:
            digest = hashlib.sha256(answer).digest()
            if digest not in self._node.after:
                self._node.after[digest] = Node()
                self.added += NODE_BYTES
            self._node = self._node.after[digest]
        return answer


def _require_repetition(repeats: bool) -> None:
    if not repeats:
        raise NonDeterministicTest
