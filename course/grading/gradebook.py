"""Writes what grading found into nbgrader's gradebook: its tables, its rules, one transaction a submission.

nbgrader's own calls commit many times for each student; a run that is killed between two of them would leave half a
student. Here a student's scores are there as a whole or not at all.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import insert, select, update

from course.classroom import Classroom


@dataclass(frozen=True)
class Marks:
    """What to write for one notebook: points by test cell, and which answers are still as they were released."""

    points: dict[str, float]
    unanswered: set[str]


@dataclass(frozen=True)
class Scores:
    """What the gradebook says of the notebook with this id; `cells` by grade_id, as nbgrader's feedback wants them."""

    submitted: str
    score: float
    max_score: float
    late_penalty: float
    cells: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class _Notebook:
    """What the gradebook knows of a source notebook. Cells by their id: name and points, or name alone."""

    id: str
    name: str
    graded: dict[str, tuple[str, float]]
    answered: dict[str, str]
    checksums: dict[str, str | None]


class Writer:
    """The one writer of a class run; use it in a `with` block."""

    def __init__(self, classroom: Classroom, assignment: str) -> None:
        self._gradebook = classroom.gradebook()
        self._name = assignment
        penalties = AssignLatePenalties(config=classroom.config)
        self._late: LateSubmissionPlugin = penalties.plugin_class(parent=penalties)

    def __enter__(self) -> "Writer":
        self._gradebook.__enter__()
        self._database = self._gradebook.db
        assignment = self._gradebook.find_assignment(self._name)
        self._assignment, self._due = assignment.id, assignment.duedate
        # Read once and kept as plain data: a session that kept the rows of every student would grow with the class.
        self._notebooks = [
            _Notebook(
                notebook.id,
                notebook.name,
                {cell.id: (cell.name, cell.max_score) for cell in notebook.grade_cells},
                {cell.id: cell.name for cell in notebook.solution_cells},
                {cell.name: cell.checksum for cell in notebook.source_cells},
            )
            for notebook in assignment.notebooks
        ]
        self._database.rollback()
        self._database.expunge_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._gradebook.__exit__(*error)

    def checksums(self) -> dict[str, dict[str, str | None]]:
        """The checksum of every released cell, by notebook and grade_id."""
        return {notebook.name: notebook.checksums for notebook in self._notebooks}

    def students(self) -> set[str]:
        """Who has a submission of this assignment in the gradebook."""
        submission = api.SubmittedAssignment
        return set(self._database.scalars(select(submission.student_id).filter_by(assignment_id=self._assignment)))

    def due(self) -> datetime | None:
        """When the assignment was to be handed in."""
        return self._due

    def write(self, student: str, marks: dict[str, Marks], handed_in: datetime | None) -> dict[str, Scores]:
        """One student's marks by notebook; a notebook that is missing there scores zero. All of it or nothing.

        Returns what the gradebook then says, with the points and comments that a person gave.
        """
        try:
            submission = self._submission(student)
            if handed_in is not None:
                self._database.execute(update(api.SubmittedAssignment), [{"id": submission, "timestamp": handed_in}])
            scores = {}
            for notebook in self._notebooks:
                row = self._submitted_notebook(submission, notebook)
                scores[notebook.name] = self._write_notebook(row, notebook, marks.get(notebook.name))
            self._punish(student, submission, scores)
            self._database.commit()
            return scores
        except BaseException:
            self._database.rollback()
            raise
        finally:
            self._database.expunge_all()

    def _submission(self, student: str) -> str:
        """The id of the student's submission, made with all its rows where there was none."""
        database, mine = self._database, {"assignment_id": self._assignment, "student_id": student}
        found = database.scalar(select(api.SubmittedAssignment.id).filter_by(**mine))
        if found is not None:
            return found
        if database.get(api.Student, student) is None:
            database.execute(insert(api.Student), [{"id": student}])
        database.execute(insert(api.SubmittedAssignment), [{"id": (submission := api.new_uuid()), **mine}])
        for notebook in self._notebooks:
            row = {"id": api.new_uuid(), "assignment_id": submission, "notebook_id": notebook.id}
            database.execute(insert(api.SubmittedNotebook), [row])
            for table, cells in ((api.Grade, notebook.graded), (api.Comment, notebook.answered)):
                rows = [{"cell_id": cell, "notebook_id": row["id"]} for cell in cells]
                if rows:
                    database.execute(insert(table), rows)
        return submission

    def _submitted_notebook(self, submission: str, notebook: _Notebook) -> str:
        mine = {"assignment_id": submission, "notebook_id": notebook.id}
        return self._database.scalars(select(api.SubmittedNotebook.id).filter_by(**mine)).one()

    def _write_notebook(self, submitted: str, notebook: _Notebook, marks: Marks | None) -> Scores:
        cells: dict[str, dict[str, Any]] = {}
        grades, comments = api.Grade, api.Comment
        changed = []
        columns = (grades.id, grades.cell_id, grades.manual_score, grades.extra_credit)
        for row, cell, manual, extra in self._database.execute(select(*columns).filter_by(notebook_id=submitted)):
            name, points = notebook.graded[cell]
            auto = _auto_score(name, marks)
            waits = marks is not None and (manual is not None or auto is None)
            changed.append({"id": row, "auto_score": auto, "needs_manual_grade": waits})
            score = (auto if manual is None else manual) or 0.0
            cells[name] = {"score": score + (extra or 0.0), "points": points}
        total, most = (sum(cell[kind] for cell in cells.values()) for kind in ("score", "points"))
        said = []
        columns = (comments.id, comments.cell_id, comments.manual_comment)
        for row, cell, manual in self._database.execute(select(*columns).filter_by(notebook_id=submitted)):
            name = notebook.answered[cell]
            auto = "No response." if marks is not None and name in marks.unanswered else None
            said.append({"id": row, "auto_comment": auto})
            cells.setdefault(name, {})["comment"] = manual or auto
        for table, rows in ((grades, changed), (comments, said)):
            if rows:
                self._database.execute(update(table), rows)
        return Scores(submitted, total, most, 0.0, cells)

    def _punish(self, student: str, submission: str, scores: dict[str, Scores]) -> None:
        """Takes off what the course's plugin for late submissions says, at most all of it."""
        late = self._database.get(api.SubmittedAssignment, submission, populate_existing=True).total_seconds_late
        for name, score in scores.items():
            penalty = self._late.late_submission_penalty(student, score.score, late) if late > 0 else None
            penalty = None if penalty is None else min(max(penalty, 0.0), score.score)
            row = {"id": score.submitted, "late_submission_penalty": penalty}
            self._database.execute(update(api.SubmittedNotebook), [row])
            scores[name] = replace(score, late_penalty=penalty or 0.0)


def _auto_score(cell: str, marks: Marks | None) -> float | None:
    if marks is None or cell in marks.unanswered:
        return 0.0
    return marks.points.get(cell)
