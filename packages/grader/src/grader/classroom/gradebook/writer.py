"""Writes scores into nbgrader's gradebook, in its tables and by its rules, in one transaction.

nbgrader's own methods commit many times for each student, and a run that is killed between two commits would leave
incomplete scores. Here a student's scores are written completely or not at all, and those of several students at once
if their results arrive together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import insert, select, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import ledger_of
from grader.classroom.gradebook.rules import (
    Mark,
    NotebookScores,
    RegisteredNotebook,
    Shown,
    StudentScores,
    comment,
    marked,
    seconds_late,
)


@dataclass
class _Submission:
    """A row of a submission."""

    id: str
    student: str
    timestamp: datetime | None
    extension: timedelta | None
    is_new: bool = False


@dataclass(frozen=True)
class _Submitted:
    """A row of a submitted notebook, and the rows of its cells: id and mark by the id of the source's cell."""

    id: str
    notebook_id: str
    submission: _Submission
    grades: dict[str, tuple[str, Mark]] = field(default_factory=dict)
    comments: dict[str, tuple[str, Mark]] = field(default_factory=dict)


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
        self._notebooks = {
            notebook.id: RegisteredNotebook(
                notebook.name,
                {cell.id: (cell.name, cell.max_score) for cell in notebook.grade_cells},
                {cell.id: cell.name for cell in notebook.solution_cells},
                {cell.name: cell.checksum for cell in notebook.source_cells},
            )
            for notebook in assignment.notebooks
        }
        self._database.rollback()
        self._database.expunge_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._gradebook.__exit__(*error)

    def notebooks(self) -> dict[str, RegisteredNotebook]:
        """Return the notebooks of the assignment, by name."""
        return {notebook.name: notebook for notebook in self._notebooks.values()}

    def students(self) -> set[str]:
        """Return the names of all students who have a submission of this assignment in the gradebook."""
        submission = api.SubmittedAssignment
        return set(self._database.scalars(select(submission.student_id).filter_by(assignment_id=self._assignment_id)))

    def due(self) -> datetime | None:
        """Return the due date of the assignment, if it has one."""
        return self._due

    def marks(self, student: str) -> dict[str, dict[str, Mark]]:
        """Return what the gradebook has of a student's graded cells and answers, by notebook and grade_id."""
        try:
            found = {}
            for each in self._known_notebooks(self._known_submissions([student])):
                notebook = self._notebooks[each.notebook_id]
                marks = {notebook.graded[cell][0]: mark for cell, (_, mark) in each.grades.items()}
                for cell, (_, mark) in each.comments.items():
                    name = notebook.answered[cell]
                    marks[name] = marks.get(name, Mark()).with_comments_of(mark)
                found[notebook.name] = marks
            return found
        finally:
            self._database.rollback()

    def penalties(self, student: str) -> dict[str, float]:
        """Return what being late takes from a student's notebooks, by notebook."""
        try:
            score = ledger_of(self._database, self._assignment_name, student=student).of(student)
            return {name: notebook.penalty for name, notebook in score.notebooks.items()}
        finally:
            self._database.rollback()

    def write(self, entries: Sequence[StudentScores]) -> dict[str, dict[str, Shown]]:
        """Write the scores of students in one transaction: those of all, or of none.

        Args:
            entries: the scores, one entry for each student.

        Returns:
            What the gradebook has then, by student and notebook, with the points and comments that a person gave.
        """
        try:
            entry_of = {entry.student: entry for entry in entries}
            submissions = self._submissions(entry_of)
            submitted = self._known_notebooks([each for each in submissions if not each.is_new])
            for submission in (each for each in submissions if each.is_new):
                submitted += [_Submitted(api.new_uuid(), notebook, submission) for notebook in self._notebooks]
            changes = _Changes()
            recorded: dict[str, dict[str, Shown]] = {entry.student: {} for entry in entries}
            for each in submitted:
                entry, notebook = entry_of[each.submission.student], self._notebooks[each.notebook_id]
                is_written = not entry.keep_others or each.submission.is_new or notebook.name in entry.notebooks
                cells = changes.add(each, notebook, entry.notebooks.get(notebook.name), is_written)
                recorded[entry.student][notebook.name] = self._penalised(changes, each, cells)
            changes.save(self._database)
            self._database.commit()
            return recorded
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
        return self._penalty(_Submission("", student, timestamp, extension), score) or 0.0

    def _submissions(self, entry_of: dict[str, StudentScores]) -> list[_Submission]:
        """The students' submissions with their new timestamps; the rows of those that are new are inserted."""
        submissions, times = self._known_submissions(list(entry_of)), []
        for each in submissions:
            if (timestamp := entry_of[each.student].timestamp) is not None:
                each.timestamp = timestamp
                times.append({"id": each.id, "timestamp": timestamp})
        if times:
            self._database.execute(update(api.SubmittedAssignment), times)
        if missing := sorted(entry_of.keys() - {each.student for each in submissions}):
            found = set(self._database.scalars(select(api.Student.id).where(api.Student.id.in_(missing))))
            if students := [{"id": student} for student in missing if student not in found]:
                self._database.execute(insert(api.Student), students)
            new = [_Submission(api.new_uuid(), name, entry_of[name].timestamp, None, is_new=True) for name in missing]
            keys = {"assignment_id": self._assignment_id}
            rows = [keys | {"id": each.id, "student_id": each.student, "timestamp": each.timestamp} for each in new]
            self._database.execute(insert(api.SubmittedAssignment), rows)
            submissions += new
        return submissions

    def _known_submissions(self, students: list[str]) -> list[_Submission]:
        table = api.SubmittedAssignment
        columns = (table.id, table.student_id, table.timestamp, table.extension)
        conditions = table.assignment_id == self._assignment_id, table.student_id.in_(students)
        return [_Submission(*row) for row in self._database.execute(select(*columns).where(*conditions))]

    def _known_notebooks(self, submissions: list[_Submission]) -> list[_Submitted]:
        """The submitted notebooks of submissions that the gradebook has, with the rows of their cells."""
        if not submissions:
            return []
        table, submission_of = api.SubmittedNotebook, {each.id: each for each in submissions}
        conditions = table.notebook_id.in_(self._notebooks), table.assignment_id.in_(submission_of)
        rows = self._database.execute(select(table.id, table.notebook_id, table.assignment_id).where(*conditions))
        submitted = {row[0]: _Submitted(row[0], row[1], submission_of[row[2]]) for row in rows}
        grade, answer = api.Grade, api.Comment
        columns = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
        graded = [cell for notebook in self._notebooks.values() for cell in notebook.graded]
        for key, row, cell, auto, manual, extra, needs_marking in self._rows(grade, columns, submitted, graded):
            submitted[row].grades[cell] = key, Mark(auto, manual, extra, bool(needs_marking))
        answered = [cell for notebook in self._notebooks.values() for cell in notebook.answered]
        for key, row, cell, *comments in self._rows(
            answer, (answer.auto_comment, answer.manual_comment), submitted, answered
        ):
            submitted[row].comments[cell] = key, Mark(auto_comment=comments[0], manual_comment=comments[1])
        return list(submitted.values())

    def _rows(self, table: Any, columns: tuple[Any, ...], submitted: dict[str, _Submitted], cells: list[str]) -> Any:
        # The cells are given too, because nbgrader's indices list cells first and notebooks second. Without them the
        # database would scan the rows of the whole class for every student.
        conditions = table.cell_id.in_(cells), table.notebook_id.in_(submitted)
        return self._database.execute(select(table.id, table.notebook_id, table.cell_id, *columns).where(*conditions))

    def _penalised(self, changes: "_Changes", row: _Submitted, cells: dict[str, dict[str, Any]]) -> Shown:
        """The recorded scores of a notebook, whose late penalty is added to the changes."""
        penalty = self._penalty(row.submission, sum(cell.get("score", 0.0) for cell in cells.values()))
        keys = {"assignment_id": row.submission.id, "notebook_id": row.notebook_id} if row.submission.is_new else {}
        changes.put(api.SubmittedNotebook, row.id, keys, {"late_submission_penalty": penalty})
        return Shown(cells, penalty or 0.0)

    def _penalty(self, submission: _Submission, score: float) -> float | None:
        """What the plugin takes from a score, at most the whole score; None if it says so or nothing is late."""
        late = seconds_late(submission.timestamp, self._due, submission.extension)
        if not late:
            return None
        penalty = self._late_plugin.late_submission_penalty(submission.student, score, late)
        return None if penalty is None else min(max(penalty, 0.0), score)


