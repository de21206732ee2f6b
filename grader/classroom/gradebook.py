"""Writes scores into nbgrader's gradebook, in its tables and by its rules, in one transaction per submission.

nbgrader's own methods commit many times for each student, and a run that is killed between two commits would leave
incomplete scores. Here a student's scores are written completely or not at all.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import insert, select, update

from grader.classroom.course_dir import CourseDir

NO_RESPONSE = "No response."
"""nbgrader's comment on an answer that is still as it was released."""


@dataclass(frozen=True)
class NotebookScores:
    """What to write for one notebook.

    `points` are given by test cell; `unanswered` are the answers that are still as they were released; `unchanged` are
    the written answers with the same text as when they were last graded.
    """

    points: dict[str, float]
    unanswered: set[str]
    unchanged: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class RecordedScores:
    """What the gradebook has for one submitted notebook.

    `submitted_notebook` is that notebook's id in it; `cells` holds score, points, needs_marking and comment by
    grade_id, as the feedback page wants them.
    """

    submitted_notebook: str
    score: float
    max_score: float
    late_penalty: float
    cells: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class _Notebook:
    """The gradebook's entry of a source notebook: graded cells (name, points) and answers (name) by their ids."""

    id: str
    name: str
    graded: dict[str, tuple[str, float]]
    answered: dict[str, str]
    checksums: dict[str, str | None]


