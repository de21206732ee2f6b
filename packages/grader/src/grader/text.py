"""Makes untrusted text safe to print and store; names of submitted files and folders are untrusted, too."""

import shlex
from collections.abc import Sequence
from typing import Any

DISTRIBUTION = "confined-grader"
"""The name by which pip installs the grader."""
INTERRUPTED = 130
"""Exit status after Ctrl-C (128 + SIGINT)."""
HOW_TO_CONTINUE = "grader: interrupted; run the command again: `grade` continues where it stopped"
MAX_MESSAGE = 2_000
"""Longest message in characters; the rest is cut."""
CONTROLS = dict.fromkeys([*(set(range(32)) - set(map(ord, "\n\r\t"))), *range(127, 160)])
"""Control characters: a terminal would act on them instead of showing them."""
DIRECTIONS = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)])
"""Line breaks, and characters that reorder the text after them, so that a line reads differently."""
REMOVED = CONTROLS | DIRECTIONS
UNITS = ((86_400, "days"), (3600, "h"), (60, "min"))
"""Units of time in seconds, the largest first. A unit needs at least two; anything shorter is in minutes."""
MAX_NAMES = 10
"""The largest number of students that a sentence names."""
BREAKS = dict.fromkeys(map(ord, "\n\r\t"), " ")


def printable(value: Any, characters: int = MAX_MESSAGE) -> str:
    """Return `value` as text that every file and every terminal can hold.

    Args:
        value: any object, converted by `str`.
        characters: the number of characters to keep.
    """
    return str(value)[:characters].encode(errors="replace").decode().translate(REMOVED)


def one_line(value: Any, characters: int = MAX_MESSAGE) -> str:
    """Return `value` as text that a terminal shows in one line, even if a student wrote it.

    Args:
        value: any object, converted by `str`.
        characters: the number of characters to keep.
    """
    return printable(value, characters).translate(BREAKS)


def plural(number: float, noun: str) -> str:
    """Return a number with its noun, such as `1 point` or `2.5 points`."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def span(seconds: float) -> str:
    """Return a span of time as `3 days`, `5 h` or `12 min`."""
    unit, name = next((unit, name) for unit, name in UNITS if seconds >= 2 * unit or unit == 60)
    return f"{max(1, int(seconds // unit))} {name}"


def some_names(names: Sequence[str]) -> str:
    """Return the first MAX_NAMES names of students, in one line, and the number of the others.

    Args:
        names: the names, in their order.
    """
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(one_line(name, 100) for name in names[:MAX_NAMES]) + more


def command_line(words: Sequence[object]) -> str:
    """Return a command for a person to copy, in one line, with quotes where a shell needs them.

    Args:
        words: the command and its arguments.
    """
    return " ".join(_shell_word(one_line(word, 300)) for word in words)


def _shell_word(word: str) -> str:
    quoted = shlex.quote(word)
    # A name with an apostrophe reads best in double quotes, in which a shell replaces four characters.
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else quoted
