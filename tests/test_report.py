"""The published form of a report: what `grader check --json` prints, and the schema that describes it."""

import json

import jsonschema
import pytest

from grader.engine.explanation import Cause, Explanation
from grader.engine.grading import grade
from grader.engine.report import Report, Result, Verdict, report_schema
from grader.errors import SandboxUnavailable
from tests.support.notebooks import answered
from tests.support.paths import GRADER
from tests.support.small_class import RIGHT, SOURCE

SCHEMA = GRADER / "docs/report.schema.json"


@pytest.fixture(scope="module")
def report() -> Report:
    """A report with points, part of the points and none, with a hidden test, a log and a repair."""
    submission = answered(SOURCE, **RIGHT | {"one": "def one(x=1):\n    return 1", "two": "def two():\n    return 1"})
    del submission.cells[3]
    return grade(SOURCE, submission)


def test_the_schema_is_up_to_date() -> None:
    """report.schema.json is the schema of `Report.as_json`; a changed report needs a changed page."""
    schema = json.dumps(report_schema(), indent=2) + "\n"
    assert SCHEMA.read_text() == schema, f"write this to {SCHEMA}:\n{schema}"


def test_a_report_is_as_the_schema_says(report: Report) -> None:
    """The schema is a schema, and it holds for reports with all verdicts, and for one without any test."""
    schema = json.loads(SCHEMA.read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    results = [Result("test", "one", verdict, 0, 1, Explanation(cause=cause)) for verdict in Verdict for cause in Cause]
    every = Report(results, given_up=True)
    for some in (report, every, Report()):
        validator.validate(json.loads(json.dumps(some.as_json())))


def test_the_published_form_tells_what_students_may_know(report: Report) -> None:
    """Each test with verdict, points and message, and the repairs; no log and no output, which show hidden tests."""
    assert any(result.log for result in report.results) and report.outputs
    form = report.as_json()
    assert [(test["test"], test["verdict"], test["points"], test["max_points"]) for test in form["tests"]] == [
        ("one-check", "passed", 1, 1),
        ("one-test-more", "failed", 0, 2),
        ("two-check", "failed", 2.5, 5),
    ]
    assert (form["format"], form["points"], form["max_points"], form["given_up"]) == (1, 3.5, 8, False)
    assert (
        form["tests"][1]["message"] == report.results[1].message
        and form["repairs"] == [*map(str, report.repairs)] != []
    )
    assert "assert one(3)" not in json.dumps(form)


def test_only_a_confined_report_is_a_score() -> None:
    """A test that ran unconfined, or not at all because its sandbox could not be confined, gives its reason."""
    ended = Result("other", "other", Verdict.CRASHED, 0, 1, Explanation("", Cause.STOPPED, "it ended"))
    Report([Result("test", "test", Verdict.PASSED, 1, 1), ended]).require_confined()
    why = Explanation("", Cause.STOPPED, "no Landlock here")
    unconfined = Report([Result("test", "test", Verdict.NOT_CONFINED, 0, 1, why)])
    with pytest.raises(SandboxUnavailable, match="no Landlock here"):
        unconfined.require_confined()
