"""The files of the class report hold what the page shows, for programs and spreadsheets."""

import csv
import io
from copy import deepcopy
from pathlib import Path

import msgspec
import pytest

from grader.commands.report.files import data_files, write_files
from grader.commands.report.model import ClassReport
from tests.commands.report.fakes import fake_report


@pytest.fixture(scope="module")
def report() -> ClassReport:
    """A class of 30 with a few of everything."""
    return fake_report(30, tests=9, exercises=3, mistakes=5, groups=4, pairs=3)


def table(report: ClassReport, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(data_files(report)[f"{name}.csv"].decode())))


def test_each_list_of_the_report_is_a_table(report: ClassReport) -> None:
    """It has one row for each thing, and one for a student who has not handed in; points not known are empty cells."""
    for name in ("exercises", "tests", "mistakes", "groups", "pairs", "incidents"):
        assert len(table(report, name)) == len(getattr(report, name)) > 0
    rows = table(report, "students")
    assert len(rows) == len(report.students) + len(report.missing)
    for row, student in zip(rows, report.students, strict=False):
        assert row["student"] == student.name and float(row["points"]) == student.points
        for each in student.exercises:
            assert row[each.exercise] == ("" if each.points is None else str(each.points))
    assert {row["remarks"] for row in rows if row["student"] in report.missing} == {"not handed in"}


def test_a_mistake_has_its_students_by_name(report: ClassReport) -> None:
    """Even if they are many: no name is cut off."""
    crowd = deepcopy(report)
    crowd.students *= 40
    crowd.mistakes[0].students = list(range(len(crowd.students)))
    row = table(crowd, "mistakes")[0]
    assert row["names"].split("; ") == [student.name for student in crowd.students]
    assert row["students"] == str(len(crowd.students)) and row["code_that"].startswith(crowd.mistakes[0].names[0])


def test_no_cell_is_a_formula_and_a_text_stays_in_its_line(report: ClassReport) -> None:
    """A name or a message may look like a formula; a number is still a number, even if it is negative."""
    hostile = deepcopy(report)
    hostile.tests[0].discrimination, hostile.mistakes[0].hint = -0.5, 'one,\ntwo "three"\r\n;four'
    assert table(hostile, "tests")[0]["discrimination"] == "-0.5"
    assert data_files(hostile)["mistakes.csv"].decode().count("\n") == len(report.mistakes) + 1
    assert table(hostile, "mistakes")[0]["hint"].split() == ["one,", "two", '"three"', ";four"]
    for text in ("=1+1", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1+1", '=HYPERLINK("http://x.test")'):
        hostile.students[0].name = hostile.incidents[0].detail = text
        assert table(hostile, "students")[0]["student"].lstrip().startswith("'")
        assert table(hostile, "incidents")[0]["detail"].lstrip().startswith("'")


def test_a_report_is_written_beside_its_page(report: ClassReport, tmp_path: Path) -> None:
    """Written again, it takes the place of the one before, and leaves nothing else in the folder."""
    write_files(fake_report(3), tmp_path / "reports" / "04-attention", {})
    page = write_files(report, tmp_path / "reports" / "04-attention", {})
    assert {path.name for path in page.parent.iterdir()} == {"index.html", *data_files(report)}
    assert report.students[-1].name in page.read_text()
    assert msgspec.json.decode((page.parent / "report.json").read_bytes(), type=ClassReport) == report
