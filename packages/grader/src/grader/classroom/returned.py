"""Keeps the marked work that students have back: pages and points, as they were at the last `grader feedback`.

    gradebook, autograded/ --grader feedback--> returned/STUDENT/ASSIGNMENT/ --grader serve--> the student

A mark is in the gradebook as soon as a person gives it, and so in feedback/ after the next run of any command. Students
see it only once it is here, so that no one learns a mark while others are still being given.
"""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.classroom.gradebook.rules import NotebookScore
from grader.errors import GraderError
from grader.files import replace_file

RETURNED = "returned"
"""The folder of the marked work in a course folder."""
POINTS = "points.json"


class ReturnedNotebook(msgspec.Struct, frozen=True):
    """A notebook that a student has back.

    `points` are those of what is marked, after a penalty, out of `max_points`; `waiting` is the maximum of the rest.
    `made_of` is a digest of everything that the page shows.
    """

    points: float
    max_points: float
    waiting: float
    made_of: str

    @classmethod
    def of(cls, score: NotebookScore, made_of: str) -> "ReturnedNotebook":
        """Return the entry of a notebook with this score."""
        return cls(score.marked, score.max_marked, score.waiting, made_of)


class ReturnedWork(msgspec.Struct, frozen=True):
    """What a student has back of an assignment, by notebook, and the time in UTC at which the gradebook was read."""

    time: datetime
    notebooks: dict[str, ReturnedNotebook]


class ReturnedFolder:
    """The folder with the marked work of a course. Each file is replaced as a whole, so readers need no lock."""

    def __init__(self, root: Path) -> None:
        """Take the folder of a course; the first work that is returned creates it.

        Args:
            root: the course folder.
        """
        self._root = root / RETURNED

    def of(self, assignment: str, student: str) -> ReturnedWork | None:
        """Return what a student has back of an assignment, or None.

        Raises:
            GraderError: the file is damaged.
        """
        file = self._root / student / assignment / POINTS
        try:
            return msgspec.json.decode(file.read_bytes(), type=ReturnedWork)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise GraderError(f"{file} cannot be read ({error}): remove it, and run 'grader feedback' again") from error

    def page(self, assignment: str, student: str, notebook: str) -> str | None:
        """Return the page of a notebook that a student has back, or None."""
        try:
            return (self._root / student / assignment / f"{notebook}.html").read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def give(self, assignment: str, student: str, work: ReturnedWork, pages: dict[str, Path]) -> None:
        """Replace what a student has back of an assignment: first the pages that changed, then the points.

        Args:
            assignment: the assignment's name.
            student: the student's name.
            work: the new points.
            pages: the files of the pages in feedback/, by notebook.
        """
        folder, before = self._root / student / assignment, self.of(assignment, student)
        for name, page in pages.items():
            copy, known = folder / f"{name}.html", before.notebooks.get(name) if before else None
            if known is None or known.made_of != work.notebooks[name].made_of or not copy.exists():
                replace_file(copy, page.read_bytes())
        replace_file(folder / POINTS, msgspec.json.encode(work))


def now() -> datetime:
    """Return the time in UTC, with its zone."""
    return datetime.now(UTC)
