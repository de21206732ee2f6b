"""Keeps the time at which each notebook of a submission was handed in, where they were handed in one by one.

nbgrader has one time for an assignment, so a notebook that is handed in late would make all the others late.

    grader serve --record_time--> .ASSIGNMENT.times.json beside the submission --notebook_times--> late penalties

The file is outside the folder that `nbgrader collect` fills, so that a student cannot bring one. A time counts only
for the very bytes that were handed in then.
"""

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.errors import UnreadableFile
from grader.files import replace_file


class HandedIn(msgspec.Struct, frozen=True):
    """The time of a notebook in UTC, and the digest of its bytes."""

    time: datetime
    sha256: str


def record_time(folder: Path, notebook: str, content: bytes, time: datetime) -> None:
    """Record the time of a notebook that was written into a submission.

    Args:
        folder: the folder of the submission.
        notebook: the notebook's name.
        content: its bytes.
        time: in UTC without a zone.
    """
    handed_in = HandedIn(time.replace(tzinfo=UTC), hashlib.sha256(content).hexdigest())
    replace_file(times_file(folder), msgspec.json.encode({**_recorded(folder), notebook: handed_in}), is_durable=True)


def notebook_times(handed_in: SubmissionFolder, max_mb: int) -> dict[str, datetime]:
    """Return the times of those notebooks that are still as they were handed in, in UTC without a zone.

    Args:
        handed_in: the folder of the submission.
        max_mb: the size limit of a notebook, in MiB.
    """
    times: dict[str, datetime] = {}
    for name, recorded in _recorded(handed_in.path).items():
        with suppress(UnreadableFile, OSError):  # a notebook that is gone has no time
            if hashlib.sha256(handed_in.read(f"{name}.ipynb", max_mb)).hexdigest() == recorded.sha256:
                times[name] = recorded.time.astimezone(UTC).replace(tzinfo=None)
    return times


def times_file(folder: Path) -> Path:
    """Return the file with the times of a submission.

    Args:
        folder: the folder of the submission.
    """
    return folder.parent / f".{folder.name}.times.json"


def _recorded(folder: Path) -> dict[str, HandedIn]:
    try:
        return msgspec.json.decode(times_file(folder).read_bytes(), type=dict[str, HandedIn])
    except (OSError, msgspec.DecodeError):
        return {}  # nothing was handed in alone; without its time, a notebook has that of the submission
