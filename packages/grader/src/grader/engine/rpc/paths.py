"""Hides where the grader lives on its machine: texts for students hold no path of its folders.

A module is named from its package on, a student's own file from the scratch folder on, and the home folder is `~`:

    /home/grader/.venv/lib/python3.11/site-packages/torch/nn/functional.py  ->  torch/nn/functional.py
    /tmp/grader-x2b1/scratch/notes.txt                                      ->  notes.txt
"""

import os
import re
import sys
from functools import cache
from pathlib import Path

HOME = os.path.expanduser("~")
"""The home folder of the account, which a confined process cannot look up."""

_scratch: list[str] = []


def hide(*folders: Path) -> None:
    """Hide the scratch folder and that of the assignment's files, too, from now on.

    Args:
        folders: their paths; the folder above each has a name of its own.
    """
    _scratch[:] = [str(path) for folder in folders for path in (folder, folder.parent)]
    _hidden.cache_clear()
    _hidden()


def without_paths(text: str) -> str:
    """Return `text` with paths of the grader's folders shortened as above."""
    return _hidden().sub(_shortened, text)


@cache
def _hidden() -> re.Pattern[str]:
    """Return a pattern of the folders, each with the slash that follows it; the longest come first."""
    homes = {HOME, os.path.realpath(HOME)}
    # A folder of the system, /usr say, tells nothing, and as a part of other texts it would be hidden by mistake.
    installations = {path for path in (sys.prefix, sys.base_prefix) if not path.startswith("/usr")}
    folders = {*_scratch, *sys.path, *installations}
    folders |= {os.path.realpath(folder) for folder in folders if folder}
    names = {folder.rstrip("/") for folder in folders if folder.count("/") > 1} | {
        home.rstrip("/") for home in homes
    } - {""}
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"({either})(?:(/)|(?![\w-]|\.\w))")


def _shortened(found: re.Match[str]) -> str:
    folder, slash = found.groups(default="")
    if folder in (HOME, os.path.realpath(HOME)):
        return f"~{slash}"
    return "" if slash else "."
