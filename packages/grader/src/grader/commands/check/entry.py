"""Defines the command `grader check`, for a process that no daemon serves."""

import argparse
from pathlib import Path

from grader.classroom.course_root import course_of, require_known
from grader.commands.shared import Command, add_no_sandbox, prepare, start_up


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="a notebook, or a folder with notebooks")
    parser.add_argument("--exercise", metavar="NAME", help="only this exercise, and the cells before it")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--watch", action="store_true", help="check at every save, and show what has changed")
    shown.add_argument("--solution", metavar="EXERCISE", help="print our solution, once yours has all points")
    shown.add_argument("--json", action="store_true", help="print the report as JSON (report.schema.json)")
    parser.add_argument(
        "--no-daemon", action="store_true", help="neither use nor start the process that makes the next check fast"
    )
    add_no_sandbox(parser, "do not confine the notebook's code")
    parser.add_argument(
        "--trust", action="store_true", help="run the configuration and tests of a course folder that is new to you"
    )


def _run(parsed: argparse.Namespace) -> int:
    root = course_of(Path.cwd())
    require_known(root, trust=parsed.trust)
    with start_up():
        prepare(root)
        from grader.classroom.course_dir import CourseDir
        from grader.commands.check.console import CheckOptions, run

    options = CheckOptions(parsed.exercise, parsed.solution, parsed.watch, parsed.json, not parsed.no_sandbox)
    return run(CourseDir(root), parsed.notebook, options)


COMMANDS = (Command("check", "grade one notebook or a folder of them, without a gradebook", _options, _run),)
