"""Puts what a platform's archive holds of a student into a folder: submitted/, where the class run finds it.

Collected --nothing there, newer, or --replace--> notebooks, then timestamp.txt; each file completely or not at all
"""

from contextlib import suppress
from datetime import UTC, datetime

from grader.classroom.student import TIMESTAMP, submission_time
from grader.commands.lms.archive.collect import Collected
from grader.engine.notebook.submission_folder import SubmissionFolder
from grader.errors import UnreadableFile
from grader.files import replace_file


def put(
    collected: Collected, time: datetime | None, handed_in: SubmissionFolder, notebook_mb: int, *, replace: bool
) -> bool:
    """Write a student's notebooks; return whether anything has changed.

    Other notebooks that the student handed in before stay.

    Args:
        collected: the notebooks.
        time: when they were handed in, if the platform tells.
        handed_in: the folder of the student's submission.
        notebook_mb: how many MiB a notebook that is there may have.
        replace: whether they replace a submission that may be newer.

    Raises:
        UnreadableFile: a submission that is not known to be older is there, or a link is on the way to it.
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
        # It was the time of what has just been replaced.
        (handed_in.path / TIMESTAMP).unlink(missing_ok=True)
    return bool(changed)


def _differs(handed_in: SubmissionFolder, name: str, collected: Collected, notebook_mb: int) -> bool:
    try:
        return handed_in.read(f"{name}.ipynb", notebook_mb) != collected.notebooks[name]
    except UnreadableFile:
        return True  # a link, or too large


def _time_of(handed_in: SubmissionFolder) -> datetime | None:
    """When the submission that is there was handed in; None if nothing usable says so."""
    with suppress(UnreadableFile, ValueError):
        if time := submission_time(handed_in):
            return time.replace(tzinfo=UTC)
    return None
