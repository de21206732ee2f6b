"""Pictures and numbers of the class report count each student once."""

from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from grader.commands.report.model import ClassReport, ExerciseStatistics, Student
from grader.commands.report.page.charts import MOST_COLUMNS, exercise_columns, hand_in_columns, point_columns
from grader.commands.report.page.overview import class_summary, findings
from tests.commands.report.fakes import fake_report
from tests.commands.report.pages import SIZES


def test_numbers_at_a_glance() -> None:
    """They count students, not submissions or points."""
    report = fake_report(40, **SIZES)
    class_ = msgspec.structs.replace(
        report,
        made="2026-03-09T10:00:00+00:00",
        missing=["zoe"],
        students=[
            Student("ann", 10, 10, "2026-03-01T10:00:00+00:00", needs_marking=2),
            Student("bob", 4, 10, "2026-03-08T08:00:00Z", seconds_late=60.0, needs_marking=1),
            Student("cat", 6, 10),
        ],
    )
    seen = class_summary(class_)
    assert (seen.handed_in, seen.roster, seen.late, seen.full) == (3, 4, 1, 1)
    assert (seen.half, seen.half_of, seen.is_complete) == (6, 10, True)
    assert (seen.waiting_answers, seen.waiting_students, seen.oldest) == (3, 2, "8 days")


def test_only_known_points_count_at_a_glance() -> None:
    """A student whose answers wait is compared by what is known; shares are compared if other points are known."""
    report = fake_report(40, **SIZES)

    def seen(*students: Student) -> tuple[float, float | None, int, bool]:
        found = class_summary(msgspec.structs.replace(report, students=list(students)))
        return found.half, found.half_of, found.full, found.is_complete

    waits = [Student(name, points, 10, waiting_max_points=2.0) for name, points in (("ann", 8), ("bob", 4), ("cat", 6))]
    assert seen(*waits) == (6, 8, 1, False)
    assert seen(*waits, Student("dan", 1, 10), Student("eve", 0, 10)) == (0.5, None, 1, False)
    unknown = Student("fay", 0, 10, waiting_max_points=10.0)
    assert seen(unknown) == (0, 0, 0, False) and seen(*waits, unknown) == (0.75, None, 1, False)
    again = Student("gus", 9.5, 10, waiting_points=1.5, waiting_max_points=2.0)
    assert seen(again) == (8, 8, 1, False)


def test_what_to_look_at_first_is_what_costs_most() -> None:
    """The dearest mistake and the largest group are named, each with its section."""
    report = fake_report(40, **SIZES)
    first = {finding.section: finding.text for finding in findings(report)}
    dearest = max(report.mistakes, key=lambda each: each.cost)
    assert f"`{dearest.exercise}`" in first["mistakes"] and f"{dearest.cost:g} point" in first["mistakes"]
    assert f"{max(len(group.students) for group in report.groups)} student" in first["groups"]
    assert list(findings(ClassReport("x", "", "", *([] for _ in range(10))))) == []


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.1 * step for step in range(11)]), max_size=50))
def test_a_distribution_counts_each_student_once(shares: list[float]) -> None:
    """Those with all points have a column of their own, and so have blank answers of an exercise."""
    all_points = sum(share > 1 - 1e-9 for share in shares)
    whole = point_columns(shares)
    assert sum(column.count for column in whole) == len(shares) and whole[-1].count == all_points
    blank = sum(share == 0 for share in shares) // 2
    parts = exercise_columns(ExerciseStatistics("one", "small", 10.0, shares, blank))
    assert sum(column.count for column in parts) == len(shares)
    assert (parts[0].count, parts[-1].count) == (blank, all_points)


def test_a_share_is_in_the_column_that_its_label_says() -> None:
    """Seven of ten points are 70 percent, although 0.7 * 10 is less than 7 for a computer."""
    labels = [column.label for column in point_columns([0.7, 0.699, 0.0, 1.0]) if column.count]
    assert labels == ["0–9", "60–69", "70–79", "100"]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30), st.sampled_from([3e3, 3e5, 3e6, 1e8])
)
def test_times_of_hand_in_fit_into_one_picture(places: list[tuple[float, bool]], spread: float) -> None:
    """Hours or years apart, each student is in one column, early ones first, and late ones are apart."""
    begin = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
    students = [
        Student(str(number), 1, 1, (begin + timedelta(seconds=spread * place)).isoformat(), float(is_late))
        for number, (place, is_late) in enumerate(places)
    ]
    columns = hand_in_columns(ClassReport("x", "", "", students, *([] for _ in range(9))))
    assert sum(column.count for column in columns) == len(students) and 1 <= len(columns) <= MOST_COLUMNS + 1
    assert sum(dict(column.parts)["hatched"] for column in columns) == sum(is_late for _, is_late in places)
    assert columns[0].count and columns[-1].count