class GradebookWriter:
    """Writes scores as the only writer of a class run; use it in a `with` block."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        self._gradebook = course_dir.gradebook()
        self._assignment_name = assignment
        penalties = AssignLatePenalties(config=course_dir.config)
        self._late_plugin: LateSubmissionPlugin = penalties.plugin_class(parent=penalties)

    def __enter__(self) -> "GradebookWriter":
        gradebook = self._gradebook.__enter__()
        self._database = gradebook.db
        assignment = gradebook.find_assignment(self._assignment_name)
        self._assignment_id, self._due = assignment.id, assignment.duedate
        # Keep plain data and no rows: a session that holds the rows of every student would grow with the class.
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
        """Return the checksum of every released cell, by notebook and grade_id."""
        return {notebook.name: notebook.checksums for notebook in self._notebooks}

    def students(self) -> set[str]:
        """Return the names of all students who have a submission of this assignment in the gradebook."""
        submission = api.SubmittedAssignment
        return set(self._database.scalars(select(submission.student_id).filter_by(assignment_id=self._assignment_id)))

    def due(self) -> datetime | None:
        """Return the due date of the assignment, if it has one."""
        return self._due

    def write(
        self,
        student: str,
        notebook_scores: dict[str, NotebookScores],
        timestamp: datetime | None,
        *,
        keep_others: bool = False,
    ) -> dict[str, RecordedScores]:
        """Write one student's scores completely or not at all.

        Args:
            student: the student's name; the gradebook need not have it yet.
            notebook_scores: the scores by notebook; a notebook of the assignment that is missing scores zero.
            timestamp: when the submission was handed in; None leaves the time that the gradebook has.
            keep_others: whether missing notebooks keep the scores that the gradebook has. In a submission that it does
                not have yet, they score zero all the same.

        Returns:
            What the gradebook has then, by notebook, with the points and comments that a person gave.
        """
        try:
            submission, is_new = self._submission(student)
            if timestamp is not None:
                self._database.execute(update(api.SubmittedAssignment), [{"id": submission, "timestamp": timestamp}])
            submitted = self._submitted_notebooks(submission)
            written = notebook_scores.keys() if keep_others and not is_new else self.checksums().keys()
            recorded_scores = self._write_points(submitted, notebook_scores, written)
            self._write_comments(submitted, notebook_scores, recorded_scores, written)
            self._write_late_penalties(student, submission, recorded_scores)
            self._database.commit()
            return recorded_scores
        except BaseException:
            self._database.rollback()
            raise
        finally:
            self._database.expunge_all()

    def late_penalty(self, student: str, score: float, timestamp: datetime) -> float:
        """Return what the course's plugin for late submissions takes from a score, at most the whole score.

        Args:
            student: the student's name; an extension that was granted counts.
            score: the score without a penalty.
            timestamp: when the submission was handed in, in UTC.
        """
        if self._due is None:
            return 0.0
        keys = {"assignment_id": self._assignment_id, "student_id": student}
        extension = self._database.scalar(select(api.SubmittedAssignment.extension).filter_by(**keys))
        self._database.rollback()
        late = (timestamp - self._due - (extension or timedelta())).total_seconds()
        return self._penalty(student, score, late) or 0.0

    def _submission(self, student: str) -> tuple[str, bool]:
        """The id of the student's submission, which is created with all its rows if there is none, and if it was."""
        database, keys = self._database, {"assignment_id": self._assignment_id, "student_id": student}
        submission = database.scalar(select(api.SubmittedAssignment.id).filter_by(**keys))
        if submission is not None:
            return submission, False
        if database.get(api.Student, student) is None:
            database.execute(insert(api.Student), [{"id": student}])
        submission = api.new_uuid()
        database.execute(insert(api.SubmittedAssignment), [{"id": submission, **keys}])
        rows: dict[Any, list[dict[str, str]]] = {api.SubmittedNotebook: [], api.Grade: [], api.Comment: []}
        for notebook in self._notebooks:
            row = {"id": api.new_uuid(), "assignment_id": submission, "notebook_id": notebook.id}
            rows[api.SubmittedNotebook].append(row)
            rows[api.Grade] += [{"cell_id": cell, "notebook_id": row["id"]} for cell in notebook.graded]
            rows[api.Comment] += [{"cell_id": cell, "notebook_id": row["id"]} for cell in notebook.answered]
        for table, new_rows in rows.items():
            if new_rows:
                database.execute(insert(table), new_rows)
        return submission, True

    def _submitted_notebooks(self, submission: str) -> dict[str, _Notebook]:
        """The notebooks of a submission by their ids in it."""
        notebooks = {notebook.id: notebook for notebook in self._notebooks}
        table = api.SubmittedNotebook
        conditions = table.notebook_id.in_(notebooks), table.assignment_id == submission
        rows = self._database.execute(select(table.id, table.notebook_id).where(*conditions))
        return {row: notebooks[notebook] for row, notebook in rows}

    def _write_points(
        self, submitted: dict[str, _Notebook], notebook_scores: dict[str, NotebookScores], written: Collection[str]
    ) -> dict[str, RecordedScores]:
        cells: dict[str, dict[str, dict[str, Any]]] = {row: {} for row in submitted}
        table, changes = api.Grade, []
        score_columns = (table.manual_score, table.extra_credit, table.needs_manual_grade, table.auto_score)
        columns = (table.id, table.notebook_id, table.cell_id, *score_columns)
        graded = [cell for notebook in submitted.values() for cell in notebook.graded]
        for row, notebook_row, cell, manual, extra, needed_marking, auto in self._rows(columns, submitted, graded):
            name, points = submitted[notebook_row].graded[cell]
            needs_marking = bool(needed_marking)
            if submitted[notebook_row].name in written:
                scores = notebook_scores.get(submitted[notebook_row].name)
                auto = _auto_score(name, scores)
                # A person may have already read this very text.
                if scores is None or manual is None or name not in scores.unchanged:
                    needs_marking = scores is not None and (manual is not None or auto is None)
                changes.append({"id": row, "auto_score": auto, "needs_manual_grade": needs_marking})
            score = (auto if manual is None else manual) or 0.0
            total_score = score + (extra or 0.0)
            cells[notebook_row][name] = {"score": total_score, "points": points, "needs_marking": needs_marking}
        self._update(table, changes)
        total = lambda row, kind: sum(cell[kind] for cell in cells[row].values())  # noqa: E731
        return {
            notebook.name: RecordedScores(row, total(row, "score"), total(row, "points"), 0.0, cells[row])
            for row, notebook in submitted.items()
        }

    def _write_comments(
        self,
        submitted: dict[str, _Notebook],
        notebook_scores: dict[str, NotebookScores],
        recorded_scores: dict[str, RecordedScores],
        written: Collection[str],
    ) -> None:
        table, changes = api.Comment, []
        columns = (table.id, table.notebook_id, table.cell_id, table.manual_comment, table.auto_comment)
        answered = [cell for notebook in submitted.values() for cell in notebook.answered]
        for row, notebook_row, cell, manual, auto in self._rows(columns, submitted, answered):
            notebook = submitted[notebook_row]
            name, scores = notebook.answered[cell], notebook_scores.get(notebook.name)
            if notebook.name in written:
                auto = NO_RESPONSE if scores is not None and name in scores.unanswered else None
                changes.append({"id": row, "auto_comment": auto})
            recorded_scores[notebook.name].cells.setdefault(name, {})["comment"] = manual or auto
        self._update(table, changes)

    def _update(self, table: Any, rows: list[dict[str, Any]]) -> None:
        # All notebooks share one statement, because a statement takes about as long as ten rows.
        if rows:
            self._database.execute(update(table), rows)

    def _rows(self, columns: tuple[Any, ...], submitted: dict[str, _Notebook], cells: list[str]) -> Any:
        # The cells are given too, because nbgrader's indices list cells first and notebooks second. Without them the
        # database would scan the rows of the whole class for every student.
        return self._database.execute(select(*columns).where(columns[2].in_(cells), columns[1].in_(submitted)))

    def _write_late_penalties(self, student: str, submission: str, recorded_scores: dict[str, RecordedScores]) -> None:
        """Subtract what the course's plugin for late submissions says, at most the whole score."""
        late = self._database.get(api.SubmittedAssignment, submission, populate_existing=True).total_seconds_late
        rows = []
        for name, scores in recorded_scores.items():
            penalty = self._penalty(student, scores.score, late)
            rows.append({"id": scores.submitted_notebook, "late_submission_penalty": penalty})
            recorded_scores[name] = replace(scores, late_penalty=penalty or 0.0)
        self._update(api.SubmittedNotebook, rows)

    def _penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """The plugin's penalty on a score, at most the whole score; None if there is none."""
        if seconds_late <= 0:
            return None
        penalty = self._late_plugin.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else min(max(penalty, 0.0), score)


def _auto_score(cell: str, scores: NotebookScores | None) -> float | None:
    """The points of a cell without a person's; None while it waits for one."""
    if scores is None or cell in scores.unanswered:
        return 0.0
    return scores.points.get(cell)
