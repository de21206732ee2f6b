"""Writes what grading found into nbgrader's gradebook: its tables, its rules, one transaction a submission.

nbgrader's own calls commit many times for each student; a run that is killed between two of them would leave half a
student. Here a student's scores are there as a whole or not at all.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import insert, select, update

from course.classroom import Classroom


@dataclass(frozen=True)
class Marks:
    """What to write for one notebook: points by test cell, which answers are still as they were released, and which
    written ones say what they said when they were graded before."""

    points: dict[str, float]
    unanswered: set[str]
    repeated: set[str] = field(default_factory=set)


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
        gradebook = self._gradebook.__enter__()
        self._database = gradebook.db
        assignment = gradebook.find_assignment(self._name)
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
            submitted = self._submitted(submission)
            scores = self._write_points(submitted, marks)
            self._write_comments(submitted, marks, scores)
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
        rows: dict[Any, list[dict[str, str]]] = {api.SubmittedNotebook: [], api.Grade: [], api.Comment: []}
        for notebook in self._notebooks:
            row = {"id": api.new_uuid(), "assignment_id": submission, "notebook_id": notebook.id}
            rows[api.SubmittedNotebook].append(row)
            rows[api.Grade] += [{"cell_id": cell, "notebook_id": row["id"]} for cell in notebook.graded]
            rows[api.Comment] += [{"cell_id": cell, "notebook_id": row["id"]} for cell in notebook.answered]
        for table, new in rows.items():
            if new:
                database.execute(insert(table), new)
        return submission

    def _submitted(self, submission: str) -> dict[str, _Notebook]:
        """The notebooks of a submission by the ids that they have there."""
        notebooks = {notebook.id: notebook for notebook in self._notebooks}
        table = api.SubmittedNotebook
        mine = table.notebook_id.in_(notebooks), table.assignment_id == submission
        rows = self._database.execute(select(table.id, table.notebook_id).where(*mine))
        return {row: notebooks[notebook] for row, notebook in rows}

    def _write_points(self, submitted: dict[str, _Notebook], marks: dict[str, Marks]) -> dict[str, Scores]:
        cells: dict[str, dict[str, dict[str, Any]]] = {row: {} for row in submitted}
        table, changed = api.Grade, []
        known = (table.manual_score, table.extra_credit, table.needs_manual_grade)
        columns = (table.id, table.notebook_id, table.cell_id, *known)
        graded = [cell for its in submitted.values() for cell in its.graded]
        for row, notebook, cell, manual, extra, waited in self._rows(columns, submitted, graded):
            name, points = submitted[notebook].graded[cell]
            its = marks.get(submitted[notebook].name)
            auto = _auto_score(name, its)
            waits = its is not None and (manual is not None or auto is None)
            if waits and manual is not None and name in its.repeated:
                # Somebody has read these very words.
                waits = waited
            changed.append({"id": row, "auto_score": auto, "needs_manual_grade": waits})
            score = (auto if manual is None else manual) or 0.0
            cells[notebook][name] = {"score": score + (extra or 0.0), "points": points}
        self._update(table, changed)
        total = lambda row, kind: sum(cell[kind] for cell in cells[row].values())  # noqa: E731
        return {
            notebook.name: Scores(row, total(row, "score"), total(row, "points"), 0.0, cells[row])
            for row, notebook in submitted.items()
        }

    def _write_comments(
        self, submitted: dict[str, _Notebook], marks: dict[str, Marks], scores: dict[str, Scores]
    ) -> None:
        table, changed = api.Comment, []
        columns = (table.id, table.notebook_id, table.cell_id, table.manual_comment)
        answered = [cell for its in submitted.values() for cell in its.answered]
        for row, notebook, cell, manual in self._rows(columns, submitted, answered):
            name, its = submitted[notebook].answered[cell], marks.get(submitted[notebook].name)
            auto = "No response." if its is not None and name in its.unanswered else None
            changed.append({"id": row, "auto_comment": auto})
            scores[submitted[notebook].name].cells.setdefault(name, {})["comment"] = manual or auto
        self._update(table, changed)

    def _update(self, table: Any, rows: list[dict[str, Any]]) -> None:
        # All notebooks in one statement: each takes about as long as ten rows.
        if rows:
            self._database.execute(update(table), rows)

    def _rows(self, columns: tuple[Any, ...], submitted: dict[str, _Notebook], cells: list[str]) -> Any:
        # By cell too: nbgrader's tables have an index of cells and, in each, of notebooks. Without it every row of the
        # class would be looked at for every student.
        return self._database.execute(select(*columns).where(columns[2].in_(cells), columns[1].in_(submitted)))

    def _punish(self, student: str, submission: str, scores: dict[str, Scores]) -> None:
        """Takes off what the course's plugin for late submissions says, at most all of it."""
        late = self._database.get(api.SubmittedAssignment, submission, populate_existing=True).total_seconds_late
        rows = []
        for name, score in scores.items():
            penalty = self._late.late_submission_penalty(student, score.score, late) if late > 0 else None
            penalty = None if penalty is None else min(max(penalty, 0.0), score.score)
            rows.append({"id": score.submitted, "late_submission_penalty": penalty})
            scores[name] = replace(score, late_penalty=penalty or 0.0)
        self._update(api.SubmittedNotebook, rows)


def _auto_score(cell: str, marks: Marks | None) -> float | None:
    if marks is None or cell in marks.unanswered:
        return 0.0
    return marks.points.get(cell)
