"""Runs `grader roster`, `grader export` and `grader import`."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.students.csv_files import read_table
from grader.classroom.students.roster import Roster
from grader.commands.lms.archive.collect import Collector
from grader.commands.lms.archive.matching import Matcher
from grader.commands.lms.archive.submissions import Submitted
from grader.commands.lms.export import Exported, Exporter
from grader.commands.lms.moodle import read_worksheet
from grader.commands.lms.senders import People
from grader.commands.lms.settings import Archives
from grader.commands.lms.students import write_students
from grader.engine.limits import Limits
from grader.engine.notebook.files import read_sources
from grader.errors import GraderError, UnreadableFile
from grader.files import replace_file
from grader.text import one_line, plural

Note = Callable[[str], None]
"""Shows one line that is not a result."""


@dataclass(frozen=True)
class ExportOptions:
    """What to export, for whom, and from which template."""

    assignments: list[str]
    platform: str
    template: Path | None = None
    titles: tuple[str, ...] = ()
    comments: bool = False
    include_unmarked: bool = False


@dataclass(frozen=True)
class ImportOptions:
    """Which archive to import, and what is known of it."""

    archive: Path
    assignment: str
    platform: str = ""
    worksheet: Path | None = None
    zone: str = ""
    replace: bool = False


def put_students(course_dir: CourseDir, roster: Roster, note: Note) -> str:
    """Put the students of a roster into the gradebook, and return in words what has changed.

    Args:
        course_dir: the course folder.
        roster: the students.
        note: shows lines besides.

    Raises:
        GraderError: a line was refused; nothing is written then.
    """
    for line in (*roster.left_out, *roster.refused):
        note(line)
    changes = write_students(course_dir, roster)
    if changes.absent:
        names = ", ".join(one_line(student, 100) for student in changes.absent)
        note(f"in the gradebook and not in the file: {names}")
    others = f" (--id-column could name {' or '.join(map(repr, roster.id_columns))})" if roster.id_columns else ""
    return (
        f"students: {len(changes.added)} added, {len(changes.changed)} updated, {len(changes.unchanged)} as before; "
        f"{roster.path} has {roster.kind}, and the id is {roster.id_column!r}{others}"
    )


def export(course_dir: CourseDir, options: ExportOptions) -> Exported:
    """Return the grades of a course as a platform takes them in.

    Args:
        course_dir: the course folder.
        options: what to export.

    Raises:
        GraderError: the gradebook has no such assignment, or the template does not fit.
    """
    if options.titles and len(options.titles) != len(options.assignments):
        raise GraderError(
            f"--column is given {len(options.titles)} times for {len(options.assignments)} assignments: give one each"
        )
    grades = [read_ledger(course_dir, name) for name in options.assignments]
    exporter = Exporter(People.of(course_dir), grades, options.include_unmarked, options.comments)
    match options.platform, options.template:
        case "canvas", None:
            return exporter.for_canvas_without_template()
        case "canvas", Path() as template:
            return exporter.for_canvas(read_table(template), options.titles)
        case "moodle", None:
            return exporter.for_moodle_without_worksheet()
        case "moodle", Path() as template:
            if len(grades) > 1:
                raise GraderError(
                    "a grading worksheet of Moodle has one assignment: export one, or leave --template out"
                )
            return exporter.for_moodle(read_worksheet(template))
    return exporter.table()


def write(exported: Exported, path: Path, note: Note) -> str:
    """Write an export to a file, show its notes, and return in words what was written.

    Args:
        exported: the rows.
        path: the file.
        note: shows lines besides.
    """
    for line in exported.notes:
        note(line)
    try:
        replace_file(path, exported.text)
    except OSError as error:
        raise GraderError(f"{path} cannot be written ({error.strerror}): choose another file with --output") from None
    return f"wrote {path}: {len(exported.rows)} rows"


def import_archive(course_dir: CourseDir, options: ImportOptions, note: Note) -> tuple[str, bool]:
    """Put the submissions in a platform's archive into submitted/, student by student.

    Args:
        course_dir: the course folder.
        options: which archive, and what is known of it.
        note: shows what was not taken, and what else is odd, line by line.

    Returns:
        In words what was done, and whether everything that was handed in was taken.

    Raises:
        GraderError: there is no such assignment, or the archive cannot be read.
    """
    if options.zone and not options.worksheet:
        raise GraderError("--time-zone is that of the times in Moodle's worksheet: name the file with --worksheet")
    notebook_mb = Limits(config=course_dir.config).notebook_mb
    matcher = Matcher(read_sources(course_dir.require(options.assignment), notebook_mb))
    worksheet = read_worksheet(options.worksheet, _zone(options.zone)) if options.worksheet else None
    people, limits = People.of(course_dir), Archives(config=course_dir.config)
    submitted = Submitted(course_dir, options.assignment, notebook_mb, replace=options.replace)
    written, same, notebooks, is_complete = 0, 0, 0, True
    with closing(Collector(options.archive, matcher, people, limits, notebook_mb)) as collector:
        for collected in collector.collect(options.platform, worksheet):
            who, time = one_line(collected.student, 100), worksheet.times.get(collected.key) if worksheet else None
            try:
                has_changed = submitted.put(collected, time) if collected.notebooks else None
                written, same = written + (has_changed is True), same + (has_changed is False)
                notebooks += len(collected.notebooks) if has_changed else 0
            except UnreadableFile as error:
                collected.troubles.append(f"nothing was written: {error}")
            if collected.is_late and time is None:
                collected.remarks.append("late, says the platform, and not by how much")
            for line in (*collected.troubles, *collected.remarks):
                note(f"{who}: {line}")
            is_complete &= not collected.troubles
        for line in (*collector.troubles, *collector.remarks):
            note(line)
        is_complete &= not collector.troubles
    place = os.path.relpath(course_dir.folder("submitted", options.assignment, "STUDENT"))
    words = f"{plural(notebooks, 'notebook')} of {plural(written, 'student')} written to {place}/"
    return f"{words}, {plural(same, 'student')} unchanged", is_complete


def _zone(name: str) -> tzinfo:
    """The time zone of the times in a worksheet, which must be said: an hour may decide who was late."""
    if not name:
        raise GraderError(
            "the times in a worksheet are in the time zone of your profile in Moodle: name it, as in --time-zone "
            "Europe/Berlin"
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise GraderError(
            f"there is no time zone {name!r}: write it as Europe/Berlin, America/New_York or UTC"
        ) from None
