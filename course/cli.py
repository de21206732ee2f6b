"""python -m course: release, grade, check and demo, run in a course folder as nbgrader is."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from traitlets import TraitError

from course.errors import CourseError
from course.grading import processes

if TYPE_CHECKING:
    from course.grading.class_run import ClassRun

# jsonschema, which nbformat brings, builds a grammar of web addresses out of this package: two seconds, for something
# that no schema of a notebook asks for. It does without where the package is not to be had.
sys.modules.setdefault("rfc3987_syntax", None)

# The classroom and what it brings (nbgrader, SQLAlchemy) are imported where they are used: so --help is quick, and the
# fork server loads its part meanwhile.


STOPPED = 130
"""The exit status of who was interrupted, as a shell has it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns 0 when all of it was done, 1 when something was not, with a line saying what."""
    parsed = _parser().parse_args(arguments)
    try:
        return parsed.run(parsed)
    except CourseError as error:
        print(f"course: {error}", file=sys.stderr)
        return 1
    except TraitError as error:
        print(f"course: nbgrader_config.py cannot be used: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("course: stopped; `grade` goes on where it ended when it is run again", file=sys.stderr)
        return STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    release = commands.add_parser("release", help="write release/ from source/")
    release.add_argument("assignment", nargs="*", metavar="ASSIGNMENT", help="default: every assignment")
    release.set_defaults(run=_release)

    grade = commands.add_parser("grade", help="grade submitted/ into gradebook.db, autograded/ and feedback/")
    grade.add_argument("assignment", metavar="ASSIGNMENT")
    grade.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="grade only this student (may be repeated)"
    )
    grade.add_argument("--jobs", type=_jobs, default=0, metavar="N", help="submissions at a time (at most one a core)")
    grade.add_argument("--force", action="store_true", help="grade again what has not changed since it was graded")
    grade.add_argument("--no-sandbox", action="store_true", help="do not confine student code (only if you trust it)")
    grade.set_defaults(run=_grade)

    check = commands.add_parser("check", help="grade one notebook on its own and say what passed, with no gradebook")
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    check.add_argument("--no-sandbox", action="store_true", help="do not confine the notebook's code")
    check.set_defaults(run=_check)

    demo = commands.add_parser("demo", help="grade the class in examples/ in a course folder of its own, demo/")
    demo.set_defaults(run=_demo)
    return parser


def _jobs(number: str) -> int:
    if int(number) < 0:
        raise argparse.ArgumentTypeError(f"expected 1 or more, or 0 for one a core; got {number}")
    return int(number)


def _release(parsed: argparse.Namespace) -> int:
    from course.classroom import Classroom
    from course.release import release, release_start

    classroom = Classroom(Path.cwd())
    for assignment in parsed.assignment or classroom.assignments():
        release(classroom, assignment)
        print(f"released {os.path.relpath(classroom.folder('release', assignment))}")
    release_start(classroom)
    return 0


def _grade(parsed: argparse.Namespace) -> int:
    processes.prepare()
    from course.classroom import Classroom
    from course.grading.class_run import ClassRun

    classroom = Classroom(Path.cwd())
    sandbox = not parsed.no_sandbox
    return _grade_and_show(
        ClassRun(classroom, parsed.assignment, parsed.jobs, force=parsed.force, sandbox=sandbox, only=parsed.student)
    )


def _check(parsed: argparse.Namespace) -> int:
    processes.prepare()
    from course.classroom import Classroom
    from course.grading.check import check, shown

    # A student stands where the notebook lies.
    folders = (Path.cwd(), *parsed.notebook.resolve().parents)
    course = next((folder for folder in folders if (folder / "nbgrader_config.py").exists()), Path.cwd())
    checked = check(Classroom(course), parsed.notebook, sandbox=not parsed.no_sandbox)
    Console().print(shown(checked))
    report = checked.report
    return 0 if report.points == report.max_points else 1


def _demo(parsed: argparse.Namespace) -> int:
    processes.prepare()
    from course.classroom import Classroom
    from course.demo import prepare
    from course.grading.class_run import ClassRun

    folder, assignments = prepare(Path.cwd())
    for assignment in assignments:
        _grade_and_show(ClassRun(Classroom(folder), assignment))
    where, jupyter = os.path.relpath(folder), os.path.relpath(Path(sys.executable).with_name("jupyter"), folder)
    print(f"Feedback for each student: {where}/feedback/. To mark the written answers: cd {where} && {jupyter} lab")
    # That the class holds a notebook nobody can read is part of the show, not a failure of it.
    return 0


def _grade_and_show(run: "ClassRun") -> int:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from course.scores import scores, tables

    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    remarks, outcome = {}, 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"grading {run.assignment}", total=run.waiting())
        for graded in run.outcomes():
            progress.advance(task)
            remarks[graded.student] = "; ".join((*graded.troubles, *graded.remarks))
            outcome |= bool(graded.troubles)
    known = scores(run.classroom, run.assignment)
    shown = known.keys() & remarks.keys() if run.only else known.keys()
    for table in tables(run.assignment, {student: known[student] for student in shown}, remarks):
        console.print(table)
    return outcome
