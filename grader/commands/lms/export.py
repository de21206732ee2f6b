"""Writes grades as the CSV files that Canvas, Moodle and spreadsheets take in.

gradebook --Grades--> rows of Canvas's gradebook, of Moodle's grading worksheet, or of nbgrader's table --> CSV

Points count as in `nbgrader export`: extra credit and penalties are in them, and a student who handed in nothing has 0.
A platform shows grades to students, so points are left out there while written answers wait for marking.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from grader.classroom.gradebook.reader import Ledger, SubmissionScore
from grader.classroom.students.csv_files import Row, Table, as_csv
from grader.classroom.students.roster import POINTS_POSSIBLE, describes_columns
from grader.commands.lms import canvas
from grader.commands.lms.moodle import Worksheet
from grader.commands.lms.senders import People, Sender
from grader.errors import GraderError
from grader.text import one_line, plural

NBGRADER_COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
MAX_NAMES = 10
"""How many students a note names."""

Cells: TypeAlias = list[str | float | None]


@dataclass
class Exported:
    """The rows of a CSV file, and in words what a person should know about them."""

    rows: list[Cells] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The file."""
        return as_csv(self.rows)

    def note(self, students: Sequence[str], what: str) -> None:
        """Note something about students, if there are any; `what` follows the word."""
        if students:
            names = ", ".join(one_line(name, 100) for name in students[:MAX_NAMES])
            more = f" and {len(students) - MAX_NAMES} more" if len(students) > MAX_NAMES else ""
            self.notes.append(f"{plural(len(students), 'student')} {what}: {names}{more}")


