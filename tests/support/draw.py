"""Draws a share of many cases by the commit: another one after each commit, so that in time all have their turn."""

import subprocess
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from tests.support.paths import REPOSITORY

T = TypeVar("T")


@cache
def commit() -> str:
    """Return the name of the commit, or '' outside of a repository."""
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def drawn(cases: Iterable[T], share: int, name: Callable[[T], str] = str, seed: str | None = None) -> list[T]:
    """Return one case of `share`, about; each is drawn by itself, so a new case changes nothing for the others.

    Args:
        cases: what to draw from.
        share: one of how many.
        name: tells a case from all others.
        seed: what decides; the commit, if it is not given.
    """
    seed = commit() if seed is None else seed
    return [case for case in cases if zlib.crc32(f"{seed} {name(case)}".encode()) % share == 0]
