"""Defines the list of files in a backup, and the names that a file in it may have."""

from datetime import datetime
from pathlib import PurePosixPath

import msgspec

from grader.classroom.record.entry import now
from grader.errors import GraderError
from grader.text import one_line

MANIFEST = "backup.json"
"""The last member of the archive; the files of the course are below `PREFIX`."""
PREFIX = "course/"
FORMAT = 1
MAX_MANIFEST = 2**28
"""Largest manifest in bytes, of more than a million files."""


class KeptFile(msgspec.Struct, frozen=True):
    """A file of the course: its path below the course folder, its size in bytes and the digest of its content."""

    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, kw_only=True):
    """What a backup holds.

    `folders` are the empty ones. `databases` are the paths of SQLite files; `gradebook` and `hand_ins` are two of them,
    '' without one. `submitted` is the path of a submission with {student_id} and {assignment_id}. `without_bytes` are
    the ids of hand-ins whose file was taken away before the backup.
    """

    format: int = FORMAT
    made: datetime = msgspec.field(default_factory=now)
    files: list[KeptFile] = []
    folders: list[str] = []
    databases: list[str] = []
    gradebook: str = ""
    hand_ins: str = ""
    submitted: str = ""
    without_bytes: list[str] = []

    @property
    def size(self) -> int:
        """The sum of all files in bytes."""
        return sum(file.size for file in self.files)

    def digests(self) -> dict[str, str]:
        """Return the digests of the files, by path."""
        return {file.path: file.sha256 for file in self.files}

    def submission(self, student: str, assignment: str, notebook: str) -> str:
        """Return the path of a student's notebook below the course folder."""
        folder = self.submitted.replace("{student_id}", student).replace("{assignment_id}", assignment)
        return f"{folder}/{notebook}.ipynb"


def require_safe(paths: list[str]) -> None:
    """Raise GraderError unless all paths are different files or folders below the course folder."""
    seen: set[str] = set()
    for path in paths:
        parts = PurePosixPath(path).parts
        if not parts or path != "/".join(parts) or path[0] == "/" or ".." in parts or "\0" in path:
            raise GraderError(f"it holds the path '{one_line(path, 100)}', which no course has")
        if path in seen:
            raise GraderError(f"it holds '{one_line(path, 100)}' twice")
        seen.add(path)
    for path in seen:
        if any(str(folder) in seen for folder in PurePosixPath(path).parents):
            raise GraderError(f"'{one_line(path, 100)}' is below a path that is a file")
