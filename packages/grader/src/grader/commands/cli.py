"""Runs the command line: `grader release`, `grade`, `check`, `serve` and so on.

The options and the start of each command are in one file, in the command's own folder.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from traitlets import TraitError

from grader.classroom.course_root import CONFIG_FILE
from grader.commands import release
from grader.commands.backup import entry as backup
from grader.commands.check import entry as check
from grader.commands.cluster import entry as cluster
from grader.commands.doctor import entry as doctor
from grader.commands.extend import entry as extend
from grader.commands.feedback import entry as feedback
from grader.commands.grade import entry as grade
from grader.commands.lms import entry as lms
from grader.commands.mark import entry as mark
from grader.commands.prove import entry as prove
from grader.commands.report import entry as report
from grader.commands.requests import entry as requests
from grader.commands.roster import entry as roster
from grader.commands.serve import entry as serve
from grader.commands.shared import show
from grader.engine.supervisor.forkserver import skip_slow_imports
from grader.errors import GraderError
from grader.text import HOW_TO_CONTINUE, INTERRUPTED, one_line

ENTRIES = (
    *(release, grade, extend, mark, feedback, cluster, report, requests),
    *(check, serve, roster, lms, backup, prove, doctor),
)
COMMANDS = {command.name: command for command in chain.from_iterable(entry.COMMANDS for entry in ENTRIES)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Args:
        arguments: the command line without the program; by default, that of the process.

    Returns:
        0 if everything was done, 1 after an error, which is printed, and 130 after Ctrl-C.
    """
    skip_slow_imports()
    parsed = parser().parse_args(arguments)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except GraderError as error:
        show(error)
        return 1
    except TraitError as error:
        print(f"grader: {CONFIG_FILE} cannot be used: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(HOW_TO_CONTINUE, file=sys.stderr)
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; the name of the command is in `command`."""
    program = argparse.ArgumentParser(
        prog="grader", description="Release and grade the assignments of a course folder; run it in that folder."
    )
    commands = program.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        own = commands.add_parser(command.name, help=command.help)
        command.add_options(own)
        own.set_defaults(command=command.name)
    return program
