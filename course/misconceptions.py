"""The mistakes people make, as data: each assignment lists its own in `misconceptions.py` beside its notebooks.

One list does two jobs. It proves the tests, for every misconception must lose points in its exercise,
and it explains failures, for a student whose code behaves like a known mistake is told which.
"""

import runpy
from dataclasses import dataclass
from pathlib import Path

from course.errors import CourseError

HANDED_OVER = "The numbers are right, and the work is torch's. Here you find out how it is done: write it yourself."
"""What to say to a student who calls torch's own function where the exercise is to write it."""


@dataclass(frozen=True)
class Misconception:
    """A plausible wrong answer to one exercise, written as the smallest edit of the reference solution."""

    exercise: str
    """The grade_id of the answer cell that the mistake is made in."""
    name: str
    """What the mistaken code does, as one would say it to a colleague."""
    edit: tuple[str, str]
    """What stands in the reference solution, exactly once, and what stands there instead."""
    say: str
    """What to say to a student who made it: what gives it away, without the solution."""

    def applied_to(self, solution: str) -> str:
        """The reference `solution` with the mistake made; raises CourseError where the edit does not fit."""
        right, wrong = self.edit
        if solution.count(right) != 1:
            raise CourseError(
                f"misconception '{self.name}' of {self.exercise}: the edited text must stand exactly once in the "
                f"reference solution, but stands there {solution.count(right)} times: {right!r}"
            )
        return solution.replace(right, wrong)


def load(assignment: Path) -> list[Misconception]:
    """The misconceptions of the assignment in the folder `assignment`; none where it lists none."""
    path = assignment / "misconceptions.py"
    if not path.exists():
        return []
    try:
        return list(runpy.run_path(str(path))["MISCONCEPTIONS"])
    except Exception as error:
        # It is Python that people edit: anything can be wrong with it.
        why = f"{type(error).__name__}: {error}"
        raise CourseError(f"source/{assignment.name}/misconceptions.py cannot be used ({why}): put it right") from error
