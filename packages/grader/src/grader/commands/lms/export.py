"""Writes grades as CSV for Canvas, Moodle and spreadsheets: `grader export` and `nbgrader export`.

gradebook --Ledger--> rows of Canvas's gradebook, of Moodle's grading worksheet, or of nbgrader's table --> CSV

Points include extra credit and penalties as in `nbgrader export`, and a student without a submission has 0.
Platforms show grades to students, so they get no points while written answers wait for marking, and none that are
older than the course: their maximum may be another one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, List, Unicode

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger, SubmissionScore, ledger_of
from grader.classroom.gradebook.rules import due_for
from grader.classroom.source.inputs import marked_outdated, outdated_in
from grader.classroom.students.csv_files import CsvRow, CsvTable, as_csv, read_csv
from grader.classroom.students.roster import POINTS_POSSIBLE, describes_columns
from grader.commands.lms import canvas
from grader.commands.lms.identities import EnrolledStudents, LmsIdentity
from grader.commands.lms.moodle import Worksheet, read_worksheet
from grader.errors import GraderError
from grader.files import replace_file
from grader.text import one_line, plural, some_names

NBGRADER_COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
INCOMPLETE = "with points that are incomplete"
"""What a notice says of students who wait for marking and are in the file."""

Cells: TypeAlias = list[str | float | None]


class LmsExportPlugin(ExportPlugin):
    """Writes grades for `nbgrader export`. The settings are the options of `grader export`."""

    template = Unicode(
        help="Canvas's gradebook, or Moodle's grading worksheet, as downloaded there, whose cells are filled in."
    ).tag(config=True)
    column = List(
        Unicode(), help="For Canvas, the assignments' titles if they differ from the names: one for each, in order."
    ).tag(config=True)
    comments = Bool(False, help="For Moodle, also write the points of each notebook.").tag(config=True)
    unmarked = Bool(False, help="Include students whose answers still need marking.").tag(config=True)
    outdated = Bool(
        False, help="Include students who were graded before source/, the limits, or the rule for late work changed."
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the grades and log notices; end the application if that fails.

        Args:
            gradebook: an open gradebook.
        """
        try:
            course_dir = CourseDir(Path(self.parent.coursedir.root), self.parent.config)
            self.log.info("%s", self.write(course_dir, gradebook, lambda line: self.log.warning("%s", one_line(line))))
        except GraderError as error:
            self.parent.fail("%s", one_line(error))

    def write(self, course_dir: CourseDir, gradebook: Gradebook, note: Callable[[str], None]) -> str:
        """Write the grades of the configured assignments and students, by default all; return a summary.

        Args:
            course_dir: the course folder.
            gradebook: an open gradebook.
            note: shows a notice.

        Raises:
            GraderError: an assignment is missing, the template does not fit, or the file cannot be written.
        """
        names = [*map(str, self.assignment)] or [assignment.name for assignment in gradebook.assignments]
        if self.column and len(self.column) != len(names):
            raise GraderError(
                f"{self.option('column')} is given {len(self.column)} times for {len(names)} assignments: give one each"
            )
        self.grades = [ledger_of(gradebook.db, name) for name in names]
        self.enrolled = EnrolledStudents.of(gradebook.db)
        # A template's rows are matched with all students, so that a namesake is not taken for the one who was chosen.
        only = {*map(str, self.student)} or self.enrolled.by_id.keys()
        self.chosen = {student: person for student, person in self.enrolled.by_id.items() if student in only}
        self.notes = list(filter(None, (marked_outdated(course_dir, each) for each in self.grades)))
        self.older = list(filter(None, (outdated_in(each, self.chosen) for each in self.grades)))
        self.written = set[str]()
        rows = self.rows()
        for line in self.notes:
            note(line)
        try:
            replace_file(Path(self.to), as_csv(rows))
        except OSError as error:
            raise GraderError(f"{self.to} cannot be written ({error.strerror}): choose another file") from None
        return f"wrote {self.to}: {plural(len(self.written), 'student')}"

    def option(self, setting: str) -> str:
        """Return a setting as people give it: to nbgrader's command, or else to `grader export`."""
        return f"--{type(self).__name__}.{setting}" if self.parent else f"--{setting}"

    def rows(self) -> list[Cells]:
        """Return the rows of the file; raise GraderError if the template does not fit."""
        raise NotImplementedError

    def _note(self, students: Sequence[str], what: str) -> None:
        """Add the notice "N students `what`: names", unless N is 0."""
        if students:
            self.notes.append(f"{plural(len(students), 'student')} {what}: {some_names(students)}")

    def _found(self, rows: Sequence[CsvRow], identity_in: Callable[[CsvRow], LmsIdentity]) -> list[tuple[CsvRow, str]]:
        """The rows of a template with their students, without unknown students and those with several rows."""
        found, unknown = list[tuple[CsvRow, str]](), list[str]()
        for row in rows:
            try:
                found.append((row, self.enrolled.find(identity_in(row))))
            except GraderError:
                unknown.append(f"line {row.line}")
        self._note(unknown, "of the template not in the gradebook")
        lines = Counter(student for _, student in found)
        doubtful = [f"{student} (line {row.line})" for row, student in found if lines[student] > 1]
        if doubtful:
            self.notes.append(f"left out, because several lines may mean the same student: {', '.join(doubtful)}")
        return [(row, student) for row, student in found if lines[student] == 1 and student in self.chosen]

    def _is_given(self, grade: SubmissionScore) -> bool:
        return (self.unmarked or not grade.total.needs_marking) and (self.outdated or not grade.outdated)

    def _require_same_points(self, table: CsvTable, cells: list[str]) -> None:
        for each, cell in zip(self.grades, cells, strict=True):
            try:
                points = float(cell.strip().replace(",", "."))
            except ValueError:
                continue  # the platform has no maximum
            if abs(points - _max_points(each)) > 0.005:
                raise GraderError(
                    f"{each.assignment} has {_max_points(each):g} points in the gradebook, and {points:g} in "
                    f"{table.path}: set {_max_points(each):g} on the platform, and download the file again"
                )

    def _note_waiting(self, what: str) -> None:
        for each in self.grades:
            waiting = [student for student in self.chosen if each.of(student).total.needs_marking]
            self._note(waiting, f"waiting for marking in {each.assignment}, {what}")

    def _note_usual(self, students: list[str]) -> None:
        """Add notices on students without points; `students` are those for whom the file has a row."""
        known = {student for each in self.grades for student in each.by_student if student in self.chosen}
        self._note(sorted(known - set(students)), "with points but not in the template")
        self._note_waiting(INCOMPLETE if self.unmarked else f"left out ({self.option('unmarked')} puts them in)")
        left_out = "" if self.outdated else f"; left out ({self.option('outdated')} puts them in)"
        self.notes += [f"{sentence}{left_out}" for sentence in self.older]
        for each in self.grades:
            nothing = [student for student in students if student not in each.by_student]
            self._note(nothing, f"without a submission of {each.assignment}, with 0 points as nbgrader counts")


class TableExportPlugin(LmsExportPlugin):
    """Writes nbgrader's table for a spreadsheet, with columns for scores that need marking or are outdated."""

    to = Unicode("grades.csv", help="The file to write.").tag(config=True)

    def rows(self) -> list[Cells]:
        """Return the rows of the table."""
        rows: list[Cells] = [[*NBGRADER_COLUMNS, "needs_marking", "outdated"]]
        for each in self.grades:
            for student, person in self.chosen.items():
                grade = each.of(student)
                total = grade.total
                self.written.add(student)
                rows.append([
                    each.assignment, str(due_for(each.due, grade.extension) or ""), str(grade.handed_in or ""),
                    student, person.last_name, person.first_name, person.email,
                    total.points, total.penalty, total.counted, _max_points(each),
                    "yes" if total.needs_marking else "no", "yes" if grade.outdated else "no",
                ])  # fmt: skip
        self._note_waiting(INCOMPLETE)
        self.notes += self.older
        return rows


class CanvasExportPlugin(LmsExportPlugin):
    """Writes grades for Canvas."""

    to = Unicode("grades-canvas.csv", help="The file to write.").tag(config=True)

    def rows(self) -> list[Cells]:
        """Return the rows of Canvas's gradebook."""
        return self._filled_in(read_csv(Path(self.template))) if self.template else self._without_template()

    def _filled_in(self, template: CsvTable) -> list[Cells]:
        """Canvas's own gradebook with grades, reduced to the columns of students and of these assignments.

        With other columns, an import would overwrite grades that are newer than the template.
        """
        if not all(template.has(name) for name in ("ID", "Section")):
            raise GraderError(f"{template.path} is not Canvas's gradebook: it has no columns 'ID' and 'Section'")
        titles = self.column or [""] * len(self.grades)
        columns = [
            canvas.column_of(template, each.assignment, title) for each, title in zip(self.grades, titles, strict=True)
        ]
        info = [number for number, name in enumerate(template.header) if name in canvas.INFO]
        rows: list[Cells] = [[template.header[number] for number in [*info, *columns]]]
        for row in filter(describes_columns, template.rows):
            if POINTS_POSSIBLE in row.cells[0]:
                self._require_same_points(template, [row.cells[number] for number in columns])
            rows.append([row.cells[number] for number in [*info, *columns]])
        students = [row for row in template.rows if not describes_columns(row)]
        found, excused = self._found(students, lambda row: canvas.identity_in(template, row)), list[str]()
        for row, student in found:
            before = [row.cell(number) for number in columns]
            excused += [student] if set(before) & canvas.KEPT_GRADES else []
            if any(self._is_given(each.of(student)) for each in self.grades):
                self.written.add(student)
                rows.append([*(row.cells[number] for number in info), *self._cells(student, before)])
        self._note(excused, "excused or not assigned in Canvas, left unchanged")
        self._note_usual([student for _, student in found])
        return rows

    def _without_template(self) -> list[Cells]:
        """A gradebook in Canvas's columns; Canvas finds students by ID or login, and assignments by title."""
        names = [each.assignment for each in self.grades]
        rows: list[Cells] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names]]
        rows.append([f"    {POINTS_POSSIBLE}", *[""] * 4, *(_points(_max_points(each)) for each in self.grades)])
        for student, person in self.chosen.items():
            if any(self._is_given(each.of(student)) for each in self.grades):
                name = ", ".join(filter(None, (person.last_name, person.first_name)))
                cells = self._cells(student, [""] * len(names))
                self.written.add(student)
                rows.append([name, person.lms_user_id, "", student, "", *cells])
        self.notes.append(
            f"without {self.option('template')}, Canvas looks for assignments with these very titles, and makes new "
            "ones if it finds none; use a gradebook that Canvas exported to be sure"
        )
        without = [person.id for person in self.chosen.values() if not person.lms_user_id]
        self._note(without, "without a Canvas ID in the gradebook ('grader roster' puts it there)")
        self._note_usual(list(self.chosen))
        return rows

    def _cells(self, student: str, before: list[str]) -> Cells:
        """A student's points in each assignment; without any, the cell of Canvas stays."""
        cells: Cells = []
        for each, cell in zip(self.grades, before, strict=True):
            is_given = self._is_given(each.of(student)) and cell not in canvas.KEPT_GRADES
            cells.append(_points(each.of(student).total.counted) if is_given else cell)
        return cells


class MoodleExportPlugin(LmsExportPlugin):
    """Writes grades for Moodle."""

    to = Unicode("grades-moodle.csv", help="The file to write.").tag(config=True)

    def rows(self) -> list[Cells]:
        """Return the rows of Moodle's grading worksheet, or a table for its gradebook."""
        return self._filled_in(read_worksheet(Path(self.template))) if self.template else self._without_worksheet()

    def _filled_in(self, worksheet: Worksheet) -> list[Cells]:
        """Moodle's grading worksheet with grades, reduced to the students who have one."""
        if len(self.grades) > 1:
            raise GraderError(
                f"a grading worksheet of Moodle has one assignment: export one, or leave {self.option('template')} out"
            )
        table, (grades,) = worksheet.table, self.grades
        column, comment = table.column("Grade"), table.column("Feedback comments")
        rows: list[Cells] = [list(table.header)]
        if self.comments and comment is None:
            self.notes.append("no comments were written: the worksheet has no column 'Feedback comments'")
        found, closed = self._found(table.rows, worksheet.identity_in), list[str]()
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
                self.written.add(student)
                rows.append(cells)
        self._note(closed, "with a grade that cannot be changed in Moodle, left out")
        above = [student for _, student in found if grades.of(student).total.counted > _max_points(grades)]
        self._note(above, "with more points than the maximum, which Moodle does not import")
        self._note_usual([student for _, student in found])
        return rows

    def _without_worksheet(self) -> list[Cells]:
        """A table for Moodle's gradebook, whose import asks for the meaning of each column."""
        header: Cells = ["First name", "Last name", "id", "Email address"]
        for each in self.grades:
            header += [each.assignment, *([f"{each.assignment} (feedback)"] if self.comments else [])]
        rows: list[Cells] = [header]
        for student, person in self.chosen.items():
            cells: Cells = []
            for each in self.grades:
                grade = each.of(student)
                points_and_comment = (_points(grade.total.counted), _words(each, student))
                cells += (points_and_comment if self._is_given(grade) else ("", ""))[: 1 + self.comments]
            if any(cells):
                self.written.add(student)
                rows.append([person.first_name, person.last_name, student, person.email, *cells])
        self.notes.append(
            f"without {self.option('template')}, import this in Moodle's gradebook, and say there what 'id' and "
            "the grades are"
        )
        self._note_usual(list(self.chosen))
        return rows


EXPORTS = {"canvas": CanvasExportPlugin, "moodle": MoodleExportPlugin, "csv": TableExportPlugin}


def _words(ledger: Ledger, student: str) -> str:
    """A comment with the points of each notebook and the penalty."""
    if student not in ledger.by_student:
        return "not handed in"
    score = ledger.of(student)
    parts = [f"{name}: {each.points:g} of {each.max_points:g}" for name, each in sorted(score.notebooks.items())]
    return "; ".join([*parts, *([f"late: {score.total.penalty:g} points taken off"] if score.total.penalty else [])])


def _max_points(ledger: Ledger) -> float:
    return ledger.blank.total.max_points


def _points(score: float) -> str:
    """A number for both platforms: a decimal point, and at most the two decimals that Canvas shows."""
    return f"{score:.2f}".rstrip("0").rstrip(".")
