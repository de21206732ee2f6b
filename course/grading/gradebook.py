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

from course.classroom import Classroom


@dataclass(frozen=True)
class Marks:
    """What to write for one notebook: points by test cell, and which answers are still as they were released."""

    points: dict[str, float]
    unanswered: set[str]


@dataclass(frozen=True)
class Scores:
    """What the gradebook says of one submitted notebook; `cells` by grade_id, as nbgrader's feedback wants them."""

    score: float
    max_score: float
    late_penalty: float
    cells: dict[str, dict[str, Any]]


class Writer:
    """The one writer of a class run; use it in a `with` block."""

    def __init__(self, classroom: Classroom, assignment: str) -> None:
        self._classroom = classroom
        self._gradebook = classroom.gradebook()
        self._name = assignment
        penalties = AssignLatePenalties(config=classroom.config)
        self._late: LateSubmissionPlugin = penalties.plugin_class(parent=penalties)

    def __enter__(self) -> "Writer":
        self._gradebook.__enter__()
        self._assignment = self._gradebook.find_assignment(self._name)
        return self

    def __exit__(self, *error: Any) -> None:
        self._gradebook.__exit__(*error)

    def checksums(self) -> dict[str, dict[str, str | None]]:
        """The checksum of every released cell, by notebook and grade_id."""
        return {
            notebook.name: {cell.name: cell.checksum for cell in notebook.source_cells}
            for notebook in self._assignment.notebooks
        }

    def students(self) -> set[str]:
        """Who has a submission of this assignment in the gradebook."""
        return {submission.student_id for submission in self._assignment.submissions}

    def write(self, student: str, marks: dict[str, Marks], handed_in: datetime | None) -> dict[str, Scores]:
        """One student's marks by notebook; a notebook that is missing there scores zero. All of it or nothing.

        Returns what the gradebook then says, with the points and comments that a person gave.
        """
        database = self._gradebook.db
        try:
            submission = self._submission(student)
            if handed_in is not None:
                submission.timestamp = handed_in
            for notebook in submission.notebooks:
                _write_notebook(notebook, marks.get(notebook.name))
            scores = {notebook.name: _scores(notebook) for notebook in submission.notebooks}
            if submission.total_seconds_late > 0:
                for notebook in submission.notebooks:
                    scores[notebook.name] = self._punish(student, submission, notebook, scores[notebook.name])
            else:
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = None
            database.commit()
            return scores
        except BaseException:
            database.rollback()
            raise

    def _submission(self, student: str) -> api.SubmittedAssignment:
        database = self._gradebook.db
        person = database.get(api.Student, student)
        if person is None:
            person = api.Student(id=student)
            database.add(person)
        found = database.query(api.SubmittedAssignment).filter_by(assignment_id=self._assignment.id, student_id=student)
        return found.one_or_none() or self._new_submission(person)

    def _new_submission(self, person: api.Student) -> api.SubmittedAssignment:
        database = self._gradebook.db
        with database.no_autoflush:
            submission = api.SubmittedAssignment(assignment=self._assignment, student=person)
            database.add(submission)
            for notebook in self._assignment.notebooks:
                submitted = api.SubmittedNotebook(notebook=notebook, assignment=submission)
                for cell in notebook.grade_cells:
                    api.Grade(cell_id=cell.id, cell=cell, notebook=submitted)
                for cell in notebook.solution_cells:
                    api.Comment(cell_id=cell.id, cell=cell, notebook=submitted)
        return submission

    def _punish(self, student: str, submission: Any, notebook: Any, scores: Scores) -> Scores:
        """Takes off what the course's plugin for late submissions says, at most all of it."""
        penalty = self._late.late_submission_penalty(student, scores.score, submission.total_seconds_late)
        notebook.late_submission_penalty = None if penalty is None else min(max(penalty, 0.0), scores.score)
        return replace(scores, late_penalty=notebook.late_submission_penalty or 0.0)


def _scores(notebook: api.SubmittedNotebook) -> Scores:
    """What nbgrader's own queries would sum up, from what lies in memory."""
    cells: dict[str, dict[str, Any]] = {}
    for grade in notebook.grades:
        base = grade.auto_score if grade.manual_score is None else grade.manual_score
        cells[grade.cell.name] = {"score": (base or 0.0) + (grade.extra_credit or 0.0), "points": grade.cell.max_score}
    score = sum(cell["score"] for cell in cells.values())
    max_score = sum(cell["points"] for cell in cells.values())
    for comment in notebook.comments:
        said = comment.manual_comment or comment.auto_comment
        cells.setdefault(comment.cell.name, {})["comment"] = said
    return Scores(score, max_score, 0.0, cells)


def _write_notebook(notebook: api.SubmittedNotebook, marks: Marks | None) -> None:
    for grade in notebook.grades:
        grade.auto_score = _auto_score(grade.cell, marks)
        was_marked = grade.manual_score is not None
        grade.needs_manual_grade = marks is not None and (was_marked or grade.auto_score is None)
    for comment in notebook.comments:
        is_empty = marks is not None and comment.cell.name in marks.unanswered
        comment.auto_comment = "No response." if is_empty else None


def _auto_score(cell: api.GradeCell, marks: Marks | None) -> float | None:
    if marks is None or cell.name in marks.unanswered:
        return 0.0
    return marks.points.get(cell.name)
