"""Reads the students of a class from a CSV file of nbgrader, Canvas or Moodle, which it recognises by its columns.

    nbgrader: id, first_name, last_name, email, lms_user_id                  ("nbgrader db student import")
    Canvas:   Student, ID, SIS User ID, SIS Login ID, Section, ...           (Gradebook, Export)
    Moodle:   First name, Last name, Username, ID number, Email address, ... (Participants or Grades, Export)

Canvas: Instructor Guide, "How do I export grades in the Gradebook?", and lib/gradebook_exporter.rb of its source.
Moodle: "Grade export" and "Participants" of its documentation; older versions write Surname for Last name.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.students.csv_files import CsvRow, CsvTable, read_csv
from grader.classroom.students.names import require_name
from grader.errors import GraderError
from grader.text import one_line

CHANGED_NUMBER = re.compile(r"\d+[.,]0+|\d(?:[.,]\d+)?[eE]\+\d+")
"""A number as a spreadsheet shows it: 12345.0, 1.23E+05."""
MAX_CHARACTERS = 128
"""The width of a column in nbgrader's table of students."""

POINTS_POSSIBLE = "Points Possible"
POSTING = re.compile(r"\s*(?:Muted|Manual Posting.*)?\s*", re.IGNORECASE)
"""Each cell of the row in Canvas's gradebook that marks grades as hidden from students."""
TEST_STUDENT = "Student, Test"
QUOTED = re.compile(r'="(.*)"')
"""Canvas's form of a name that begins with an equals sign."""


@dataclass(frozen=True)
class EnrolledStudent:
    """A student as in a roster or the gradebook; '' means unknown."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True, kw_only=True)
class RosterEntry(EnrolledStudent):
    """A student in a roster, with the number of the line."""

    line: int


@dataclass(frozen=True)
class Roster:
    """The students in a file, with reasons for refused lines and for lines that were left out.

    `kind` names the program with these columns. The ids in `id_column` name the students' folders; `id_columns` are
    the other columns with an id for each student.
    """

    path: Path
    kind: str
    id_column: str
    id_columns: list[str]
    entries: list[RosterEntry]
    refused: list[str]
    left_out: list[str]

    @property
    def alternatives(self) -> str:
        """The other columns that could hold the ids, as advice."""
        return f"--id-column could name {' or '.join(map(repr, self.id_columns))}"

    def require_usable(self) -> list[str]:
        """Return the ids; raise GraderError if a line was refused or there are no students."""
        if self.refused:
            count = len(self.refused)
            lines = f"{count} lines were" if count > 1 else "a line was"
            others = self.alternatives if self.id_columns else "--id-column names another column for the ids"
            raise GraderError(
                f"{self.path} was not used, because {lines} refused, with {self.id_column!r} as the id: {others}",
                tuple(self.refused),
            )
        if not self.entries:
            raise GraderError(f"the roster {self.path} names no student: it needs a row for each, below the header")
        return [entry.id for entry in self.entries]


@dataclass(frozen=True)
class _Format:
    """The columns of a program: those that identify it, those with ids in order of preference, and the others."""

    kind: str
    known_by: tuple[tuple[str, ...], ...]
    ids: tuple[str, ...]
    first_name: tuple[str, ...]
    last_name: tuple[str, ...]
    email: tuple[str, ...]
    lms_user_id: tuple[str, ...] = ()
    full_name: tuple[str, ...] = ()


CANVAS = _Format(
    "Canvas's gradebook",
    (("Student", "ID", "Section"), ("LastName", "FirstName", "ID", "Section")),
    ("SIS Login ID", "SIS User ID", "ID"),
    ("FirstName",), ("LastName",), ("SIS Login ID",), ("ID",), ("Student",),
)  # fmt: skip
MOODLE = _Format(
    "Moodle's list of students",
    (("First name", "Last name"), ("First name", "Surname")),
    ("Username", "ID number", "Email address"),
    ("First name",), ("Last name", "Surname"), ("Email address",),
)  # fmt: skip
NBGRADER = _Format(
    "nbgrader's columns", (("id",),), ("id",), ("first_name",), ("last_name",), ("email",), ("lms_user_id",)
)

FORMATS = (CANVAS, MOODLE, NBGRADER)


def read_roster(path: Path, id_column: str = "") -> Roster:
    """Return the students in a CSV file of nbgrader, Canvas or Moodle.

    Args:
        path: the file.
        id_column: the column with the ids; by default, the first that the platform prefers.

    Raises:
        GraderError: the file cannot be read, has an unknown format, or lacks the column.
    """
    table = read_csv(path)
    form = next((form for form in FORMATS if any(table.has(*names) for names in form.known_by)), None)
    if form is None:
        raise GraderError(
            f"the roster {path} has the columns {', '.join(table.header)}: it needs 'id' (nbgrader), 'Student', 'ID' "
            "and 'Section' (Canvas's gradebook), or 'First name' and 'Last name' (Moodle, exported in English)"
        )
    rows, left_out = list[CsvRow](), list[str]()
    for row in table.rows:
        if form is CANVAS and describes_columns(row):
            continue
        if form is CANVAS and row.cell(table.column("Student")) == TEST_STUDENT:
            left_out.append(f"line {row.line}: Canvas's test student was left out")
            continue
        rows.append(row)
    choices = [column for name in form.ids if (column := table.column(name)) is not None]
    filled = [column for column in choices if all(row.cell(column) for row in rows)]
    chosen = table.column(id_column) if id_column else next(iter(filled or choices), None)
    if chosen is None:
        raise GraderError(
            f"the roster {path} has no column {id_column or ' or '.join(form.ids)!r} for the ids: use --id-column with "
            f"one of {', '.join(table.header)}"
        )
    entries = [_roster_entry(table, row, form, chosen) for row in rows]
    others = [table.header[column] for column in filled if column != chosen]
    refused = _refused(entries, table.header[chosen])
    return Roster(path, form.kind, table.header[chosen], others, entries, refused, left_out)


def describes_columns(row: CsvRow) -> bool:
    """Return True if a row of Canvas's gradebook describes its columns instead of a student."""
    return POINTS_POSSIBLE in row.cells[0] or all(POSTING.fullmatch(cell) for cell in row.cells)


