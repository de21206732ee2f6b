"""Takes in the archives of Canvas and Moodle: `grader import` and `nbgrader zip_collect`.

archive --Collector--> notebooks of each student --LmsExtractorPlugin--> submitted/
or, for nbgrader: extracted/STUDENT/NOTEBOOK.ipynb --LmsCollectorPlugin--> submitted/

`grader import` exists because nbgrader's command replaces a whole submission or ends, and exits with 0 in any case.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from traitlets import Bool, Enum, TraitError, Unicode

from grader.classroom.course_dir import CourseDir
from grader.classroom.student import IGNORED_FILES
from grader.commands.lms.archive.collect import Collected, Collector
from grader.commands.lms.archive.matching import Matcher
from grader.commands.lms.archive.submissions import put
from grader.commands.lms.moodle import read_worksheet
from grader.commands.lms.senders import People
from grader.commands.lms.settings import Archives
from grader.engine.limits import Limits
from grader.engine.notebook.files import read_sources
from grader.engine.notebook.submission_folder import SubmissionFolder
from grader.errors import GraderError, UnreadableFile
from grader.text import one_line


@dataclass
class Taken:
    """How many students and notebooks of theirs were written, and whether everything that was handed in was taken."""

    students: int = 0
    notebooks: int = 0
    unchanged: int = 0
    is_complete: bool = True


class LmsExtractorPlugin(ExtractorPlugin):
    """Extracts each student's notebooks; the settings are the options of `grader import`.

    `students` are those of whom nbgrader may collect something. Without our collector, it extracts as nbgrader does.
    """

    platform = Enum(
        ("", "canvas", "moodle"), "", help="Whose archives they are. By default, the names of the files tell."
    ).tag(config=True)
    worksheet = Unicode(
        help="Moodle's grading worksheet: it has the students' addresses, and the times of their submissions."
    ).tag(config=True)
    time_zone = Unicode(help="The time zone of the times in the worksheet, such as Europe/Berlin.").tag(config=True)
    replace = Bool(
        False,
        help="Also replace submissions that may be newer: for nbgrader, those of an archive whose name is before.",
    ).tag(config=True)
    students: frozenset[str] = frozenset()

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Extract all archives, and log what was not taken; end nbgrader's command if one cannot be read.

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
            if path not in archives and path.suffix != ".csv" and not IGNORED_FILES.match(path.name):
                self._note(f"{path} was not taken: put the zip archive there that the platform made")
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
    ) -> Taken:
        """Put the submissions in archives into folders, student by student.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
            archives: the files that the platform made.
            place: returns the folder for a student of the gradebook.
            note: shows what was not taken, and what else is odd, line by line.

        Raises:
            GraderError: there is no such assignment, or an archive cannot be read.
        """
        if self.time_zone and not self.worksheet:
            raise GraderError("--time-zone is that of the times in Moodle's worksheet: name the file with --worksheet")
        limits, notebook_mb = Archives(config=course_dir.config), Limits(config=course_dir.config).notebook_mb
        matcher = Matcher(read_sources(course_dir.require(assignment), notebook_mb))
        worksheet = read_worksheet(Path(self.worksheet), _zone(self.time_zone)) if self.worksheet else None
        with course_dir.gradebook() as gradebook:
            people = People.of(gradebook.db)
        taken = Taken()
        for archive in archives:
            with closing(Collector(archive, matcher, people, limits, notebook_mb)) as collector:
                for collected in collector.collect(self.platform, worksheet):
                    time = worksheet.times.get(collected.key) if worksheet else None
                    self._put(collected, time, place(collected.student), notebook_mb, taken)
                    for line in (*collected.troubles, *collected.remarks):
                        note(f"{one_line(collected.student, 100)}: {line}")
                    taken.is_complete &= not collected.troubles
                for line in (*collector.troubles, *collector.remarks):
                    note(line)
                taken.is_complete &= not collector.troubles
        return taken

    def _put(
        self, collected: Collected, time: datetime | None, folder: SubmissionFolder, notebook_mb: int, taken: Taken
    ) -> None:
        """Write the notebooks of a student and count them; what keeps them from being written is a trouble."""
        self.students |= {collected.student}
        try:
            if collected.notebooks and put(collected, time, folder, notebook_mb, replace=self.replace):
                taken.students, taken.notebooks = taken.students + 1, taken.notebooks + len(collected.notebooks)
            elif collected.notebooks:
                taken.unchanged += 1
        except UnreadableFile as error:
            collected.troubles.append(f"nothing was written: {error}")
        if collected.is_late and time is None:
            collected.remarks.append("late, says the platform, and not by how much")

    def _note(self, line: str) -> None:
        self.log.warning("%s", one_line(line))


class LmsCollectorPlugin(FileNameCollectorPlugin):
    """Collects what LmsExtractorPlugin has extracted; with a `named_regexp` of the course, it does as nbgrader does."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return whose file it is and what it is called; None if it is not one that was extracted.

        Args:
            submitted_file: the path of the file.
        """
        if not _are_in_use(self.parent):
            found: dict[str, str] | None = super().collect(submitted_file)
            return found
        path = Path(submitted_file)
        is_extracted = path.parent.name in self.parent.extractor_plugin_inst.students
        return {"student_id": path.parent.name, "file_id": path.name} if is_extracted else None


def _are_in_use(app: Any) -> bool:
    """Whether nbgrader's application uses both plug-ins, and no setting says what the names of files mean."""
    collector, extractor = app.collector_plugin_inst, app.extractor_plugin_inst
    are_ours = isinstance(collector, LmsCollectorPlugin) and isinstance(extractor, LmsExtractorPlugin)
    return are_ours and not collector.named_regexp


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
