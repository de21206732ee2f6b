"""Has a link to another student's submission in the place of the assignment's folder.

No link is followed on the way to a submission.
"""

from pathlib import Path


def place(student: Path, assignment: str) -> None:
    student.mkdir()
    (student / assignment).symlink_to(Path("..", "30n-ann", assignment))
