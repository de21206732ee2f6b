"""Reads Moodle's files: the grading worksheet of an assignment, and the archive of its submissions.

MoodleDocs: "Using Assignment" (Download all submissions, Download grading worksheet, Upload grading worksheet) and
"Grade import". Moodle's source has the details:

- mod/assign/classes/downloader.php: NAME_NUMBER_assignsubmission_file/PATH, or with an underscore for the slash; older
  versions end the folder's name with an underscore. In NAME, spaces replace underscores. The number identifies a
  participant of this assignment, not a user, and ends the Identifier in the worksheet. If groups submit, NAME is the
  group's name, a hyphen and the member's name. Every entry has the time of the download.
- mod/assign/gradingtable.php and feedback/offline: the worksheet's columns, here in English. Moodle ignores
  a grade that is empty, above the maximum or older than its own. Times are in the time zone of the user's profile.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from grader.classroom.student import MAX_TIME, parsed_time
from grader.classroom.students.csv_files import CsvRow, CsvTable, read_csv
from grader.commands.lms.identities import ArchiveEntryOwner, LmsIdentity
from grader.errors import GraderError

SUBMISSION = re.compile(
    r"(?P<who>[^_]+)(?:_(?P<participant>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<rest>.*))?", re.DOTALL
)
IDENTIFIER = re.compile(r".*?(?P<participant>\d+)", re.DOTALL)
GROUPS = (
    "for a submission of a group ('Group 1-Ann Lee'), give Moodle's --worksheet, which has the addresses of its members"
)
NEVER = ("", "-")
"""Cells that stand for a missing time."""
SUBMITTED = "Last modified (submission)"


def entry_owner(parts: tuple[str, ...]) -> ArchiveEntryOwner | None:
    """Return the owner of a file in an archive of submissions; None if Moodle does not name files like this.

    Args:
        parts: the components of its path.
    """
    found = SUBMISSION.fullmatch(parts[0])
    if not found:
        return None
    own = parts[1:] or (found["rest"] or "",)
    if found["kind"] != "file":
        own = (f"{found['kind']}/{own[-1]}",)
    return ArchiveEntryOwner(found["participant"] or found["who"], LmsIdentity(found["who"], advice=GROUPS), own)


def folder_in_archive(name: str, participant: str) -> str:
    """Return the name of a student's folder in an archive for Moodle ("Upload multiple feedback files in a zip").

    mod/assign/feedback/file/importziplib.php takes the number between the first two underscores.

    Args:
        name: the student's full name.
        participant: the number of the participant.
    """
    plain = "".join(each if each.isalnum() or each in " -.'" else " " for each in name).strip()
    return f"{plain or 'student'}_{participant}_assignsubmission_file_"


@dataclass(frozen=True)
class Worksheet:
    """A grading worksheet, with identities and submission times by participant number."""

    table: CsvTable
    identities: dict[str, LmsIdentity] = field(default_factory=dict)
    times: dict[str, datetime] = field(default_factory=dict)

    def completed(self, owner: ArchiveEntryOwner) -> ArchiveEntryOwner:
        """Return an owner with the ids and addresses from the worksheet, if it has them."""
        return replace(owner, identity=self.identities.get(owner.key, owner.identity))

    def identity_in(self, row: CsvRow) -> LmsIdentity:
        """Return the identity in a row."""
        column, cell = self.table.column, row.cell
        logins = [cell(column(name)) for name in ("Username", "ID number", "Email address")]
        return LmsIdentity(cell(column("Full name")), logins=tuple(filter(None, logins)))


def read_worksheet(path: Path, zone: tzinfo | None = None) -> Worksheet:
    """Return a grading worksheet.

    Args:
        path: the file.
        zone: the time zone of the worksheet; without one, its times are ignored.

    Raises:
        GraderError: it is not a grading worksheet, or has an invalid time.
    """
    table = read_csv(path)
    if not table.has("Identifier", "Grade"):
        raise GraderError(
            f"{path} has the columns {', '.join(table.header)}: Moodle's grading worksheet has 'Identifier' and "
            "'Grade'; switch Moodle to English before you download it"
        )
    worksheet = Worksheet(table)
    for row in table.rows:
        if found := IDENTIFIER.fullmatch(row.cell(table.column("Identifier"))):
            worksheet.identities[found["participant"]] = worksheet.identity_in(row)
            text = row.cell(table.column(SUBMITTED))
            if zone and text not in NEVER:
                worksheet.times[found["participant"]] = _time(text, zone, f"{path}, line {row.line}")
    return worksheet


def _time(text: str, zone: tzinfo, place: str) -> datetime:
    try:
        time = parsed_time(text)
    except ValueError as error:
        raise GraderError(f"{place}: {text[:MAX_TIME]!r} is not a time ({error}): switch Moodle to English") from None
    return time.replace(tzinfo=zone).astimezone(UTC)
