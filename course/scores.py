"""The scores of a class, read from the gradebook and shown as a table."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from course.classroom import Classroom

UNITS = ((86_400, "days"), (3600, "h"), (60, "min"))
"""How lateness is told: two days or more in days, two hours or more in hours."""

ROWS = 500
"""Students in one table: rich holds all of it in memory, ten times what the text takes."""


@dataclass(frozen=True, slots=True)
class Score:
    """One student's points in one assignment: what tests gave, what a person gave, and whether one still must.

    For who was late, by how many seconds, and the points that this costs.
    """

    student: str
    tests: float
    max_tests: float
    written: float
    max_written: float
    needs_marking: bool
    seconds_late: float = 0.0
    penalty: float = 0.0


def scores(classroom: Classroom, assignment: str) -> dict[str, Score]:
    """What the gradebook says of everyone who has a score in `assignment`."""
    with classroom.gradebook() as gradebook:
        asked = gradebook.find_assignment(assignment)
        submissions = asked.submissions if asked.duedate else []
        late = {each.student_id: (each.total_seconds_late, each.late_submission_penalty) for each in submissions}
        return {
            row["student"]: Score(
                row["student"],
                row["code_score"],
                row["max_code_score"],
                row["written_score"],
                row["max_written_score"],
                row["needs_manual_grade"],
                *late.get(row["student"], ()),
            )
            for row in gradebook.submission_dicts(assignment)
        }


def tables(assignment: str, known: dict[str, Score], remarks: dict[str, str]) -> Iterator[Table]:
    """A row a student: points from tests, points from marking, and `remarks` in words where there are any.

    A class of more than ROWS has several tables.
    """
    students = sorted(known.keys() | remarks.keys())
    for first in range(0, len(students), ROWS):
        result = Table(title=assignment, title_justify="left")
        for name, justify in (("student", "left"), ("tests", "right"), ("written", "right"), ("", "left")):
            result.add_column(name, justify=justify, overflow="fold")
        for student in students[first : first + ROWS]:
            result.add_row(Text(student), *_row(known.get(student), remarks.get(student, "")))
        yield result


def _row(score: Score | None, remark: str) -> tuple[str, str, Text]:
    if score is None:
        return "-", "-", Text(remark)
    late = _late(score.seconds_late, score.penalty) if score.seconds_late else ""
    waits = "written answers wait for marking" if score.needs_marking else ""
    return (
        f"{score.tests:g} / {score.max_tests:g}",
        f"{score.written:g} / {score.max_written:g}",
        Text("; ".join(filter(None, (remark, late, waits)))),
    )


def _late(seconds: float, penalty: float) -> str:
    unit, word = next((unit, word) for unit, word in UNITS if seconds >= 2 * unit or unit == 60)
    taken = f", {penalty:g} points taken off" if penalty else ""
    return f"{max(1, int(seconds // unit))} {word} late{taken}"
