"""Reads Canvas's files: the gradebook, which it exports and imports as CSV, and the archive of submissions.

Instructor Guide: "How do I export grades in the Gradebook?", "How do I import grades in the Gradebook?", "How do I
download all student submissions for an assignment?". Canvas's source has the details:

- lib/gradebook_exporter.rb: columns, the row "    Points Possible", EX for excused, N/A for not assigned.
- lib/gradebook_importer.rb: finds a student by ID, else by SIS IDs, else by name; an assignment by the number after
  its title, else by its title; an empty cell removes a grade, a missing column changes nothing.
- lib/content_zipper.rb: NAME[_LATE]_USER_FILE_TITLE, with the sortable name in lower case and reduced to word
  characters; `_101_` is removed from a name before the other characters, so `_-101_-9_` becomes `_101_9_`. File
  numbers increase. Every entry has the time of the download, so submission times are unknown.
"""

import re

from grader.classroom.students.csv_files import CsvRow, CsvTable
from grader.commands.lms.identities import ArchiveEntryOwner, LmsIdentity, name_key
from grader.errors import GraderError

INFO = (
    "Student",
    "LastName",
    "FirstName",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Integration ID",
    "Root Account",
    "Section",
)
"""Columns about a student, in the order that Canvas requires; assignments follow."""
TITLE = re.compile(r"(?P<title>.*?)\s*\((?P<number>\d+)\)")
KEPT_GRADES = {"EX", "N/A"}
"""Cells with the reason for a missing grade; an export keeps them."""
UPLOAD = re.compile(
    r"(?P<who>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<file>\d+)_(?P<title>.+)", re.IGNORECASE | re.DOTALL
)
NUMBERS = re.compile(r"(?=_(\d+)_\d+_)")
"""Possible splits of a name. Students choose names and titles, which may contain another student's number."""
ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<who>anon_[^_]+)_(?P<file>\d+)_(?P<title>.+)", re.IGNORECASE | re.DOTALL)
NO_FILE = re.compile(r"(?P<who>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<title>(?:text|link)\.html)", re.IGNORECASE)


def entry_owner(parts: tuple[str, ...]) -> ArchiveEntryOwner | None:
    """Return the owner of a file in an archive of submissions; None if Canvas does not name files like this.

    Args:
        parts: the components of its path.
    """
    name = parts[-1]
    if found := ANONYMOUS.fullmatch(name):
        return ArchiveEntryOwner(
            found["who"], LmsIdentity(""), (found["title"],), int(found["file"]), bool(found["late"])
        )
    if found := UPLOAD.fullmatch(name):
        identity = LmsIdentity(found["who"], lms_user_id=found["user"], ambiguous_ids=tuple(NUMBERS.findall(name)[1:]))
        return ArchiveEntryOwner(found["user"], identity, (found["title"],), int(found["file"]), bool(found["late"]))
    if found := NO_FILE.fullmatch(name):
        return ArchiveEntryOwner(found["user"], LmsIdentity(found["who"], lms_user_id=found["user"]), (found["title"],))
    return None


def column_of(template: CsvTable, assignment: str, title: str) -> int:
    """Return the index of an assignment's column in Canvas's gradebook.

    Args:
        template: the gradebook.
        assignment: the assignment's name, and its title by default.
        title: its title in Canvas, with or without its number, or the number alone; '' for the default.

    Raises:
        GraderError: no column or several columns have this title.
    """
    wanted, columns = title or assignment, dict[int, str]()
    for number, header in enumerate(template.header):
        if header not in INFO and (found := TITLE.fullmatch(header)):
            names = header.casefold(), found["title"].casefold(), found["number"]
            if wanted.casefold() in names or name_key(found["title"]) == name_key(wanted):
                columns[number] = header
    if len(columns) == 1:
        return next(iter(columns))
    titles = ", ".join(repr(header) for header in template.header if header not in INFO and TITLE.fullmatch(header))
    raise GraderError(
        f"{template.path} has {len(columns) or 'no'} columns called {wanted!r} for {assignment}: name one with "
        f"--column; known titles: {titles or 'none'}"
    )


def identity_in(template: CsvTable, row: CsvRow) -> LmsIdentity:
    """Return the identity in a row of Canvas's gradebook.

    Args:
        template: the gradebook.
        row: the row.
    """

    def cell(name: str) -> str:
        return row.cell(template.column(name))

    name = cell("Student") or cell("LastName") + cell("FirstName")
    return LmsIdentity(name, lms_user_id=cell("ID"), logins=(cell("SIS Login ID"), cell("SIS User ID")))
