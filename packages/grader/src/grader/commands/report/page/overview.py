"""Computes the numbers and sentences of the page: the summary of the class, where to look first, rows, times.

ClassReport --class_summary, findings, outstanding--> the top of the page
            --row------------------------------------> the table of students
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from grader.classroom.source.basis import named
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
"""The share of points that counts as all of them, up to rounding."""


@dataclass(frozen=True)
class ClassSummary:
    """The class in numbers.

    `outdated` of those who handed in were graded before something changed, which `changed` names.
    Half of the students have at least `half` of the points that are known: points of `half_of`, or a share (0 to 1) if
    `half_of` is None, because other points are known of other students. `full` have all that are known; `is_complete`
    says whether these are all points. `waiting_answers` of `waiting_students` wait for marking; the oldest was handed
    in `oldest`, a span of time, ago.
    """

    handed_in: int
    roster: int
    outdated: int
    changed: str
    late: int
    full: int
    half: float
    half_of: float | None
    is_complete: bool
    waiting_answers: int
    waiting_students: int
    oldest: str


@dataclass(frozen=True)
class Finding:
    """A sentence on where to look first, and the id of the section with the details."""

    section: str
    text: str


def class_summary(report: ClassReport) -> ClassSummary:
    """Return the class in numbers."""
    students = report.students
    waiting = [student for student in students if student.needs_marking]
    made = moment(report.made)
    half, half_of = _half(students)
    ages = [(made - time).total_seconds() for each in waiting if made and (time := moment(each.handed_in))]
    return ClassSummary(
        handed_in=len(students),
        roster=len(students) + len(report.missing),
        outdated=sum(bool(student.outdated) for student in students),
        changed=named(part for student in students for part in student.outdated),
        late=sum(student.seconds_late > 0 for student in students),
        full=sum(each.share is not None and each.share >= ALL for each in students),
        half=half,
        half_of=half_of,
        is_complete=not any(each.waiting_max_points for each in students),
        waiting_answers=sum(student.needs_marking for student in waiting),
        waiting_students=len(waiting),
        oldest=span(max(ages)) if ages else "",
    )


def _half(students: list[Student]) -> tuple[float, float | None]:
    """Return the median of the known points and their maximum, or the median share and None if the maxima differ."""
    maxima = {round(each.known_max_points, 6) for each in students}
    if len(maxima) > 1:
        return median(each.share for each in students if each.share is not None), None
    return median(each.known_points for each in students) if students else 0.0, max(maxima, default=0.0)


def findings(report: ClassReport) -> Iterator[Finding]:
    """Yield where to look first, one sentence for each section with content."""
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
        verb = "stands" if len(notable) == 1 else "stand"
        yield Finding("tests", f"{plural(len(notable), 'test')} {verb} out, such as `{notable[0].name}`.")
    if report.pairs:
        yield Finding("pairs", f"{plural(len(report.pairs), 'pair')} of students handed in work that is worth a look.")
    if report.incidents:
        kinds = Counter[str]()
        for incident in report.incidents:
            kinds[incident.kind] += len(incident.students)
        yield Finding("incidents", "Incidents: " + ", ".join(f"{kind} ({n})" for kind, n in kinds.most_common()) + ".")


def outstanding(tests: list[TestStatistics]) -> list[TestStatistics]:
    """Return the tests with notes that cost anyone points, the most costly first."""
    return sorted((test for test in tests if test.notes and test.cost), key=lambda test: -test.cost)


def sentence(mistake: Mistake) -> str:
    """Return the end of the sentence "Code that …"."""
    return ", and ".join(mistake.names)


def remarks(student: Student) -> str:
    """Return remarks on a student: extension, lateness, penalty, changes since the grading, troubles."""
    extended = f"due date extended to {student.extended_to.replace('T', ' ')} UTC" if student.extended_to else ""
    late = f"{span(student.seconds_late)} late" if student.seconds_late > 0 else ""
    penalty = f"{plural(student.penalty, 'point')} taken off" if student.penalty else ""
    older = f"graded before {named(student.outdated)} changed" if student.outdated else ""
    return "; ".join(filter(None, (extended, late, penalty, older, *student.troubles)))


def row(student: Student, exercises: list[ExerciseStatistics]) -> list[str]:
    """Return a student's points in each exercise: a number, `–` for a blank, `?` for points that are not known yet.

    A number with `?` has points of some tests, while others wait.

    Args:
        student: the student.
        exercises: the exercises in order. Those of notebooks that were not handed in have empty cells.
    """
    cells = {each.exercise: each for each in student.exercises}
    return [_points(cells.get(exercise.name)) for exercise in exercises]


def _points(cell: ExercisePoints | None) -> str:
    if cell is None:
        return ""
    if cell.points is None:
        return "?"
    return f"{cell.points:g}{' ?' if cell.waiting else ''}" if cell.is_written else "–"


def moment(text: str) -> datetime | None:
    """Return a time in ISO 8601, by default in UTC, as a time in UTC; None for an empty text."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def long_time(text: str) -> str:
    """Return a time in ISO 8601 as `5 March 2026, 14:30 UTC`."""
    time = moment(text)
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else ""


def short_time(text: str) -> str:
    """Return a time in ISO 8601 as `2026-03-05 14:30`, in UTC. These texts sort by time."""
    time = moment(text)
    return f"{time:%Y-%m-%d %H:%M}" if time else ""
