"""release/AGENTS.md, which makes a programming assistant a tutor, is true of the report that it reads."""

import json
import re

import jsonschema
import pytest

from grader.engine import view
from grader.engine.notebook.cells import CellType, type_of
from grader.engine.report import report_schema
from tests.support.exercises import OUTLINES, misconceptions_of, reference
from tests.support.judge import Judge
from tests.support.paths import GRADER, REPOSITORY

TUTOR = (REPOSITORY / "source" / "AGENTS.md").read_text()
TOLD = ["vanilla-attention", "split-heads"]
LONG = 30
"""Characters above which a line of a hidden test is its own, and not a line that any program might have."""


def fields() -> list[str]:
    """The fields in the first column of the table."""
    table = TUTOR[TUTOR.index("| field |") :].split("\n\n")[0]
    return [row.split("|")[1].strip().strip("`") for row in table.splitlines()[2:]]


def at(schema: dict, path: str, whole: dict) -> dict:
    """The part of a JSON Schema that describes a field such as `exercises[].state.word`."""
    for step in path.split("."):
        name = step.removesuffix("[]")
        schema = schema["properties"][name]
        schema = schema["items"] if step.endswith("[]") else schema
        reference = schema.get("$ref") or next((each["$ref"] for each in schema.get("anyOf", []) if "$ref" in each), "")
        schema = whole["$defs"][reference.split("/")[-1]] if reference else schema
    return schema


@pytest.mark.parametrize("field", fields())
def test_each_field_that_the_tutor_reads_is_in_the_report(field: str) -> None:
    """The table names fields of report.schema.json, and what it says of a reason names fields of a reason."""
    whole = report_schema()
    found = at(whole["$defs"]["PublishedReport"], field, whole)
    row = next(line for line in TUTOR.splitlines() if line.startswith(f"| `{field}`"))
    if field.endswith("[]"):
        assert set(re.findall(r"`(\w+)`", row)) <= set(found["properties"])


def test_the_tutor_knows_each_state() -> None:
    """The words for the states of an exercise are those of the report."""
    row = next(line for line in TUTOR.splitlines() if "state.word" in line)
    states = {each.word for each in vars(view).values() if isinstance(each, view.ExerciseState)}
    assert set(re.findall(r'"([^"]+)"', row)) == states


@pytest.mark.slow
@pytest.mark.parametrize("exercise", TOLD)
def test_the_report_tells_a_tutor_nothing_hidden(judge: Judge, exercise: str) -> None:
    """For each known mistake it holds no line of a hidden test, and none of the solution that the student lacks."""
    source = OUTLINES[exercise].notebook
    parts = [
        cell.source.partition("### BEGIN HIDDEN TESTS")[::2] for cell in source.cells if type_of(cell) is CellType.TEST
    ]
    shown = "\n".join(
        [first for first, _ in parts] + [cell.source for cell in source.cells if type_of(cell) is not CellType.TEST]
    )
    hidden = {line.strip() for _, rest in parts for line in rest.splitlines() if len(line.strip()) > LONG}
    solution = {line.strip() for line in reference(exercise).splitlines() if len(line.strip()) > LONG}
    assert hidden - set(shown.splitlines()) and solution
    for mistake in misconceptions_of(exercise):
        answer = mistake.apply(reference(exercise))
        report = judge.on_its_own(exercise, answer)
        told = report.as_json()
        jsonschema.validate(told, json.loads((GRADER / "docs/report.schema.json").read_text()))
        text = json.dumps(told, ensure_ascii=False)
        secret = {line for line in hidden if line not in shown} | {line for line in solution if line not in answer}
        assert [line for line in secret if line in text or json.dumps(line)[1:-1] in text] == []
        assert report.points < report.max_points
