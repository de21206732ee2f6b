"""Draws a share of many cases by the commit: another one after each commit, so that in time all have their turn.

python -m tests.support.draw 5 source/*/*.ipynb     prints a fifth of the files, at least one
"""

import re
import subprocess
import sys
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


def some(cases: Iterable[T], number: int, name: Callable[[T], str] = str) -> list[T]:
    """Return so many cases, drawn by the commit; arguments as of `drawn`."""
    return sorted(cases, key=lambda case: zlib.crc32(f"{commit()} {name(case)}".encode()))[:number]


def changed() -> set[str]:
    """Return the notebooks that changed in the day before the commit, and exercises with their mistakes and answers."""
    from tests.support.exercises import NOTEBOOKS, SOURCES  # it reads all notebooks

    git = ["git", "-C", str(REPOSITORY)]
    [time] = subprocess.run([*git, "log", "-1", "--format=%ct"], capture_output=True, text=True).stdout.split() or ["0"]
    log = [*git, "log", f"--since={int(time) - 24 * 3600}", "--format=", "--name-only"]
    files = set(subprocess.run(log, capture_output=True, text=True, check=False).stdout.splitlines())
    notebooks = [notebook for path, notebook in NOTEBOOKS.items() if str(path.relative_to(REPOSITORY)) in files]
    exercises = {exercise for exercise, notebook in SOURCES.items() if any(notebook is each for each in notebooks)}
    folders = (
        r"(?:source|release)/([^/]+/[^/]+\.ipynb)|source/.*/misconceptions/(.*)\.toml|tests/correct_answers/.*/(.*)/.*"
    )
    names = (re.fullmatch(folders, file) for file in files)
    return exercises | {str(name[name.lastindex or 0]) for name in names if name}


if __name__ == "__main__":
    share, *files = sys.argv[1:]
    print(*some(files, max(1, len(files) // int(share))))
