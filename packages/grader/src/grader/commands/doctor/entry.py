"""The command `grader doctor`."""

import argparse
import json

import msgspec
from rich.console import Console

from grader.commands.shared import Command, start_up
from grader.engine.supervisor import forkserver


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the examination as JSON")


def _run(parsed: argparse.Namespace) -> int:
    with start_up():
        forkserver.prepare()
        from grader.commands.doctor.examination import examine
        from grader.commands.doctor.screen import screen

    examination = examine()
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(examination), indent=2))
    else:
        Console().print(screen(examination))
    return 0 if examination.grading else 1


COMMANDS = (Command("doctor", "try out how well this machine confines student code", _options, _run),)
