"""Makes text of unknown origin safe to print and to store."""

from typing import Any

MAX_MESSAGE = 2_000
"""Characters of a message that are kept."""
CONTROLS = dict.fromkeys([*(set(range(32)) - set(map(ord, "\n\r\t"))), *range(127, 160)])
"""Control characters: a terminal would act on them instead of showing them."""


def printable(value: Any, characters: int = MAX_MESSAGE) -> str:
    """Return `value` as text that every file and every terminal can hold.

    Args:
        value: anything; its `str` is taken.
        characters: how many characters to keep.
    """
    return str(value)[:characters].encode(errors="replace").decode().translate(CONTROLS)
