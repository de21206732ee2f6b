"""Works out what the page says in numbers and words, from the report: the class at a glance, where to look first, rows.

ClassReport --glance, findings, outstanding--> the top of the page
            --row-----------------------------> the table of students, the same in CSV
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from grader.commands.report.model import (
    ClassReport,
    ExercisePoints,
    ExerciseStatistics,
    Mistake,
    Student,
    TestStatistics,
)
from grader.text import plural, span

ALL = 1 - 1e-9
"""The share of points from which an answer has all of them, up to rounding."""


@dataclass(frozen=True)
class ClassSummary:
    """The class in numbers; `oldest` is a span of time.

    `waiting_answers` of `waiting_students` wait for marking, and the oldest of them was handed in `oldest` ago.
    """

    handed_in: int
    roster: int
    late: int
    full: int
    waiting_answers: int
    waiting_students: int
    oldest: str


@dataclass(frozen=True)
class Finding:
    """One sentence on where to look first, and the id of the section that says more."""

    place: str
    words: str


def class_summary(report: ClassReport) -> ClassSummary:
    """Return the class in numbers."""
    students = report.students
    waiting = [student for student in students if student.needs_marking]
    made = moment(report.made)
    ages = [(made - time).total_seconds() for each in waiting if made and (time := moment(each.handed_in))]
    return ClassSummary(
        handed_in=len(students),
        roster=len(students) + len(report.missing),
        late=sum(student.seconds_late > 0 for student in students),
        full=sum(share(student) >= ALL for student in students),
        waiting_answers=sum(student.needs_marking for student in waiting),
        waiting_students=len(waiting),
        oldest=span(max(ages)) if ages else "",
    )


def half(students: list[Student]) -> float:
    """Return the points that half of the students have at least."""
    return median(student.points for student in students) if students else 0.0


def max_points(students: list[Student]) -> float:
    """Return the points that students can have."""
    return max((student.max_points for student in students), default=0.0)


def share(student: Student) -> float:
    """Return a student's share of all points, 0 to 1."""
    return student.points / student.max_points if student.max_points else 0.0


def findings(report: ClassReport) -> Iterator[Finding]:
    """Yield where to look first, one sentence for each section that has something."""
    if report.mistakes:
        worst = max(report.mistakes, key=lambda mistake: mistake.cost)
        yield Finding(
            "mistakes",
            f"The known mistake that costs most is in `{worst.exercise}`: code that {sentence(worst)}."
            f" {plural(len(worst.students), 'student')} made it and lost {plural(worst.cost, 'point')} there.",
        )
    if report.groups:
        largest = max(report.groups, key=lambda group: len(group.students))
        yield Finding(
            "groups",
            f"No known mistake explains {plural(len(report.groups), 'group')} of wrong answers that behave alike."
            f" The largest is in `{largest.exercise}`: {plural(len(largest.students), 'student')}.",
        )
    if notable := outstanding(report.tests):
        yield Finding("tests", f"{plural(len(notable), 'test')} stand{_s(notable)} out, such as `{notable[0].name}`.")
    if report.pairs:
        yield Finding("pairs", f"{plural(len(report.pairs), 'pair')} of students handed in work that is worth a look.")
    if report.incidents:
        kinds = Counter[str]()
        for incident in report.incidents:
            kinds[incident.kind] += len(incident.students)
        yield Finding("incidents", "Incidents: " + ", ".join(f"{kind} ({n})" for kind, n in kinds.most_common()) + ".")


def _s(things: list[TestStatistics]) -> str:
    return "s" if len(things) == 1 else ""


def outstanding(tests: list[TestStatistics]) -> list[TestStatistics]:
    """Return the tests that have notes, those that cost the class most first."""
    return sorted((test for test in tests if test.notes), key=lambda test: -test.cost)


def sentence(mistake: Mistake) -> str:
    """Return the end of the sentence "Code that …"; each name after the first is one more thing that the code does."""
    return ", and ".join(mistake.names)


def mean(exercise: ExerciseStatistics) -> float:
    """Return the mean share of points in an exercise, 0 to 1."""
    return sum(exercise.shares) / len(exercise.shares) if exercise.shares else 0.0


def remarks(student: Student) -> str:
    """Return what else to say of a student: late, penalty, troubles."""
    late = f"{span(student.seconds_late)} late" if student.seconds_late > 0 else ""
    penalty = f"{plural(student.penalty, 'point')} taken off" if student.penalty else ""
    return "; ".join(filter(None, (late, penalty, *student.troubles)))


def row(student: Student, exercises: list[ExerciseStatistics]) -> list[str]:
    """Return a student's points in each exercise: a number, `–` if nothing was written, `?` if they are not known yet.

    Args:
        student: the student.
        exercises: the exercises in order. A student who did not hand in a notebook has empty cells there.
    """
    cells = {each.exercise: each for each in student.exercises}
    return [_points(cells.get(exercise.name)) for exercise in exercises]


def _points(cell: ExercisePoints | None) -> str:
    if cell is None:
        return ""
    if cell.points is None:
        return "?"
    return f"{cell.points:g}" if cell.is_written else "–"


def moment(text: str) -> datetime | None:
    """Return a time in ISO 8601 as a time in UTC, None for an empty text; a time without a zone is in UTC."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def long_time(text: str) -> str:
    """Return a time in ISO 8601 as `5 March 2026, 14:30 UTC`."""
    time = moment(text)
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else ""


def short_time(text: str) -> str:
    """Return a time in ISO 8601 as `2026-03-05 14:30`, in UTC. In this form, times sort as text."""
    time = moment(text)
    return f"{time:%Y-%m-%d %H:%M}" if time else ""
