"""Defines the commands `grader roster` and `grader rename`."""

import argparse
from pathlib import Path

from grader.commands.shared import Command, note
from grader.errors import GraderError


def _roster_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "roster", type=Path, nargs="?", metavar="ROSTER",
        help="CSV file with nbgrader's columns (id, first_name, ...), Canvas's gradebook, or Moodle's participants"
    )  # fmt: skip
    parser.add_argument(
        "--id-column", default="", metavar="NAME",
        help="the column that holds the students' ids, which name their folders (default: the platform's login)"
    )  # fmt: skip
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--rename", nargs=2, metavar=("OLD", "NEW"),
        help="give a student another id, with all files, marks, hand-ins, the token and the history"
    )  # fmt: skip
    instead.add_argument(
        "--remove", metavar="NAME",
        help="take a student out of the gradebook and the service, and move the files into removed/"
    )  # fmt: skip


def _roster(parsed: argparse.Namespace) -> int:
    if sum(map(bool, (parsed.roster, parsed.rename, parsed.remove))) != 1:
        raise GraderError("grader roster takes one of these: a ROSTER file, --rename OLD NEW, or --remove NAME")
    if parsed.roster:
        from grader.classroom.course_dir import CourseDir
        from grader.classroom.students.roster import read_roster
        from grader.commands.roster.enrolment import put_students

        print(put_students(CourseDir(Path.cwd()), read_roster(parsed.roster, parsed.id_column), note))
        return 0
    from grader.commands.roster.renaming import remove_student, rename_student

    print(rename_student(Path.cwd(), *parsed.rename) if parsed.rename else remove_student(Path.cwd(), parsed.remove))
    return 0


def _rename_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="OLD", help="the assignment's current name")
    parser.add_argument("after", metavar="NEW", help="its new name")


def _rename(parsed: argparse.Namespace) -> int:
    from grader.commands.roster.renaming import rename_assignment

    for line in rename_assignment(Path.cwd(), parsed.before, parsed.after):
        print(line)
    return 0


COMMANDS = (
    Command(
        "roster", "add the students of a CSV file, or give one another id, or remove one", _roster_options, _roster
    ),
    Command("rename", "give an assignment another name, with all files, marks and history", _rename_options, _rename),
)