class _Changes:
    """Rows to insert and to update. All notebooks share statements: one takes about as long as ten rows."""

    def __init__(self) -> None:
        # The notebooks first: rows of cells refer to them.
        tables = (api.SubmittedNotebook, api.Grade, api.Comment)
        self._new: dict[Any, list[dict[str, Any]]] = {table: [] for table in tables}
        self._changed: dict[Any, list[dict[str, Any]]] = {table: [] for table in tables}

    def put(self, table: Any, key: str, keys: dict[str, str], values: dict[str, Any]) -> None:
        """Add a row: a new one if it comes with the `keys` of the rows that it refers to."""
        (self._new if keys else self._changed)[table].append({"id": key, **keys, **values})

    def add(
        self, row: _Submitted, notebook: RegisteredNotebook, scores: NotebookScores | None, is_written: bool
    ) -> dict[str, dict[str, Any]]:
        """Add the rows of a notebook's cells, and return what is shown of them."""
        cells: dict[str, dict[str, Any]] = {}
        for cell, (name, points) in notebook.graded.items():
            key, keys, mark = self._row(row, row.grades, cell)
            auto, cells[name] = marked(name, points, mark, scores, is_written=is_written)
            if is_written:
                values = {"auto_score": auto, "needs_manual_grade": cells[name]["needs_marking"]}
                self.put(api.Grade, key, keys, values)
        for cell, name in notebook.answered.items():
            key, keys, mark = self._row(row, row.comments, cell)
            auto_comment, shown = comment(name, mark, scores, is_written=is_written)
            cells.setdefault(name, {})["comment"] = shown
            if is_written:
                self.put(api.Comment, key, keys, {"auto_comment": auto_comment})
        return cells

    def _row(self, row: _Submitted, known: dict[str, tuple[str, Mark]], cell: str) -> tuple[str, dict[str, str], Mark]:
        if cell in known:
            key, mark = known[cell]
            return key, {}, mark
        return api.new_uuid(), {"cell_id": cell, "notebook_id": row.id}, Mark()

    def save(self, database: Any) -> None:
        """Write the rows, without a commit."""
        for table, rows in self._new.items():
            if rows:
                # The table itself takes half as long as nbgrader's class: no objects are to be made of the rows.
                database.execute(insert(table.__table__), rows)
        for table, rows in self._changed.items():
            if rows:
                database.execute(update(table), rows)
