"""The command `grader report`."""

import argparse
import os
from pathlib import Path

from grader.commands.shared import Command, note, prepare


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument("--anonymous", action="store_true", help="numbers in place of names")
    parser.add_argument("--follow", action="store_true", help="rewrite it when new results arrive, until Ctrl-C")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="where to write (default: reports/ASSIGNMENT)")
    parser.add_argument(
        "--draft-mistake", metavar="KEY",
        help="print an entry for misconceptions/ that behaves like this unnamed group of the report"
    )  # fmt: skip


def _run(parsed: argparse.Namespace) -> int:
    if parsed.draft_mistake:
        prepare(Path.cwd())
    from grader.classroom.course_dir import CourseDir
    from grader.commands.report.command import ReportOptions, draft_mistake, report

    course_dir = CourseDir(Path.cwd())
    if parsed.draft_mistake:
        print(draft_mistake(course_dir, parsed.assignment, parsed.draft_mistake), end="")
        return 0
    options = ReportOptions(parsed.anonymous, parsed.follow, parsed.output)
    for page in report(course_dir, parsed.assignment, options, note):
        print(f"wrote {os.path.relpath(page)}", flush=True)
    return 0


COMMANDS = (Command("report", "write what a class understood, and what not, into reports/", _options, _run),)
