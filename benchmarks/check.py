"""Measures `grader check`, which a student runs again and again: `python -m benchmarks --only check`.

our notebook --without a daemon, as the first check, as the next ones, in turn--> seconds of the whole command
"""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import nbformat

from benchmarks.classes import PROGRAMS, REPOSITORY, environment
from grader.commands.check.protocol import IDLE_SECONDS
from grader.engine.notebook.folder.files import read_source
from grader.engine.notebook.outline import Outline

HEADING = "## One notebook, checked again and again"
NOTEBOOK = Path("04-attention", "1-vanilla-attention.ipynb")
ROUNDS = 3
NEXT = 5
"""Checks in each round that find the daemon."""


def table() -> str:
    """Return the part of the results, as Markdown."""
    source = read_source(REPOSITORY / "source" / NOTEBOOK, max_mb=20)
    submission = nbformat.read(REPOSITORY / "release" / NOTEBOOK, as_version=4)
    outline = Outline(source)
    for exercise in outline.coded:
        submission = Outline(submission).with_answer(exercise, outline.reference(exercise))
    rows: dict[str, list[float]] = {"without a daemon": [], "the first check, which starts it": [], "the next ones": []}
    alone, first, following = rows.values()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NOTEBOOK.name)
        nbformat.write(submission, path)
        for number in range(ROUNDS):
            private = Path(folder, str(number))  # where no daemon is yet
            private.mkdir(mode=0o700)
            alone.append(seconds(path, private, "--no-daemon"))
            first.append(seconds(path, private))
            following += [seconds(path, private) for _ in range(NEXT)]
    lines = [
        HEADING, "",
        f"`grader check` of {NOTEBOOK} with our answers, from the start of the command to its end.", "",
        "| | commands | median seconds | most |", "|---|" + "--:|" * 3,
        *(f"| {name} | {len(each)} | {statistics.median(each):.2f} | {max(each):.2f} |" for name, each in rows.items()),
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def seconds(path: Path, private: Path, *options: str) -> float:
    """Return the time that a check takes, in seconds.

    Args:
        path: the notebook.
        private: the folder of the daemon's socket. The daemon ends soon after the last check.
        options: options of the command.
    """
    variables = environment(**{"XDG_RUNTIME_DIR": str(private), IDLE_SECONDS: "5"})
    command = [os.fspath(PROGRAMS / "grader"), "check", str(path), *options]
    begin = time.perf_counter()
    subprocess.run(command, cwd=REPOSITORY, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin
