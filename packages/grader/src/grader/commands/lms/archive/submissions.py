"""Puts what a platform's archive holds of a student into submitted/, where the class run finds it.

Collected --nothing there, newer, or --replace--> notebooks, then timestamp.txt; each file completely or not at all
"""

from contextlib import suppress
from datetime import UTC, datetime

from grader.classroom.course_dir import CourseDir
from grader.classroom.student import TIMESTAMP, submission_time
from grader.commands.lms.archive.collect import Collected
from grader.engine.notebook.handed_in import HandedIn
from grader.errors import UnreadableFile
from grader.files import replace_file


class Submitted:
    """The submissions of one assignment."""

    def __init__(self, course_dir: CourseDir, assignment: str, notebook_mb: int, *, replace: bool) -> None:
        """Choose where submissions go.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
            notebook_mb: how many MiB a notebook that is there may have.
            replace: whether a submission replaces another one that may be newer.
        """
        self._course_dir, self._assignment, self._notebook_mb = course_dir, assignment, notebook_mb
        self._replace = replace

    def put(self, collected: Collected, time: datetime | None) -> bool:
        """Write a student's notebooks; return whether anything has changed.

        Other notebooks that the student handed in before stay.

        Args:
            collected: the notebooks.
            time: when they were handed in, if the platform tells.

        Raises:
            UnreadableFile: a submission that is not known to be older is there, or a link is on the way to it.
        """
        handed_in = self._course_dir.handed_in(self._assignment, collected.student)
        try:
            differing = [
                name for name, content in collected.notebooks.items() if self._differs(handed_in, name, content)
            ]
            before = _time_of(handed_in)
        except OSError as error:
            raise UnreadableFile(f"its folder cannot be looked into ({error.strerror})", "correct its mode") from None
        is_newer = time is not None and before is not None and time > before
        if differing and not (self._replace or is_newer):
            raise UnreadableFile(
                f"another {', '.join(differing)} is in submitted/, and may be newer", "use --replace to replace it"
            )
        folder, has_changed = self._course_dir.folder("submitted", self._assignment, collected.student), False
        for name, content in collected.notebooks.items():
            if name in differing or not handed_in.has(f"{name}.ipynb"):
                replace_file(folder / f"{name}.ipynb", content)
                has_changed = True
        if time is not None and (has_changed or before is None):
            replace_file(folder / TIMESTAMP, f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")
        elif differing and before is not None:
            # It was the time of what has just been replaced.
            (folder / TIMESTAMP).unlink(missing_ok=True)
        return has_changed

    def _differs(self, handed_in: HandedIn, name: str, content: bytes) -> bool:
        """Whether another content is there."""
        file = f"{name}.ipynb"
        if not handed_in.has(file):
            return False
        try:
            return handed_in.read(file, self._notebook_mb) != content
        except UnreadableFile:
            return True  # a link, or too large


def _time_of(handed_in: HandedIn) -> datetime | None:
    """When the submission that is there was handed in; None if nothing usable says so."""
    with suppress(UnreadableFile, ValueError):
        if time := submission_time(handed_in):
            return time.replace(tzinfo=UTC)
    return None
