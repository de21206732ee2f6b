"""Is a link to another student's folder.

No link is followed on the way to a submission.
"""

from pathlib import Path


def place(student: Path, assignment: str) -> None:
    student.symlink_to("30n-ann")
