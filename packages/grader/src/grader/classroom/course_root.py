"""Finds the course folder that a working folder belongs to, and remembers the ones that a person trusts.

A configuration is a program, and so are tests, so those of an untrusted folder run only after a question. Trusted
folders are lines in $XDG_STATE_HOME/grader/courses, by default below ~/.local/state.
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
"""The grader's own repository or folder: if it is a course, its programs are running already."""


def course_of(folder: Path) -> Path:
    """Return the course folder that the working folder belongs to: students work below it, beside a notebook.

    A configuration is code, so neither the notebook's path nor a file among the submissions decides which one runs.

    Args:
        folder: the working folder, which is returned if it is not part of a course.
    """
    courses = [path for path in (folder, *folder.parents) if (path / CONFIG_FILE).exists()]
    trusted = (path for path in courses if not any(course / "submitted" in path.parents for course in courses))
    return next(trusted, folder)


def is_known(course: Path) -> bool:
    """Return whether a person trusts a course folder, and is still the only one who can change it."""
    course = course.resolve()
    try:
        known = state_file("courses").read_bytes().split(b"\n")
    except OSError:
        known = []
    return course == OWN or (os.fsencode(course) in known and not _why_not_own(course))


def require_known(course: Path, *, trust: bool = False) -> None:
    """Require that a person trusts the programs of a course folder, and ask if necessary.

    Args:
        course: the course folder; without a configuration, it runs no program.
        trust: whether the command line expresses trust, even in a folder that others can change.

    Raises:
        GraderError: it has no source/, others can change it, the person declines, or there is no terminal to ask in.
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
    """Remember that a person trusts a course folder; if that cannot be stored, the question comes again."""
    line, file = os.fsencode(course.resolve()), state_file("courses")
    if b"\n" in line:
        return  # it would be two lines, and the second a different folder
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as lines:
            lines.write(line + b"\n")


def _why_not_own(course: Path) -> str:
    """Return why others can change part of a course folder, or ''."""
    for path in (course, course / CONFIG_FILE, course / SOURCE):
        with suppress(FileNotFoundError):
            if why := why_not_own(path.stat()):
                return f"{path} is not yours alone: {why}"
    return ""


def _ask(course: Path) -> None:
    """Ask whether a person trusts a course folder; raise GraderError if not."""
    programs = f"its {CONFIG_FILE} and the tests in {SOURCE}/ are programs that run as you"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise GraderError(
            f"{course} has not been used before, and {programs}: if you trust whoever made them, "
            "run this once with --trust"
        )
    print(f"{course} has not been used before, and {programs}.", file=sys.stderr)
    print("Do you trust whoever made them? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise GraderError(f"nothing of {course} was run: look at {CONFIG_FILE} and {SOURCE}/, or ask whoever made them")
