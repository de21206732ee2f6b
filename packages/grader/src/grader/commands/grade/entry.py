"""Defines the command `grader grade`."""

import argparse
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from grader.commands.shared import (
    Command,
    add_anyway,
    add_jobs,
    add_no_sandbox,
    add_scheduler,
    console,
    note,
    prepare,
    require_dask,
    start_up,
)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="grade only this student (may be repeated)"
    )
    add_jobs(parser, "students")
    parser.add_argument("--force", action="store_true", help="also grade submissions that have not changed")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--changed", action="store_true", help="show whose points change and by which test, and ask before writing"
    )
    instead.add_argument(
        "--explain", metavar="STUDENT", help="print how this student's score came about, and grade nothing"
    )
    parser.add_argument("--yes", action="store_true", help="with --changed: write without asking")
    add_anyway(parser)
    add_no_sandbox(parser, "do not confine student code (only if you trust it)")
    add_scheduler(parser)


def _run(parsed: argparse.Namespace) -> int:
    if parsed.explain:
        return _explain(parsed)
    with start_up():
        if not parsed.scheduler:
            prepare(Path.cwd())
        from grader.classroom.class_run import ClassRun
        from grader.classroom.course_dir import CourseDir
        from grader.classroom.record.catch_up import catch_up
        from grader.commands.grade.console import grade_and_show, regrade

    course_dir = CourseDir(Path.cwd())
    catch_up(course_dir)
    sandbox = not parsed.no_sandbox
    run = ClassRun(
        course_dir,
        parsed.assignment,
        parsed.jobs,
        force=parsed.force,
        sandbox=sandbox,
        only=parsed.student,
        anyway=parsed.anyway,
    )
    grade: Callable[..., int] = partial(regrade, yes=parsed.yes) if parsed.changed else grade_and_show
    if not parsed.scheduler:
        return grade(run)
    run.student_count()  # an assignment that does not exist needs no cluster
    require_dask()
    from grader.commands.cluster.dask_graders import DaskGraders

    with closing(DaskGraders(parsed.scheduler, course_dir.config, note)) as graders:
        return grade(run, graders)


def _explain(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.grade.explain import explanation

    screen = console()
    for part in explanation(CourseDir(Path.cwd()), parsed.assignment, parsed.explain):
        screen.print(part)
    return 0


COMMANDS = (Command("grade", "grade submitted/ into gradebook.db, autograded/ and feedback/", _options, _run),)
