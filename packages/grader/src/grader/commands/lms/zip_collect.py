"""Imports the archives of Canvas and Moodle: `grader import` and `nbgrader zip_collect`.

archive --Collector--> notebooks of each student --LmsExtractorPlugin--> submitted/, unless a newer submission is there
or, for nbgrader: extracted/STUDENT/NOTEBOOK.ipynb --LmsCollectorPlugin--> submitted/

nbgrader's own command replaces a whole submission or stops, and always exits with 0. Hence `grader import`.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from traitlets import Bool, Enum, TraitError, Unicode

from grader.classroom.course_dir import CourseDir, folder_of_students
from grader.classroom.release import chooser_of
from grader.classroom.student import TIMESTAMP, submission_time
from grader.classroom.students.enrolled import read_students
from grader.classroom.students.roster import EnrolledStudent
from grader.classroom.submitted.matching import is_ignored
from grader.commands.lms.archive.collect import PLATFORMS, Collector, OwnerOf, StudentFiles, of_folders, of_student
from grader.commands.lms.identities import EnrolledStudents
from grader.commands.lms.moodle import read_worksheet
from grader.commands.lms.settings import Archives
from grader.engine.limits import Limits
from grader.engine.notebook.folder.files import read_sources
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.errors import GraderError, UnreadableFile
from grader.files import replace_file
from grader.text import one_line


@dataclass
class ImportSummary:
    """Counts of students and notebooks written; `is_complete` is False if anything could not be imported."""

    students: int = 0
    notebooks: int = 0
    unchanged: int = 0
    is_complete: bool = True


class LmsExtractorPlugin(ExtractorPlugin):
    """Extracts each student's notebooks; the settings are the options of `grader import`.

    nbgrader may collect files of `students` only. Without our collector plug-in, it extracts as nbgrader does.
    """

    platform = Enum(
        ("", "canvas", "moodle"), "", help="The platform of the archives. By default, file names identify it."
    ).tag(config=True)
    worksheet = Unicode(help="Moodle's grading worksheet, with the students' addresses and submission times.").tag(
        config=True
    )
    time_zone = Unicode(help="The time zone of the worksheet, such as Europe/Berlin.").tag(config=True)
    replace = Bool(
        False,
        help="Also replace submissions that may be newer: for nbgrader, those of an archive whose name is before.",
    ).tag(config=True)
    students: frozenset[str] = frozenset()

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Extract all archives and log what could not be imported; end nbgrader's command if one is unreadable.

        Args:
            archive_path: the folder of the archives.
            extracted_path: an empty folder.
        """
        if not _are_in_use(self.parent):
            super().extract(archive_path, extracted_path)
            return
        files = [path for path in sorted(Path(archive_path).rglob("*")) if path.is_file()]
        archives = [path for path in files if path.suffix.casefold() == ".zip"]
        for path in files:
            if path not in archives and path.suffix != ".csv" and not is_ignored([path.name]):
                self._note(f"{path} was not imported: put the zip archive that the platform made there")
        course, folder = self.parent.coursedir, Path(extracted_path)
        try:
            course_dir = CourseDir(Path(course.root), self.parent.config)
            self.take(
                course_dir,
                course.assignment_id,
                archives,
                lambda name: SubmissionFolder(folder / name, folder),
                self._note,
            )
        except (GraderError, TraitError) as error:
            self.parent.fail("%s", one_line(error))

    def take(
        self,
        course_dir: CourseDir,
        assignment: str,
        archives: Iterable[Path],
        place: Callable[[str], SubmissionFolder],
        note: Callable[[str], None],
        student: str = "",
    ) -> ImportSummary:
        """Put the submissions in archives into folders, student by student.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
            archives: archives of a platform or of one student, folders, or single notebooks.
            place: returns the folder of a student.
            note: shows an error or a notice.
            student: the student whose files all are; '' if their names or places say it.

        Raises:
            GraderError: the assignment or the student does not exist, or an archive cannot be read.
        """
        if self.time_zone and not self.worksheet:
            raise GraderError("--time-zone is the zone of Moodle's worksheet: name the file with --worksheet")
        limits, notebook_mb = Archives(config=course_dir.config), Limits(config=course_dir.config).notebook_mb
        sources = read_sources(course_dir.require(assignment), notebook_mb)
        chooser = chooser_of(sources, course_dir.config)
        worksheet = read_worksheet(Path(self.worksheet), _zone(self.time_zone)) if self.worksheet else None
        with course_dir.gradebook() as gradebook:
            known = {each.id: each for each in read_students(gradebook.db)}
        # nbgrader needs no roster: a folder is enough to be a student.
        known |= {name: EnrolledStudent(name) for name in course_dir.known_students(assignment) if name not in known}
        if student and student not in known:
            raise GraderError(
                f"there is no student '{one_line(student, 100)}', neither in the gradebook nor in submitted/: correct "
                "the name, or add the student with 'grader roster'"
            )
        enrolled, taken = EnrolledStudents(known.values()), ImportSummary()
        for archive in archives:
            rules = self._rules(course_dir, assignment, archive, known, student)
            with closing(Collector(archive, chooser, enrolled, limits, notebook_mb, place)) as collector:
                for collected in collector.collect(rules, worksheet):
                    time = worksheet.times.get(collected.key) if worksheet else None
                    self._put(collected, time, place(collected.student), notebook_mb, taken)
                    for line in (*collected.errors, *collected.notices):
                        note(f"{one_line(collected.student, 100)}: {line}")
                    taken.is_complete &= not collected.errors
                for line in collector.errors:
                    note(line)
                taken.is_complete &= not collector.errors
        return taken

    def _rules(
        self, course_dir: CourseDir, assignment: str, archive: Path, students: Collection[str], student: str
    ) -> list[OwnerOf]:
        """Return how to tell whose a file is: a place in submitted/ says it, or else a platform or a folder's name."""
        others = set(course_dir.assignments()) - {assignment}
        folder, path = folder_of_students(course_dir.directory, assignment), archive.resolve()
        if not student and path.is_relative_to(folder) and path != folder:
            student = path.relative_to(folder).parts[0]
        if student:
            return [of_student(student, others)]
        return [PLATFORMS[self.platform]] if self.platform else [*PLATFORMS.values(), of_folders(students, others)]

    def _put(
        self,
        collected: StudentFiles,
        time: datetime | None,
        folder: SubmissionFolder,
        notebook_mb: int,
        taken: ImportSummary,
    ) -> None:
        """Write and count the notebooks of a student; an UnreadableFile becomes an error of the student."""
        self.students |= {collected.student}
        try:
            if collected.notebooks and put(collected, time, folder, notebook_mb, replace=self.replace):
                taken.students, taken.notebooks = taken.students + 1, taken.notebooks + len(collected.notebooks)
            elif collected.notebooks:
                taken.unchanged += 1
        except UnreadableFile as error:
            collected.errors.append(f"nothing was written: {error}")
        if collected.is_late and time is None:
            collected.notices.append("late according to the platform, by an unknown time")

    def _note(self, line: str) -> None:
        self.log.warning("%s", one_line(line))


