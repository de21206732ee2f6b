"""Tests are judged by the class: what all or none pass, and what good students fail more often, stands out."""

import pytest

from grader.classroom.page.result_files import VERSION, NotebookRecord
from grader.commands.report import model
from grader.commands.report.item_analysis import ALL_PASS, FAILED_ALONE, NONE_PASS, REVERSED, analysed_tests, exercises
from grader.commands.report.load import AssignmentOutline, ClassData
from grader.commands.report.model import ExercisePoints, ExerciseStatistics, Student
from grader.commands.report.page.overview import outstanding
from grader.engine.report import Result, Verdict

MOST = {"easy": 2.0, "hard": 2.0, "odd": 2.0, "fair": 8.0}


def of_class(rows: list[dict[str, float]], blank: int = 0) -> ClassData:
    """A class with one exercise: the points of each student in each test, and some students who wrote nothing."""
    one = ExerciseStatistics("one", "small", sum(MOST.values()), [])
    outline = AssignmentOutline({}, {"one": one}, dict.fromkeys(MOST, "one"))
    students, records = [], []
    for number, row in enumerate([*rows, *[dict.fromkeys(MOST, 0.0)] * blank]):
        is_written = number < len(rows)
        points = [ExercisePoints("one", sum(row.values()), sum(MOST.values()), is_written)]
        students.append(Student(f"student{number}", sum(row.values()), sum(MOST.values()), exercises=points))
        results = [
            Result(name, "one", Verdict.PASSED if row[name] == most else Verdict.FAILED, row[name], most)
            for name, most in MOST.items()
        ]
        records.append({"small": NotebookRecord(VERSION, results, {})})
    return ClassData(outline, students, records, [[] for _ in students], [{} for _ in students], [], [], None)


def by_name(data: ClassData) -> dict[str, model.TestStatistics]:
    """The tests by name."""
    return {test.name: test for test in analysed_tests(data)}


def test_what_stands_out_is_said() -> None:
    """Good students pass the fair test and fail the odd one; all pass the easy one, none the hard one."""
    rows = [
        {"easy": 2.0, "hard": 0.0, "odd": 2.0 * (number < 10), "fair": 8.0 * (number >= 10)} for number in range(20)
    ]
    found = by_name(of_class(rows, blank=3))
    assert {name: test.notes for name, test in found.items()} == {
        "easy": [ALL_PASS], "hard": [NONE_PASS], "odd": [REVERSED], "fair": [REVERSED],
    }  # fmt: skip
    assert found["odd"].discrimination is not None and abs(found["odd"].discrimination + 1) < 1e-9
    assert found["easy"].discrimination is found["hard"].discrimination is None
    assert [(test.tried, test.passed, test.cost) for test in found.values()] == [
        (20, 20, 0.0), (20, 0, 40.0), (20, 10, 20.0), (20, 10, 80.0),
    ]  # fmt: skip


def test_a_few_students_prove_nothing() -> None:
    """Nothing is said of a test that nine tried, nor of a weak correlation that chance may have made."""
    assert not any(test.notes for test in analysed_tests(of_class([dict(MOST)] * 9)))
    points = [(2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (0.0, 2.0), (2.0, 0.0), (0.0, 0.0), (2.0, 2.0), (0.0, 2.0)] * 2
    rows = [MOST | {"odd": odd, "hard": hard} for odd, hard in points]
    weak = by_name(of_class(rows))
    assert weak["odd"].discrimination is not None and -0.5 < weak["odd"].discrimination < -0.1
    assert REVERSED not in weak["odd"].notes


def failing(alone: int, with_others: int, right: int) -> ClassData:
    """A class in which so many students fail the odd test alone, so many all tests, and so many none."""
    return of_class([MOST | {"odd": 0.0}] * alone + [dict.fromkeys(MOST, 0.0)] * with_others + [dict(MOST)] * right)


@pytest.mark.parametrize(
    ("alone", "with_others", "right", "is_flagged"),
    [
        (10, 4, 14, True),  # 14 of 28 fail it, and 10 of these pass everything else
        (2, 0, 10, True),
        (1, 0, 19, False),  # one student proves nothing
        (2, 0, 28, False),  # nor do two of many: every test finds a few
        (4, 6, 18, False),  # most of those who fail it fail other tests, too
        (5, 0, 4, False),  # too few students tried it
        (0, 14, 14, False),
        (0, 0, 28, False),
    ],
)
def test_a_test_that_students_fail_alone_is_flagged(alone: int, with_others: int, right: int, is_flagged: bool) -> None:
    """Such a test may be stricter than its exercise, which its discrimination does not show."""
    found = by_name(failing(alone, with_others, right))
    assert found["odd"].failed_alone == alone and not any(found[name].failed_alone for name in MOST if name != "odd")
    assert (FAILED_ALONE.format(alone) in found["odd"].notes) == is_flagged
    assert [test.name for test in outstanding(list(found.values()))] == (["odd"] if is_flagged else [])


def test_the_only_test_of_an_exercise_is_failed_by_no_one_alone() -> None:
    """There is no other test to pass, and one without points does not count."""
    data = failing(10, 4, 14)
    for records in data.records:
        tests = records["small"].tests
        tests[:] = [test for test in tests if test.name in ("odd", "easy")]
        tests[0].points = tests[0].max_points = 0.0
    assert by_name(data)["odd"].failed_alone == 0


def test_shares_are_those_of_all_who_handed_in() -> None:
    """A blank has no points, and counts."""
    (exercise,) = exercises(of_class([dict(MOST), MOST | {"fair": 1.0}], blank=1))
    assert exercise.shares == [1.0, 0.5, 0.0] and exercise.blank == 1
