"""The commands `grader import` and `grader export`."""

import argparse
import os
from functools import partial
from pathlib import Path

from grader.commands.shared import Command, note
from grader.text import plural


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "archive", type=Path, metavar="ARCHIVE",
        help="zip archive of an assignment's submissions, or of one student; or a folder, such as submitted/, or a "
        "single notebook"
    )  # fmt: skip
    parser.add_argument("--assignment", required=True, metavar="NAME", help="the assignment in source/")
    parser.add_argument(
        "--for", dest="platform", choices=("canvas", "moodle"), default="",
        help="the platform of the archive (default: its file names identify it)"
    )  # fmt: skip
    parser.add_argument(
        "--worksheet", type=Path, metavar="FILE",
        help="Moodle's grading worksheet, with the students' addresses and submission times"
    )  # fmt: skip
    parser.add_argument(
        "--time-zone", default="", metavar="ZONE", help="time zone of the worksheet, such as Europe/Berlin"
    )
    parser.add_argument("--student", default="", metavar="NAME", help="the student whose files all of these are")
    parser.add_argument("--replace", action="store_true", help="also replace submissions that may be newer")


def _import(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.commands.lms.zip_collect import LmsExtractorPlugin

    course_dir, name = CourseDir(Path.cwd()), parsed.assignment
    plugin = LmsExtractorPlugin(platform=parsed.platform, time_zone=parsed.time_zone, replace=parsed.replace)
    plugin.worksheet = str(parsed.worksheet or "")
    taken = plugin.take(course_dir, name, [parsed.archive], partial(course_dir.handed_in, name), note, parsed.student)
    place = os.path.relpath(course_dir.folder("submitted", name, "STUDENT"))
    print(
        f"{plural(taken.notebooks, 'notebook')} of {plural(taken.students, 'student')} written to {place}/, "
        f"{plural(taken.unchanged, 'student')} unchanged"
    )
    return 0 if taken.is_complete else 1


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("assignment", nargs="+", metavar="ASSIGNMENT")
    parser.add_argument(
        "--for", dest="platform", choices=("canvas", "moodle", "csv"), required=True, help="the program that reads them"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: grades.csv or grades-PLATFORM.csv")
    parser.add_argument(
        "--template", type=Path, metavar="FILE",
        help="Canvas's gradebook, or Moodle's grading worksheet, as downloaded there, whose cells are filled in"
    )  # fmt: skip
    parser.add_argument(
        "--column", action="append", default=[], metavar="TITLE",
        help="the assignment's title in Canvas, if it differs from its name (one for each assignment, in order)"
    )  # fmt: skip
    parser.add_argument("--comments", action="store_true", help="for Moodle, also write the points of each notebook")
    parser.add_argument("--unmarked", action="store_true", help="include students whose answers still need marking")
    parser.add_argument(
        "--outdated", action="store_true",
        help="include students who were graded before source/, the limits or the rule for late work changed"
    )  # fmt: skip


def _export(parsed: argparse.Namespace) -> int:
    from grader.classroom.course_dir import CourseDir
    from grader.classroom.record.catch_up import catch_up
    from grader.commands.lms.export import EXPORTS

    plugin = EXPORTS[parsed.platform](
        assignment=parsed.assignment,
        column=parsed.column,
        comments=parsed.comments,
        unmarked=parsed.unmarked,
        outdated=parsed.outdated,
    )
    plugin.to, plugin.template = str(parsed.output or plugin.to), str(parsed.template or "")
    course_dir = CourseDir(Path.cwd())
    catch_up(course_dir)
    with course_dir.gradebook() as gradebook:
        print(plugin.write(course_dir, gradebook, note))
    return 1 if plugin.older and not parsed.outdated else 0


COMMANDS = (
    Command("import", "put the submissions in archives or folders into submitted/", _import_options, _import),
    Command("export", "write grades for Canvas, Moodle or a spreadsheet", _export_options, _export),
)
