"""What a test says to a candidate and is answered; how it goes on where it went the same way before is remembered.

    says A --answer--> says B --answer--> ... --answer--> finding
              \\--another answer--> says C ...

A test draws its numbers from a seed and knows student code only over the wire. So what it says next, and what it finds
in the end, depends on the answers so far and on nothing else. Where all of them came before, from another student, the
test itself need not run: its words are sent again, and its finding is taken over. At the first answer that is new the
test runs, is given the answers that are there already, and goes on by itself.

Words are sent one by one, each only after the same answer as before: who answers never sees more than the test shows.
"""

import hashlib
from typing import Any

import torch

from course.grading.service import Answer
from course.grading.wire import Channel, Packed, decode, encode

MAX_REMEMBERED = 64 * 2**20
"""Bytes that a memory may hold, about; when it is full, it starts anew."""
MAX_KEPT = 32 * 2**20
"""Bytes that are kept of one conversation: a candidate may answer with as much as can cross."""
NODE_BYTES = 2_000
"""What a point of a conversation takes besides the words: a finding has a log."""


class Unrepeatable(BaseException):
    """A test said something else after the same answers. A BaseException, so that no test takes it for an answer."""


class Node:
    """A point of a conversation: what the test says next or has found, and where each answer leads."""

    __slots__ = ("after", "found", "says")

    def __init__(self) -> None:
        self.says: bytes | None = None
        self.found: Any = None
        self.after: dict[bytes, Node] = {}


class Memory:
    """The conversations of tests. A test is called by a digest of all that it depends on but the answers."""

    def __init__(self) -> None:
        self.names: dict[bytes, Any] = {}
        """Which mistake somebody made, by a digest of all that this depends on."""
        self.answers: dict[bytes, Answer] = {}
        """What code of ours answered where it stood for a student's, by such a digest too."""
        self._roots: dict[bytes, Node | None] = {}
        self._bytes = 0

    def of(self, test: bytes) -> Node | None:
        """Where the conversation of a test begins; None for a test that has not repeated itself."""
        return self._roots.setdefault(test, Node())

    def distrust(self, test: bytes) -> None:
        """This test depends on more than its answers."""
        self._roots[test] = None

    def name(self, digest: bytes, mistake: Any) -> None:
        """Remembers a mistake, or that there is none with a name."""
        self.names[digest] = mistake
        self.count(NODE_BYTES)

    def answer(self, digest: bytes, answer: Answer) -> None:
        """Remembers an answer of ours."""
        self.count(NODE_BYTES + sum(tensor.nbytes for tensor in answer[1]))
        self.answers[digest] = answer

    def count(self, added: int) -> None:
        """So many bytes more are remembered."""
        self._bytes += added
        if self._bytes > MAX_REMEMBERED:
            self._bytes = 0
            self.names, self.answers = {}, {}
            self._roots = {test: None for test, root in self._roots.items() if root is None}


class Conversation:
    """A Channel to a candidate while a test has the word; with a `node`, it goes along with what is remembered."""

    def __init__(self, channel: Channel, node: Node | None = None) -> None:
        self.exchanges: list[tuple[bytes, bytes]] = []
        """What was said and answered, up to about MAX_KEPT bytes."""
        self.added = 0
        """Bytes that are remembered since."""
        self._channel = channel
        self._node = node
        self._repeated = 0
        self._room = MAX_KEPT
        self._said = b""

    def found_before(self) -> Any:
        """Has the conversation go as it went before, as long as the answers are the same; returns what it came to.

        None where it leads to something new: then the test has the word.
        """
        while self._node is not None and self._node.says is not None and self._room > 0:
            self._say(self._node.says)
            self._hear()
        return None if self._node is None else self._node.found

    def send(self, tree: Any, tensors: list[torch.Tensor]) -> None:
        """Says it, or sees that it was said already. Raises what Channel.send raises, and Unrepeatable."""
        said = encode(tree, tensors)
        if self._repeated < len(self.exchanges):
            _require(said == self.exchanges[self._repeated][0])
            return
        if self._node is not None:
            _require(self._node.found is None and self._node.says in (None, said))
            if self._node.says is None:
                self._node.says, self.added = said, self.added + len(said)
        self._say(said)

    def receive(self) -> tuple[Any, Packed]:
        """The answer to what was said last. Raises what Channel.receive raises."""
        if self._repeated == len(self.exchanges):
            answer = self._hear()
            self._repeated = len(self.exchanges)
        else:
            answer = self.exchanges[self._repeated][1]
            self._repeated += 1
        return decode(answer)

    def came_to(self, found: Any) -> None:
        """The test ended here, with this. Raises Unrepeatable where it went on before."""
        if self._node is not None:
            _require(self._node.says is None and self._repeated == len(self.exchanges))
            self._node.found = found

    def _say(self, said: bytes) -> None:
        self._channel.write(said)
        self._said = said

    def _hear(self) -> bytes:
        answer = self._channel.read()
        if self._room > 0:
            self._room -= len(self._said) + len(answer)
            self.exchanges.append((self._said, answer))
        if self._node is not None:
            digest = hashlib.sha256(answer).digest()
            if digest not in self._node.after:
                self._node.after[digest] = Node()
                self.added += NODE_BYTES
            self._node = self._node.after[digest]
        return answer


def _require(it_repeats_itself: bool) -> None:
    if not it_repeats_itself:
        raise Unrepeatable
