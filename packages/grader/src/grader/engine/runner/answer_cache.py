"""Caches the outcomes of tests by the sequence of answers that led to them.

    test sends A --answer--> sends B --answer--> ... --answer--> outcome
              \\--another answer--> sends C ...

A test draws its random numbers from a seed and sees student code only through its sandbox. So its next message and its
outcome depend only on the answers so far. If another student's code gave the same answers before, the
test itself need not run: its messages are sent again, and its outcome is reused. At the first new answer the test runs:
it gets the answers that have arrived, and goes on from there.

Messages are sent one by one, each only after the same answer as before, so a sandbox never sees more than the test
would show it.
"""

import hashlib
from typing import Any

from grader.engine.rpc.channel import FROM_SANDBOX, Channel, decode, encode
from grader.engine.rpc.message import Message
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.torch_if_used import torch

MAX_REMEMBERED = 32 * 2**20
"""Approximate bytes that a cache may hold. A full cache is emptied."""
MAX_KEPT = 32 * 2**20
"""Bytes of one session that are kept, because a sandbox may fill every message to its limit."""
NODE_BYTES = 2_000
"""Approximate bytes of a node without its message, most of them in the log of an outcome."""


class NonDeterministicTest(BaseException):
    """A test sent a different message after the same answers. As a BaseException, it passes through the test."""


class Node:
    """A state of a session: the test's next message or its outcome, and the next node for each answer."""

    __slots__ = ("after", "outcome", "sends")

    def __init__(self) -> None:
        self.sends: bytes | None = None
        self.outcome: Any = None
        self.after: dict[bytes, Node] = {}


class AnswerCache:
    """The sessions of all tests so far. The key of a test is a digest of everything else that it depends on."""

    def __init__(self) -> None:
        self._roots: dict[bytes, Node | None] = {}
        self._bytes = 0

    def root(self, test: bytes) -> Node | None:
        """Return the first node of a test, or None for a test that is not deterministic."""
        return self._roots.setdefault(test, Node())

    def distrust(self, test: bytes) -> None:
        """Stop caching a test, which depends on more than its answers."""
        self._roots[test] = None

    def count(self, added: int) -> None:
        """Add to the size of the cache, in bytes; empty it if it is full."""
        self._bytes += added
        if self._bytes > MAX_REMEMBERED:
            self._bytes = 0
            self._roots = {test: None for test, root in self._roots.items() if root is None}


class Session:
    """A Channel to a sandbox while a test runs.

    Args:
        channel: the channel to the sandbox.
        node: the first node of the test in the cache; without it, nothing is cached.
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
        """Repeat the test's known messages while their answers are known, too; return the known outcome.

        If an answer is new, return None: the test itself must run.
        """
        while self._node is not None and self._node.sends is not None and self._room > 0:
            self._write(self._node.sends)
            self._read()
        return None if self._node is None else self._node.outcome

    def send(self, message: Message, tensors: list[torch.Tensor]) -> None:
        """Send a message of the test, unless `known_outcome` sent it already.

        Args:
            message: the message.
            tensors: its tensors.

        Raises:
            NonDeterministicTest: the test sent a different message after the same answers before.
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
        """Cache the outcome; raise NonDeterministicTest if the test went on from here before."""
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