def _roster_entry(table: CsvTable, row: CsvRow, form: _Format, id_column: int) -> RosterEntry:
    def cell(names: tuple[str, ...]) -> str:
        text = row.cell(table.column(*names))
        quoted = QUOTED.fullmatch(text)
        return quoted[1] if quoted else text

    first, last, email = cell(form.first_name), cell(form.last_name), cell(form.email)
    if full := cell(form.full_name):
        last, _, first = full.partition(", ")
    if "@" not in email:
        email = ""  # a login, which is often an address, but may be a user name
    return RosterEntry(row.cells[id_column].strip(), first, last, email, cell(form.lms_user_id), line=row.line)


def _refused(entries: list[RosterEntry], id_column: str) -> list[str]:
    """The errors in entries, with their lines."""
    refused, line_of = [], dict[tuple[str, str], int]()
    for entry in entries:
        who = one_line(f"{entry.first_name} {entry.last_name}").strip() or "no name"
        reasons = []
        if not entry.id:
            reasons.append(f"{id_column!r} is empty ({who}): fill it in, or choose another column with --id-column")
        else:
            try:
                require_name(entry.id)
            except GraderError as error:
                reasons.append(str(error))
        for text in filter(CHANGED_NUMBER.fullmatch, (entry.id, entry.lms_user_id)):
            reasons.append(
                f"{text!r} is a number as a spreadsheet rewrites it: make the column text there, and correct it"
            )
        for kind, value in (("the id", entry.id), ("the platform's ID", entry.lms_user_id)):
            key = kind, unicodedata.normalize("NFKC", value).casefold()
            if value and (line := line_of.setdefault(key, entry.line)) != entry.line:
                reasons.append(f"{kind} {one_line(value, 120)!r} is on line {line} as well: remove one of them")
        texts = entry.first_name, entry.last_name, entry.email, entry.lms_user_id
        if any(len(text) > MAX_CHARACTERS for text in texts):
            reasons.append(f"a cell has more than the {MAX_CHARACTERS} characters that a gradebook holds: shorten it")
        refused += [f"line {entry.line}: {reason}" for reason in reasons]
    return refused
