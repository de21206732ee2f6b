"""Writes the report: a page for people, JSON and CSV files for programs.

ClassReport --> index.html
            --> report.json, students.csv, exercises.csv, tests.csv, mistakes.csv, groups.csv, pairs.csv, incidents.csv
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from grader.classroom.students.csv_files import as_csv
from grader.commands.report.model import ClassReport, ExerciseStatistics, StudentIndex
from grader.commands.report.page.overview import remarks, sentence
from grader.commands.report.page.page import page
from grader.engine.view import relabelled
from grader.files import replace_file

PAGE = "index.html"

Row = Sequence[str | float | None]


def write_files(report: ClassReport, folder: Path, labels: Mapping[str, str]) -> Path:
    """Write the page and the files of a report, each atomically, and return the path of the page.

    Args:
        report: the report.
        folder: where to write; it is created if it does not exist.
        labels: what the page shows in the place of names that nbgrader made up; the other files keep these.
    """
    for name, content in data_files(report).items():
        replace_file(folder / name, content)
    # The page comes last: once it reloads itself, the other files are as new.
    replace_file(folder / PAGE, relabelled(page(report), labels))
    return folder / PAGE


def data_files(report: ClassReport) -> dict[str, bytes]:
    """Return the contents of the files for programs, by name, in UTF-8.

    Args:
        report: the report. Times are in ISO 8601 and UTC; a missing value is an empty cell.
    """
    tables = {
        "students": _students(report),
        "exercises": _exercises(report.exercises),
        "tests": _tests(report),
        "mistakes": _mistakes(report),
        "groups": _groups(report),
        "pairs": _pairs(report),
        "incidents": _incidents(report),
    }
    return {"report.json": msgspec.json.encode(report)} | {
        f"{name}.csv": as_csv(rows).encode() for name, rows in tables.items()
    }


def _students(report: ClassReport) -> Iterator[Row]:
    names = [exercise.name for exercise in report.exercises]
    head = ["student", "points", "max_points", "handed_in", "seconds_late", "penalty", "needs_marking"]
    yield [*head, "known_points", "known_max_points", "remarks", *names]
    for student in report.students:
        points = {each.exercise: each.points for each in student.exercises}
        yield [
            student.name, student.points, student.max_points, student.handed_in, student.seconds_late, student.penalty,
            student.needs_marking, student.known_points, student.known_max_points, remarks(student),
            *map(points.get, names),
        ]  # fmt: skip
    for name in report.missing:
        yield [name, *[None] * 8, "not handed in", *[None] * len(names)]


def _exercises(exercises: list[ExerciseStatistics]) -> Iterator[Row]:
    yield ["exercise", "notebook", "max_points", "handed_in", "mean_share", "blank", "marked_by_a_person", "waiting"]
    for each in exercises:
        mean, is_question = each.mean, _yes(each.is_question)
        yield [each.name, each.notebook, each.max_points, each.handed_in, mean, each.blank, is_question, each.waiting]


def _tests(report: ClassReport) -> Iterator[Row]:
    head = ["test", "exercise", "notebook", "max_points", "tried", "passed"]
    yield [*head, "failed_alone", "discrimination", "cost", "set_by_a_person", "notes"]
    for test in report.tests:
        yield [
            test.name, test.exercise, test.notebook, test.max_points, test.tried, test.passed, test.failed_alone,
            test.discrimination, test.cost, test.by_person, " ".join(test.notes),
        ]  # fmt: skip


def _mistakes(report: ClassReport) -> Iterator[Row]:
    yield ["exercise", "notebook", "code_that", "students", "cost", "hint", "names"]
    for each in report.mistakes:
        names = _names(report, each.students)
        yield [each.exercise, each.notebook, sentence(each), len(each.students), each.cost, each.hint, names]


def _groups(report: ClassReport) -> Iterator[Row]:
    yield ["key", "exercise", "notebook", "students", "cost", "certain", "failed_tests", "names"]
    for each in report.groups:
        names = _names(report, each.students)
        yield [
            each.key, each.exercise, each.notebook, len(each.students), each.cost, _yes(each.is_certain),
            "; ".join(each.failed), names,
        ]  # fmt: skip


def _pairs(report: ClassReport) -> Iterator[Row]:
    yield ["left", "right", "score", "reasons"]
    for pair in report.pairs:
        yield [report.students[pair.left].name, report.students[pair.right].name, pair.score, " ".join(pair.reasons)]


def _incidents(report: ClassReport) -> Iterator[Row]:
    yield ["kind", "place", "detail", "students", "names"]
    for each in report.incidents:
        yield [each.kind, each.place, each.detail, len(each.students), _names(report, each.students)]


def _names(report: ClassReport, students: list[StudentIndex]) -> str:
    return "; ".join(report.students[index].name for index in students)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
