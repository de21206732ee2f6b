"""Writes scores into nbgrader's gradebook, in its tables and by its rules, in one transaction.

nbgrader's own methods commit many times for each student, and a run that is killed between two commits would leave
incomplete scores. Here, either all of a student's scores are written or none, and those of several students at once if
their results arrive together.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from sqlalchemy import insert, select, update

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.rules import (
    CellScore,
    Comment,
    NotebookScore,
    RegisteredNotebook,
    StudentScores,
    due_for,
    seconds_late,
)
from grader.classroom.record.entry import Entry, Kind, account


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
    """A row of a submitted notebook, its score, and the ids of its cells' rows by table and id of the source cell."""

    id: str
    notebook_id: str
    submission: _Submission
    score: NotebookScore = field(default_factory=NotebookScore)
    rows: dict[tuple[Any, str], str] = field(default_factory=dict)


class GradebookWriter:
    """Writes scores as the only writer of a class run; use it in a `with` block."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        self._gradebook = course_dir.gradebook()
        self._assignment_name = assignment
        self._record = course_dir.record
        self._late_penalty = LatePenalty(course_dir.config)

    def __enter__(self) -> "GradebookWriter":
        gradebook = self._gradebook.__enter__()
        self._database = gradebook.db
        assignment = gradebook.find_assignment(self._assignment_name)
        self._assignment_id, self._due = assignment.id, assignment.duedate
        # Keep plain data instead of rows: a session with the rows of every student would grow with the class.
        self._notebooks = {
            notebook.id: RegisteredNotebook(
                notebook.name,
                {
                    cell.id: (cell.name, CellScore(cell.max_score, is_test=cell.cell_type == "code"))
                    for cell in (*notebook.grade_cells, *notebook.task_cells)
                },
                {cell.id: cell.name for cell in (*notebook.solution_cells, *notebook.task_cells)},
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
        """Return the present due date of the assignment, if it has one."""
        try:
            self._read_due()
            return self._due
        finally:
            self._database.rollback()

    def extensions(self) -> dict[str, timedelta]:
        """Return the extensions of students, by their names."""
        table = api.SubmittedAssignment
        query = select(table.student_id, table.extension).filter_by(assignment_id=self._assignment_id)
        try:
            return {student: given for student, given in self._database.execute(query) if given}
        finally:
            self._database.rollback()

    def scores(self, student: str) -> dict[str, NotebookScore]:
        """Return a student's scores in the gradebook, by notebook. Cells without a row are missing."""
        try:
            submitted = self._known_notebooks(self._known_submissions([student]))
            return {self._notebooks[each.notebook_id].name: each.score for each in submitted}
        finally:
            self._database.rollback()

    def write(self, entries: Sequence[StudentScores], why: str = "") -> dict[str, dict[str, NotebookScore]]:
        """Write the scores of all students or of none, in one transaction, and record the tests that changed.

        Args:
            entries: the scores, one entry for each student.
            why: the reason, for the record.

        Returns:
            The new scores in the gradebook, by student and notebook, with a person's points and comments.
        """
        try:
            self._read_due()
            entry_of = {entry.student: entry for entry in entries}
            submissions = self._submissions(entry_of)
            submitted = self._known_notebooks([each for each in submissions if not each.is_new])
            for submission in (each for each in submissions if each.is_new):
                submitted += [_Submitted(api.new_uuid(), notebook, submission) for notebook in self._notebooks]
            changes, changed = _Changes(), list[Entry]()
            recorded: dict[str, dict[str, NotebookScore]] = {entry.student: {} for entry in entries}
            for each in submitted:
                entry, notebook = entry_of[each.submission.student], self._notebooks[each.notebook_id]
                is_blank = not any(cell.is_scored for cell in each.score.cells.values())
                if not entry.keep_others or is_blank or notebook.name in entry.notebooks:
                    score = notebook.after(each.score, entry.notebooks.get(notebook.name))
                    changes.add(each, notebook, score)
                    changed += self._changed(each, notebook.name, score, why)
                else:
                    score = notebook.filled(each.score)
                self._penalise(changes, each, score, entry.times.get(notebook.name))
                recorded[entry.student][notebook.name] = score
            with nullcontext() if self._record is None else self._record.recording(changed):
                self._save_submissions(submissions, entry_of)
                changes.save(self._database)
                self._database.commit()
            return recorded
        except BaseException:
            self._database.rollback()
            raise
        finally:
            self._database.expunge_all()

    def late_penalty(self, student: str, score: float, timestamp: datetime) -> float:
        """Return the penalty of the course's plugin for late submissions, at most the whole score.

        Args:
            student: the student's name; an extension counts.
            score: the score without a penalty.
            timestamp: the time of the submission, in UTC.
        """
        self._read_due()
        return self._penalty(_Submission("", student, timestamp, self._extension(student)), score) or 0.0

    def extended_to(self, student: str) -> datetime | None:
        """Return the due date of a student who has an extension, in UTC."""
        extension = self._extension(student)
        return due_for(self._due, extension) if extension else None

    def _extension(self, student: str) -> timedelta | None:
        keys = {"assignment_id": self._assignment_id, "student_id": student}
        try:
            return self._database.scalar(select(api.SubmittedAssignment.extension).filter_by(**keys))
        finally:
            self._database.rollback()

    def _read_due(self) -> None:
        """Read the due date again: a service writes for weeks, and instructors may change it meanwhile."""
        self._due = self._database.scalar(select(api.Assignment.duedate).filter_by(id=self._assignment_id))

    def _changed(self, row: _Submitted, notebook: str, score: NotebookScore, why: str) -> Iterator[Entry]:
        """Yield an entry for each test of a graded notebook that gives other points than before."""
        before = row.score.cells
        if not any(cell.auto is not None for cell in before.values()):
            return  # it is graded for the first time
        for name, cell in score.cells.items():
            known = before[name].auto if name in before else None
            if cell.is_test and cell.auto != known:
                yield Entry(
                    kind=Kind.CHANGED, who=account(), student=row.submission.student, assignment=self._assignment_name,
                    notebook=notebook, cell=name, before=known, after=cell.auto, why=why,
                )  # fmt: skip

    def _submissions(self, entry_of: dict[str, StudentScores]) -> list[_Submission]:
        """Return the students' submissions with their new timestamps; nothing is written yet."""
        submissions = self._known_submissions(list(entry_of))
        for each in submissions:
            each.timestamp = entry_of[each.student].timestamp or each.timestamp
        missing = sorted(entry_of.keys() - {each.student for each in submissions})
        new = [_Submission(api.new_uuid(), name, entry_of[name].timestamp, None, is_new=True) for name in missing]
        return submissions + new

    def _save_submissions(self, submissions: list[_Submission], entry_of: dict[str, StudentScores]) -> None:
        """Write new timestamps, and insert missing rows."""
        known = [each for each in submissions if not each.is_new and entry_of[each.student].timestamp is not None]
        if times := [{"id": each.id, "timestamp": each.timestamp} for each in known]:
            self._database.execute(update(api.SubmittedAssignment), times)
        if new := [each for each in submissions if each.is_new]:
            missing = [each.student for each in new]
            found = set(self._database.scalars(select(api.Student.id).where(api.Student.id.in_(missing))))
            if students := [{"id": student} for student in missing if student not in found]:
                self._database.execute(insert(api.Student), students)
            keys = {"assignment_id": self._assignment_id}
            rows = [keys | {"id": each.id, "student_id": each.student, "timestamp": each.timestamp} for each in new]
            self._database.execute(insert(api.SubmittedAssignment), rows)

    def _known_submissions(self, students: list[str]) -> list[_Submission]:
        table = api.SubmittedAssignment
        columns = (table.id, table.student_id, table.timestamp, table.extension)
        conditions = table.assignment_id == self._assignment_id, table.student_id.in_(students)
        return [_Submission(*row) for row in self._database.execute(select(*columns).where(*conditions))]

    def _known_notebooks(self, submissions: list[_Submission]) -> list[_Submitted]:
        """Return the notebooks of recorded submissions, with the rows of their cells."""
        if not submissions:
            return []
        table, submission_of = api.SubmittedNotebook, {each.id: each for each in submissions}
        conditions = table.notebook_id.in_(self._notebooks), table.assignment_id.in_(submission_of)
        columns = (table.id, table.notebook_id, table.assignment_id, table.late_submission_penalty)
        submitted = {
            row: _Submitted(row, notebook, submission_of[submission], NotebookScore(penalty=penalty or 0.0))
            for row, notebook, submission, penalty in self._database.execute(select(*columns).where(*conditions))
        }
        grade, answer = api.Grade, api.Comment
        given = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
        graded = {cell: known for notebook in self._notebooks.values() for cell, known in notebook.graded.items()}
        for key, row, cell, auto, manual, extra, waits in self._rows(grade, given, submitted, graded):
            name, blank = graded[cell]
            own = CellScore(blank.max_points, auto, manual, extra, bool(waits), blank.is_test)
            submitted[row].rows[grade, cell], submitted[row].score.cells[name] = key, own
        answered = {cell: name for notebook in self._notebooks.values() for cell, name in notebook.answered.items()}
        said = (answer.auto_comment, answer.manual_comment)
        for key, row, cell, *comments in self._rows(answer, said, submitted, answered):
            submitted[row].rows[answer, cell], submitted[row].score.comments[answered[cell]] = key, Comment(*comments)
        return list(submitted.values())

    def _rows(
        self, table: Any, columns: tuple[Any, ...], submitted: Collection[str], cells: Collection[str]
    ) -> Iterable[Any]:
        # Name the cells, too: nbgrader's indices list them before notebooks. Without them, the database would scan the
        # rows of the whole class for every student.
        conditions = table.cell_id.in_(cells), table.notebook_id.in_(submitted)
        return self._database.execute(select(table.id, table.notebook_id, table.cell_id, *columns).where(*conditions))

    def _penalise(self, changes: "_Changes", row: _Submitted, score: NotebookScore, time: datetime | None) -> None:
        """Put the late penalty into a score, and add it to the changes; `time` is the notebook's own, if it has one."""
        submission = row.submission if time is None else replace(row.submission, timestamp=time)
        penalty = self._penalty(submission, sum(cell.points for cell in score.cells.values()))
        keys = {"assignment_id": row.submission.id, "notebook_id": row.notebook_id} if row.submission.is_new else {}
        changes.put(api.SubmittedNotebook, row.id, keys, {"late_submission_penalty": penalty})
        score.penalty = penalty or 0.0

    def _penalty(self, submission: _Submission, score: float) -> float | None:
        """Return the late penalty, at most the whole score; None if the plugin returns None or nothing is late."""
        late = seconds_late(submission.timestamp, self._due, submission.extension)
        return self._late_penalty.of(submission.student, score, late)


