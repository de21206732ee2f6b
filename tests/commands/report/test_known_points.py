"""Before marking, a report counts what is known; it says whose points a person set."""

import csv
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from grader.classroom.course_dir import CourseDir
from grader.commands.report.command import ReportOptions, class_report, report
from grader.commands.report.model import ClassReport
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, released

ONES = "def one(x=1):\n    return 1"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A graded class whose written answers wait: ann and bob are right, and one hidden test fails cat and dan."""
    folder = make_course(tmp_path / "course")
    for student in ("ann", "bob", "cat", "dan"):
        wrong = {"one": ONES} if student in ("cat", "dan") else {}
        hand_in(folder, student, answered(released(folder), **RIGHT | wrong))
    grade_class(folder)
    return folder


def mark(folder: Path, cell: str, **points: float) -> None:
    """Give points to a cell of some students by hand."""
    with CourseDir(folder).gradebook() as gradebook:
        for student, given in points.items():
            grade = gradebook.find_grade(cell, "small", NAME, student)
            grade.manual_score, grade.needs_manual_grade = given, False
        gradebook.db.commit()


def words(folder: Path) -> str:
    """What the page says."""
    (page,) = report(CourseDir(folder), NAME, ReportOptions(output=folder / "out"))
    return " ".join(BeautifulSoup(page.read_text(), "html.parser").get_text(" ").split())


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of a file that was written with the page."""
    return list(csv.DictReader((folder / "out" / f"{name}.csv").read_text().splitlines()))


def why(made: ClassReport) -> tuple[list[float], float | None, int, int, int]:
    """What the report says of the question: shares, mean, and how many handed in, wait and wrote nothing."""
    (found,) = (each for each in made.exercises if each.name == "why")
    return found.shares, found.mean, found.handed_in, found.waiting, found.blank


@pytest.mark.slow
def test_what_waits_for_marking_counts_nowhere(course: Path) -> None:
    """Not in the median, the histogram and the shares; a blank is known. Once it is marked, all points count."""
    page = words(course)
    assert "half of them have at least 7 of 8 known points" in page
    assert "have all points that are known 2 of 4" in page and "Students by share of known points" in page
    assert "marked by a person (4 wait) small 2 – 0 0 0 0" in page
    assert why(class_report(CourseDir(course), NAME)) == ([], None, 4, 4, 0)
    known = [(row["points"], row["known_points"], row["known_max_points"]) for row in rows(course, "students")]
    assert known == [("8.0", "8.0", "8.0")] * 2 + [("6.0", "6.0", "8.0")] * 2
    question = rows(course, "exercises")[-1]
    assert (question["mean_share"], question["handed_in"], question["waiting"]) == ("", "4", "4")
    hand_in(course, "eve", answered(released(course), one=RIGHT["one"], two=RIGHT["two"]))
    grade_class(course)
    assert "half of them have at least 80% of their known points" in words(course)
    assert why(class_report(CourseDir(course), NAME)) == ([0], None, 5, 4, 1)
    mark(course, "why", ann=2)
    assert why(class_report(CourseDir(course), NAME)) == ([1, 0], 0.5, 5, 3, 1)
    mark(course, "why", bob=1, cat=0, dan=1)
    page = words(course)
    assert "half of them have at least 8 of 10 points" in page and "have all points 1 of 5" in page
    assert "known point" not in page and "points that are known" not in page
    assert why(class_report(CourseDir(course), NAME)) == ([1, 0.5, 0, 0.5, 0], 0.4, 5, 0, 1)


def test_a_mark_that_is_asked_for_again_is_not_known(course: Path) -> None:
    """The sum of the gradebook has it, as the exports do."""
    mark(course, "why", ann=2)
    hand_in(course, "ann", answered(released(course), **RIGHT | {"why": "It need not be."}))
    grade_class(course)
    ann = class_report(CourseDir(course), NAME).students[0]
    assert (ann.points, ann.max_points, ann.known_points, ann.known_max_points) == (10, 10, 8, 8)
    assert [(each.points, each.waiting) for each in ann.exercises] == [(3, 0), (5, 0), (None, 2)]


def test_points_that_a_person_set_are_told_apart(course: Path) -> None:
    """The test is judged by its own results, the cost by what counts, and no sentence of the test is shown for them."""
    (group,) = class_report(CourseDir(course), NAME).groups
    assert group.cost == 4 and group.example.message == "one(x) is x. one(3) is not 3."
    mark(course, "one-test-more", cat=1, dan=2)
    made = class_report(CourseDir(course), NAME)
    (group,) = made.groups
    assert group.students == [2, 3] and group.cost == 1 and group.example.message == ""
    (test,) = (each for each in made.tests if each.name == "one-test-more")
    assert (test.tried, test.passed, test.by_person, test.cost) == (4, 2, 2, 1)
    assert "A person set its points for 2 students." in words(course)
    assert rows(course, "tests")[1]["set_by_a_person"] == "2"
    assert [each.exercises[0].points for each in made.students] == [3, 3, 2, 3]
    anonymous = class_report(CourseDir(course), NAME, is_anonymous=True)
    assert anonymous.groups[0].cost == 1
