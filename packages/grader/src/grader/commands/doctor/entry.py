"""Defines the command `grader doctor`."""

import argparse
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.classroom.config import course_needs_torch, load_config
from grader.commands.shared import Command, start_up
from grader.engine.supervisor import forkserver
from grader.errors import GraderError
from grader.text import DISTRIBUTION, one_line

if TYPE_CHECKING:
    from rich.console import Group

    from grader.commands.doctor.examination import Examination, Protection, Torch


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the examination as JSON")


def _run(parsed: argparse.Namespace) -> int:
    needs_torch = None
    with suppress(GraderError):  # the doctor needs no course, and none whose configuration can be read
        needs_torch = course_needs_torch(Path.cwd(), load_config(Path.cwd()))
    with start_up():
        forkserver.prepare(needs_torch=needs_torch is not False)
        import msgspec
        from rich.console import Console

        from grader.commands.doctor.examination import examine

    examination = examine(needs_torch)
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(examination), indent=2))
    else:
        Console().print(summary(examination))
    return 0 if examination.grading else 1


def summary(examination: "Examination") -> "Group":
    """Return a table with a row for each protection, the urgent warnings, and whether grading will start."""
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("promise", overflow="fold")
    table.add_column("why not, and what to do", overflow="fold")
    for protection in examination.protections:
        table.add_row(Text(*_mark(protection)), protection.promise, Text(_advice(protection)))
    warnings = [
        Text(f"WARNING: not so here: {protection.promise}. {_advice(protection)}", "bold red")
        for protection in examination.protections
        if protection.urgent and not protection.holds
    ]
    above: list[RenderableType] = [table, Text(), *warnings] if examination.protections else []
    return Group(*above, Text(*_torch(examination.torch)), Text(*_verdict(examination)))


def _mark(protection: "Protection") -> tuple[str, str]:
    """Return the mark of a row and its style."""
    if protection.holds:
        return "holds", "green"
    return ("FAILS", "bold red") if protection.required or protection.urgent else ("open", "yellow")


def _advice(protection: "Protection") -> str:
    return one_line(f"{protection.why}: {protection.to_do}" if protection.to_do else protection.why)


def _torch(torch: "Torch") -> tuple[str, str]:
    """Return the line about torch and its style."""
    there = f"torch {torch.version} is installed" if torch.version else "torch is not installed"
    if torch.is_needed is None:
        return f"{there}.", ""
    if torch.is_needed and not torch.version:
        return f"{there}, and this course needs it: pip install '{DISTRIBUTION}[torch]'", "bold red"
    return f"{there}, and this course {'uses it' if torch.is_needed else 'does without'}.", ""


def _verdict(examination: "Examination") -> tuple[str, str]:
    """Return the last line and its style."""
    if not examination.grading:
        return f"Grading will not start: {one_line(examination.error)}", "bold red"
    count = sum(not protection.holds for protection in examination.protections)
    rest = f" {count} of the further protections are open." if count else ""
    return f"Grading will start: student code is confined.{rest}", "bold green"


COMMANDS = (Command("doctor", "try out how well this machine confines student code", _options, _run),)