class _Changes:
    """Rows to insert and update. All notebooks share statements: one takes about as long as ten rows."""

    def __init__(self) -> None:
        # The notebooks first: rows of cells refer to them.
        tables = (api.SubmittedNotebook, api.Grade, api.Comment)
        self._new: dict[Any, list[dict[str, Any]]] = {table: [] for table in tables}
        self._changed: dict[Any, list[dict[str, Any]]] = {table: [] for table in tables}

    def put(self, table: Any, key: str, keys: dict[str, str], values: dict[str, Any]) -> None:
        """Add a row: a new one if it has the `keys` of the rows that it refers to."""
        (self._new if keys else self._changed)[table].append({"id": key, **keys, **values})

    def add(self, row: _Submitted, notebook: RegisteredNotebook, score: NotebookScore) -> None:
        """Add the rows of a notebook's cells."""
        for cell, (name, _) in notebook.graded.items():
            own = score.cells[name]
            self._put_cell(api.Grade, row, cell, {"auto_score": own.auto, "needs_manual_grade": own.needs_marking})
        for cell, name in notebook.answered.items():
            self._put_cell(api.Comment, row, cell, {"auto_comment": score.comments[name].auto})

    def _put_cell(self, table: Any, row: _Submitted, cell: str, values: dict[str, Any]) -> None:
        if (table, cell) in row.rows:
            self.put(table, row.rows[table, cell], {}, values)
        else:
            self.put(table, api.new_uuid(), {"cell_id": cell, "notebook_id": row.id}, values)

    def save(self, database: Any) -> None:
        """Write the rows, without a commit."""
        for table, rows in self._new.items():
            if rows:
                # Inserting into the table takes half as long as through nbgrader's class, which makes objects.
                database.execute(insert(table.__table__), rows)
        for table, rows in self._changed.items():
            if rows:
                database.execute(update(table), rows)