@dataclass(frozen=True)
class Exporter:
    """Exports grades.

    Args:
        people: the students in the gradebook.
        grades: what they earned, one entry for each assignment.
        include_unmarked: whether a platform gets points while written answers wait for marking.
        comments: whether Moodle gets a comment with the points of each notebook.
    """

    people: People
    grades: list[Ledger]
    include_unmarked: bool = False
    comments: bool = False

    def table(self) -> Exported:
        """Return the table of nbgrader's own export, with one more column: whether answers wait for marking."""
        exported = Exported([[*NBGRADER_COLUMNS, "needs_marking"]])
        for each in self.grades:
            for student, person in self.people.by_id.items():
                grade, total = each.of(student), each.of(student).total
                exported.rows.append([
                    each.assignment, str(each.due or ""), str(grade.handed_in or ""), student, person.last_name,
                    person.first_name, person.email, total.points, total.penalty, total.counted, _max_points(each),
                    "yes" if total.needs_marking else "no",
                ])  # fmt: skip
        self._note_waiting(exported, "with points that are incomplete")
        return exported

    def for_canvas(self, template: Table, titles: Sequence[str]) -> Exported:
        """Return Canvas's own gradebook with grades in it: what describes students, and the columns of the assignments.

        Other columns are left out, so that an import changes no grade that is newer than the template.

        Args:
            template: the gradebook that Canvas exported.
            titles: the titles of the assignments in it; without any, they are those of the assignments.

        Raises:
            GraderError: it has no such columns, or gives another number of points.
        """
        if not all(template.has(name) for name in ("ID", "Section")):
            raise GraderError(f"{template.path} is not Canvas's gradebook: it has no columns 'ID' and 'Section'")
        titles = titles or [""] * len(self.grades)
        columns = [
            canvas.column_of(template, each.assignment, title) for each, title in zip(self.grades, titles, strict=True)
        ]
        info = [number for number, name in enumerate(template.header) if name in canvas.INFO]
        exported = Exported([[template.header[number] for number in [*info, *columns]]])
        students, excused = list[Row](), list[str]()
        for row in template.rows:
            if not describes_columns(row):
                students.append(row)
                continue
            if POINTS_POSSIBLE in row.cells[0]:
                self._require_same_points(template, [row.cells[number] for number in columns])
            exported.rows.append([row.cells[number] for number in [*info, *columns]])
        found = self._found(exported, students, lambda row: canvas.sender_in(template, row))
        for row, student in found:
            before = [row.cell(number) for number in columns]
            excused += [student] if set(before) & canvas.KEPT_GRADES else []
            if any(self._is_given(each.of(student)) for each in self.grades):
                exported.rows.append([*(row.cells[number] for number in info), *self._cells(student, before)])
        exported.note(excused, "excused or not assigned in Canvas, left so")
        self._note_usual(exported, [student for _, student in found])
        return exported

    def for_canvas_without_template(self) -> Exported:
        """Return a gradebook in Canvas's columns: it finds students by ID or login, and assignments by their titles."""
        names = [each.assignment for each in self.grades]
        exported = Exported([["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names]])
        most = [_points(_max_points(each)) for each in self.grades]
        exported.rows.append([f"    {POINTS_POSSIBLE}", *[""] * 4, *most])
        for student, person in self.people.by_id.items():
            if any(self._is_given(each.of(student)) for each in self.grades):
                name = ", ".join(filter(None, (person.last_name, person.first_name)))
                cells = self._cells(student, [""] * len(names))
                exported.rows.append([name, person.lms_user_id, "", student, "", *cells])
        exported.notes.append(
            "without --template, Canvas looks for assignments with these very titles, and makes new ones if it finds "
            "none; use a gradebook that Canvas exported to be sure"
        )
        without = [person.id for person in self.people.by_id.values() if not person.lms_user_id]
        exported.note(without, "without an ID of Canvas in the gradebook ('grader roster' puts it there)")
        self._note_usual(exported, list(self.people.by_id))
        return exported

    def for_moodle(self, worksheet: Worksheet) -> Exported:
        """Return Moodle's grading worksheet with grades in it, and only the rows of students who have one.

        Args:
            worksheet: the worksheet that Moodle wrote.

        Raises:
            GraderError: it belongs to another number of points.
        """
        table, (grades,) = worksheet.table, self.grades
        column, comment = table.column("Grade"), table.column("Feedback comments")
        exported = Exported([list(table.header)])
        if self.comments and comment is None:
            exported.notes.append("no comments were written: the worksheet has no column 'Feedback comments'")
        found, closed = self._found(exported, table.rows, worksheet.sender_in), list[str]()
        for row, student in found:
            grade = grades.of(student)
            self._require_same_points(table, [row.cell(table.column("Maximum Grade"))])
            if row.cell(table.column("Grade can be changed")).casefold() == "no":
                closed.append(student)
            elif self._is_given(grade):
                cells: Cells = [one_line(text, len(text)) for text in row.cells]
                cells[column or 0] = _points(grade.total.counted)
                if self.comments and comment is not None:
                    cells[comment] = _words(grades, student)
                exported.rows.append(cells)
        exported.note(closed, "with a grade that cannot be changed in Moodle, left out")
        above = [student for _, student in found if grades.of(student).total.counted > _max_points(grades)]
        exported.note(above, "with more points than the maximum, which Moodle does not import")
        self._note_usual(exported, [student for _, student in found])
        return exported

    def for_moodle_without_worksheet(self) -> Exported:
        """Return a table for Moodle's gradebook, whose import asks which column means which of its own."""
        header: Cells = ["First name", "Last name", "id", "Email address"]
        for each in self.grades:
            header += [each.assignment, *([f"{each.assignment} (feedback)"] if self.comments else [])]
        exported = Exported([header])
        for student, person in self.people.by_id.items():
            cells: Cells = []
            for each in self.grades:
                grade = each.of(student)
                is_given = self._is_given(grade)
                cells.append(_points(grade.total.counted) if is_given else "")
                if self.comments:
                    cells.append(_words(each, student) if is_given else "")
            if any(cells):
                exported.rows.append([person.first_name, person.last_name, student, person.email, *cells])
        exported.notes.append(
            "without --template, import this in Moodle's gradebook, and say there what 'id' and the grades are"
        )
        self._note_usual(exported, list(self.people.by_id))
        return exported

    def _found(
        self, exported: Exported, rows: Sequence[Row], sender_in: Callable[[Row], Sender]
    ) -> list[tuple[Row, str]]:
        """The rows of a template with their students; rows of strangers, and several of one student, are left out."""
        found, unknown = list[tuple[Row, str]](), list[str]()
        for row in rows:
            try:
                found.append((row, self.people.find(sender_in(row))))
            except GraderError:
                unknown.append(f"line {row.line}")
        exported.note(unknown, "of the template not in the gradebook")
        lines = Counter(student for _, student in found)
        doubtful = [f"{student} (line {row.line})" for row, student in found if lines[student] > 1]
        if doubtful:
            exported.notes.append(f"left out, because several lines may mean the same student: {', '.join(doubtful)}")
        return [(row, student) for row, student in found if lines[student] == 1]

    def _is_given(self, grade: SubmissionScore) -> bool:
        return self.include_unmarked or not grade.total.needs_marking

    def _cells(self, student: str, before: list[str]) -> Cells:
        """A student's points in each assignment; what Canvas has stays if there are none to give."""
        cells: Cells = []
        for each, cell in zip(self.grades, before, strict=True):
            is_given = self._is_given(each.of(student)) and cell not in canvas.KEPT_GRADES
            cells.append(_points(each.of(student).total.counted) if is_given else cell)
        return cells

    def _require_same_points(self, table: Table, cells: list[str]) -> None:
        for each, cell in zip(self.grades, cells, strict=True):
            try:
                points = float(cell.strip().replace(",", "."))
            except ValueError:
                continue  # the platform does not say
            if abs(points - _max_points(each)) > 0.005:
                raise GraderError(
                    f"{each.assignment} has {_max_points(each):g} points in the gradebook, and {points:g} in "
                    f"{table.path}: set {_max_points(each):g} in the platform, and download the file again"
                )

    def _note_waiting(self, exported: Exported, what: str) -> None:
        for each in self.grades:
            waiting = [student for student in self.people.by_id if each.of(student).total.needs_marking]
            exported.note(waiting, f"waiting for marking in {each.assignment}, {what}")

    def _note_usual(self, exported: Exported, students: list[str]) -> None:
        """Note which students get no points, and why, if `students` can have some."""
        known = {student for each in self.grades for student in each.by_student}
        exported.note(sorted(known - set(students)), "with points but not in the template")
        self._note_waiting(exported, "left out (--unmarked puts them in)")
        for each in self.grades:
            nothing = [student for student in students if student not in each.by_student]
            exported.note(nothing, f"without a submission of {each.assignment}, with 0 points as nbgrader counts")


def _words(ledger: Ledger, student: str) -> str:
    """A comment: the points of each notebook, and the penalty."""
    if student not in ledger.by_student:
        return "not handed in"
    score = ledger.of(student)
    parts = [f"{name}: {each.points:g} of {each.max_points:g}" for name, each in sorted(score.notebooks.items())]
    return "; ".join([*parts, *([f"late: {score.total.penalty:g} points taken off"] if score.total.penalty else [])])


def _max_points(ledger: Ledger) -> float:
    return ledger.blank.total.max_points


def _points(score: float) -> str:
    """A number as both platforms read it: with a point, and at most two digits after it, as Canvas shows."""
    return f"{score:.2f}".rstrip("0").rstrip(".")
