"""Writes a student's notebooks from a platform's archive into submitted/, for the class run.

StudentFiles --nothing there, newer, or --replace--> notebooks, then timestamp.txt; each file is written atomically
"""

from contextlib import suppress
from datetime import UTC, datetime

from grader.classroom.student import TIMESTAMP, submission_time
from grader.commands.lms.archive.collect import StudentFiles
from grader.engine.notebook.handed_in import HandedIn
from grader.errors import UnreadableFile
from grader.files import replace_file


def put(
    collected: StudentFiles, time: datetime | None, handed_in: HandedIn, notebook_mb: int, *, replace: bool
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


def _differs(handed_in: HandedIn, name: str, collected: StudentFiles, notebook_mb: int) -> bool:
    try:
        return handed_in.read(f"{name}.ipynb", notebook_mb) != collected.notebooks[name]
    except UnreadableFile:
        return True  # a link, or too large


def _time_of(handed_in: HandedIn) -> datetime | None:
    """The time of the existing submission, or None if unknown."""
    with suppress(UnreadableFile, ValueError):
        if time := submission_time(handed_in):
            return time.replace(tzinfo=UTC)
    return None
