"""Describes where a file in a platform's archive comes from."""

from dataclasses import dataclass

from grader.commands.lms.senders import Sender


@dataclass(frozen=True)
class Origin:
    """Where a file in a platform's archive comes from.

    `key` is the same for all files of a sender. `parts` are the file's own path, as the student named it. `upload`
    grows with every file that is handed in, as far as the platform tells; `is_late` is the platform's opinion.
    """

    key: str
    sender: Sender
    parts: tuple[str, ...]
    upload: int = 0
    is_late: bool = False
