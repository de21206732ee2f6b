"""Runs `grader grade --changed`: grades, shows whose points would change and by which test, asks, and writes."""

import sys
from collections.abc import Iterable
from functools import partial

from rich.console import Console
from rich.progress import track

from grader.classroom.class_run import ClassRun
from grader.classroom.graders import Graders
from grader.classroom.page.page_maker import StudentResult
from grader.commands.grade.changes import limits_in_words, summary, tables
from grader.commands.grade.rehearsal import Rehearsal
from grader.text import INTERRUPTED, one_line

QUESTION = "Write these results? [y/N] "


def regrade(run: ClassRun, graders: Graders | None = None, *, yes: bool = False) -> int:
    """Grade a class, show what changes, and write the results if a person agrees.

    Args:
        run: how to grade it.
        graders: where; by default on this machine.
        yes: whether to write without asking.

    Returns:
        0 if everything that was handed in is graded and written, 1 if something is not, and 130 if Ctrl-C came before
        anything was written.
    """
    console = Console()
    shown = partial(track, console=console, transient=True, disable=not console.is_terminal)
    with Rehearsal(run) as rehearsal:
        try:
            students = run.student_count()
            errors = _errors(shown(rehearsal.graded(graders), f"grading {run.assignment}", students))
            for table in tables(run.assignment, rehearsal.changes):
                console.print(table)
            for line in (*limits_in_words(rehearsal.limits), summary(rehearsal.changes, students)):
                print(one_line(line))
            if not rehearsal.changes:
                print("there is nothing to write")
                return 1 if errors else 0
            if not yes and not _agrees():
                return 1
        except KeyboardInterrupt:
            print("grader: interrupted; nothing was written", file=sys.stderr)
            return INTERRUPTED
        count = len(rehearsal.changes)
        failures = _errors(shown(rehearsal.write(), "writing", count), errors)
    count -= len(failures)
    print(f"wrote the results of {count} student{'' if count == 1 else 's'}")
    return 1 if errors or failures else 0


def _errors(results: Iterable[StudentResult], known: dict[str, list[str]] | None = None) -> dict[str, list[str]]:
    """Return the errors of students, and print those that are not known."""
    found = {}
    for result in results:
        if result.errors and result.errors != (known or {}).get(result.student):
            found[result.student] = result.errors
    for student, errors in sorted(found.items()):
        print(one_line(f"{student}: {'; '.join(errors)}"))
    return found


def _agrees() -> bool:
    """Ask whether to write; say so if nothing is written."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("nothing was written, because no one can be asked here: add --yes to write without a question")
        return False
    try:
        answer = input(QUESTION)
    except EOFError:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    print("nothing was written")
    return False
