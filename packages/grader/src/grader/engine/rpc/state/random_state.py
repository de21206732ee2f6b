"""Checks the random state that student code leaves: only states that torch's generator can reach are accepted.

A made-up state could choose the numbers that a test draws next, or make torch read beyond the state's end.
"""

import hashlib

from grader.engine.rpc.message import ProtocolError
from grader.engine.torch_if_used import USES_TORCH, torch

WORDS = slice(24, 24 + 624 * 8)
"""The bytes of a state that hold the 624 words of the Mersenne Twister. Before them are seed, left, seeded and next."""
SECOND = slice(WORDS.stop, None)
"""The bytes after them: the second of two normal numbers that are drawn together from four words, or zeros."""
MAX_BLOCKS = 2_000
"""Blocks of 624 numbers that one call may draw for its final state to be recognised."""


class KnownState:
    """The random state that the other side knows: only a different state crosses."""

    def __init__(self) -> None:
        self.state = torch.empty(0, dtype=torch.uint8)
        self._bytes = b""

    def is_news(self, now: torch.Tensor | None) -> bool:
        """Return whether the other side does not know the state `now`, and record that it now does."""
        if now is None:
            return False  # without torch
        before = self._bytes
        self.take(now)
        return self._bytes != before

    def take(self, state: torch.Tensor) -> None:
        """Record the state of the other side; raise ProtocolError if it is not a state."""
        if state.dtype is not torch.uint8:
            raise ProtocolError(f"a random state is a tensor of bytes; this one has dtype {state.dtype}")
        # Also as bytes, because torch.equal takes four times as long to compare two states.
        self.state, self._bytes = state, state.numpy().tobytes()


def accepted_state(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Return the state to continue with.

    This is `after` if drawing numbers leads to it, from `before` or from its own seed. Otherwise it is a state that is
    derived from `after` by a hash, so that no one can choose it.

    Args:
        before: the state, as bytes, with which student code began.
        after: the state with which student code claims to have ended.

    Raises:
        ProtocolError: this process does not use torch.
    """
    if not USES_TORCH:
        raise ProtocolError("a random state of torch arrived, and this notebook does not use it")
    if after.dtype is torch.uint8 and after.shape == before.shape and _is_sound(after):
        continued, seeded = torch.Generator().set_state(before), torch.Generator()
        if _leads_to(after, continued) or _leads_to(after, seeded.manual_seed(_number(after, 0, 8))):
            return after if _is_drawn(after, before) else _without_second(after)
    digest = hashlib.sha256(after.contiguous().view(torch.uint8).numpy().tobytes()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7])).get_state()


def _leads_to(state: torch.Tensor, generator: torch.Generator) -> bool:
    for _ in range(MAX_BLOCKS):
        if torch.equal(generator.get_state()[WORDS], state[WORDS]):
            return True
        torch.empty(624, dtype=torch.int32).random_(generator=generator)
    return False


def _is_drawn(after: torch.Tensor, before: torch.Tensor) -> bool:
    """Return whether the second normal number, if any, was there before or can be computed from the words."""
    second = after[SECOND]
    if not second.any() or torch.equal(second, before[SECOND]):
        return True
    words = after[WORDS].view(-1, 8)
    # The trial state has used one word, and the next four are those from which it draws a pair.
    generator = torch.Generator().manual_seed(0)
    torch.empty(1, dtype=torch.int32).random_(generator=generator)
    trial = generator.get_state()
    for place in range(_number(after, 16, 24) - 4, -1, -1):
        trial[WORDS].view(-1, 8)[1:5] = words[place : place + 4]
        torch.empty(1).normal_(generator=generator.set_state(trial))
        if torch.equal(generator.get_state()[SECOND], second):
            return True
    return False


def _without_second(state: torch.Tensor) -> torch.Tensor:
    cleared = state.clone()
    cleared[SECOND] = 0
    return cleared


def _is_sound(state: torch.Tensor) -> bool:
    """Return whether torch reads only the words: a new generator has left 1 and next 0, others left 625 - next."""
    left, following = _number(state, 8, 12), _number(state, 16, 24)
    return (left, following) == (1, 0) or (1 <= following <= 624 and left == 625 - following)


def _number(state: torch.Tensor, begin: int, end: int) -> int:
    return int.from_bytes(bytes(state[begin:end].tolist()), "little")
