"""Finds the course folder that a working folder belongs to, and knows which ones a person has agreed to run.

A configuration is a program, and so are tests: what comes with a stranger's folder runs only after a question. Folders
that were agreed to are lines in $XDG_STATE_HOME/grader/courses, or the same in ~/.local/state.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from grader.errors import GraderError
from grader_kernel.contract import state_file
from grader_kernel.owners import why_not_own

CONFIG_FILE = "nbgrader_config.py"
SOURCE = "source"
_FOLDER = Path(__file__).resolve().parents[2]
OWN = _FOLDER.parents[2] if _FOLDER.name == "src" else _FOLDER
"""The repository or folder of the grader itself: if it is a course, its programs are running already."""


def course_of(folder: Path) -> Path:
    """Return the course folder that the working folder belongs to: students work below it, beside a notebook.

    A configuration is code, so neither the notebook's path nor a file among the submissions decides which one runs.

    Args:
        folder: the working folder. It is returned if it belongs to no course.
    """
    courses = [path for path in (folder, *folder.parents) if (path / CONFIG_FILE).exists()]
    trusted = (path for path in courses if not any(course / "submitted" in path.parents for course in courses))
    return next(trusted, folder)


def is_known(course: Path) -> bool:
    """Return whether a person has agreed to run a course folder, and it is still only that person who may change it."""
    course = course.resolve()
    try:
        known = state_file("courses").read_bytes().split(b"\n")
    except OSError:
        known = []
    return course == OWN or (os.fsencode(course) in known and not _why_not_own(course))


def require_known(course: Path, *, trust: bool = False) -> None:
    """Return if the programs of a course folder may run: it is known, or a person agrees now, or has done so.

    Args:
        course: the course folder. One without a configuration runs no program.
        trust: whether the person has agreed in the command line, to a folder that others may change as well.

    Raises:
        GraderError: it has no source/, others may change it, a person does not agree, or no one can be asked.
    """
    course = course.resolve()
    if is_known(course) or not (course / CONFIG_FILE).exists():
        return
    if not trust:
        if not (course / SOURCE).is_dir():
            raise GraderError(
                f"a notebook is graded by its source, and {course} has none in {SOURCE}/: ask someone who has the "
                "sources to check it"
            )
        if why := _why_not_own(course):
            raise GraderError(
                f"{why}, and {CONFIG_FILE} and the tests in {SOURCE}/ are programs that would run as you: use a copy "
                "of your own, or add --trust if you trust all who may change it"
            )
        _ask(course)
    remember(course)


def remember(course: Path) -> None:
    """Note that a person has agreed to run a course folder; if the note cannot be written, the question comes again."""
    line, file = os.fsencode(course.resolve()), state_file("courses")
    if b"\n" in line:
        return  # it would be two lines, and the second one another folder
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as lines:
            lines.write(line + b"\n")


def _why_not_own(course: Path) -> str:
    """In words which part of a course folder others may change; '' if there is none."""
    for path in (course, course / CONFIG_FILE, course / SOURCE):
        with suppress(FileNotFoundError):
            if why := why_not_own(path.stat()):
                return f"{path} is not yours alone: {why}"
    return ""


def _ask(course: Path) -> None:
    """Return if a person agrees to run a course folder; otherwise raise GraderError."""
    programs = f"its {CONFIG_FILE} and the tests in {SOURCE}/ are programs that run as you"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise GraderError(
            f"{course} was not used before, and {programs}: if you trust whoever made them, run this once with --trust"
        )
    print(f"{course} was not used before, and {programs}.", file=sys.stderr)
    print("Do you trust whoever made them? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise GraderError(f"nothing of {course} was run: look at {CONFIG_FILE} and {SOURCE}/, or ask whoever made them")