class LmsCollectorPlugin(FileNameCollectorPlugin):
    """Collects the files that LmsExtractorPlugin extracted, unless the course has its own `named_regexp`."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return the student and the name of an extracted file; None for any other file.

        Args:
            submitted_file: the path of the file.
        """
        if not _are_in_use(self.parent):
            found: dict[str, str] | None = super().collect(submitted_file)
            return found
        path = Path(submitted_file)
        is_extracted = path.parent.name in self.parent.extractor_plugin_inst.students
        return {"student_id": path.parent.name, "file_id": path.name} if is_extracted else None


def put(
    collected: StudentFiles, time: datetime | None, handed_in: SubmissionFolder, notebook_mb: int, *, replace: bool
) -> bool:
    """Write a student's notebooks, and return True if a file changed; other notebooks in the folder stay.

    Args:
        collected: the notebooks.
        time: the time of submission, if known.
        handed_in: the folder of the student's submission.
        notebook_mb: the largest size of an existing notebook, in MiB.
        replace: replace a submission even if it may be newer.

    Raises:
        UnreadableFile: the existing submission may be newer, or its path contains a link.
    """
    try:
        present = {name for name in collected.notebooks if handed_in.has(f"{name}.ipynb")}
        differing = [name for name in sorted(present) if _differs(handed_in, name, collected, notebook_mb)]
        before = _time_of(handed_in)
    except OSError as error:
        raise UnreadableFile(f"its folder cannot be looked into ({error.strerror})", "correct its mode") from None
    is_newer = time is not None and before is not None and time > before
    if differing and not (replace or is_newer):
        raise UnreadableFile(
            f"another {', '.join(differing)} is in {handed_in.trusted.name}/, and may be newer",
            "use --replace to replace it",
        )
    changed = [name for name in collected.notebooks if name in differing or name not in present]
    for name in changed:
        replace_file(handed_in.path / f"{name}.ipynb", collected.notebooks[name])
    if time is not None and (changed or before is None):
        replace_file(handed_in.path / TIMESTAMP, f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")
    elif differing and before is not None:
        # It belonged to the replaced notebooks.
        (handed_in.path / TIMESTAMP).unlink(missing_ok=True)
    return bool(changed)


def _differs(handed_in: SubmissionFolder, name: str, collected: StudentFiles, notebook_mb: int) -> bool:
    try:
        return handed_in.read(f"{name}.ipynb", notebook_mb) != collected.notebooks[name]
    except UnreadableFile:
        return True  # a link, or too large


def _time_of(handed_in: SubmissionFolder) -> datetime | None:
    """The time of the existing submission, or None if unknown."""
    with suppress(UnreadableFile, ValueError):
        if time := submission_time(handed_in):
            return time.replace(tzinfo=UTC)
    return None


def _are_in_use(app: Any) -> bool:
    """True if nbgrader's application uses both plug-ins, and no setting defines the meaning of file names."""
    collector, extractor = app.collector_plugin_inst, app.extractor_plugin_inst
    are_ours = isinstance(collector, LmsCollectorPlugin) and isinstance(extractor, LmsExtractorPlugin)
    return are_ours and not collector.named_regexp


def _zone(name: str) -> tzinfo:
    """The time zone of a worksheet. It has no default, because an hour may decide a penalty."""
    if not name:
        raise GraderError(
            "a worksheet has times in the time zone of your profile in Moodle: name it, as in --time-zone Europe/Berlin"
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise GraderError(
            f"there is no time zone {name!r}: write it as Europe/Berlin, America/New_York or UTC"
        ) from None
