"""Shows an examination on one screen."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.commands.doctor.examination import Examination, Protection
from grader.text import one_line


def screen(examination: Examination) -> Group:
    """Return a table with a row for each protection, and a line that says whether grading will start."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("promise", overflow="fold")
    table.add_column("why not, and what to do", overflow="fold")
    for protection in examination.protections:
        table.add_row(_mark(protection), protection.promise, _advice(protection))
    urgent = [protection for protection in examination.protections if protection.urgent and not protection.holds]
    warnings = [Text(f"WARNING: not so here: {each.promise}. {_advice(each)}", "bold red") for each in urgent]
    above: list[RenderableType] = [table, Text(), *warnings] if examination.protections else []
    return Group(*above, _verdict(examination))


def _mark(protection: Protection) -> Text:
    if protection.holds:
        return Text("holds", "green")
    return Text("FAILS", "bold red") if protection.required or protection.urgent else Text("open", "yellow")


def _advice(protection: Protection) -> Text:
    return Text(one_line(f"{protection.why}: {protection.to_do}" if protection.to_do else protection.why))


def _verdict(examination: Examination) -> Text:
    if not examination.grading:
        return Text(f"Grading will not start: {one_line(examination.error)}", "bold red")
    count = sum(not protection.holds for protection in examination.protections)
    rest = f" {count} of the further protections are open." if count else ""
    return Text(f"Grading will start: student code is confined.{rest}", "bold green")
