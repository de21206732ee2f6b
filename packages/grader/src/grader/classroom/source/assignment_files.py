"""Reads the files of an assignment beside its notebooks: those that `grader release` copies for students.

source/NN-name --without what nbgrader ignores, notebooks, hidden files and our own records--> AssignmentFiles
"""

from collections.abc import Sequence
from pathlib import Path

from nbgrader.utils import find_all_files

from grader.engine.limits import Limits
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.errors import GraderError

NOT_FOR_STUDENTS = ["misconceptions", "survivors", "autotests.yml", "tests.yml", "__pycache__", "*.pyc", "*.ipynb"]
"""Patterns of files and folders in source/ that are left out, whatever the course releases."""


def assignment_files(folder: Path, ignore: Sequence[str], limits: Limits) -> AssignmentFiles:
    """Return the files that an assignment has beside its notebooks.

    Args:
        folder: the folder of the assignment in `source/`.
        ignore: the patterns of the course's setting `c.CourseDirectory.ignore`, which are not released.
        limits: how many files, and how many bytes.

    Raises:
        GraderError: a file cannot be read, or there are too many or too large ones.
    """
    found = [Path(path) for path in find_all_files(str(folder), [*ignore, *NOT_FOR_STUDENTS])]
    contents, room = dict[str, bytes](), limits.assignment_mb * 2**20
    for path in sorted(found):
        name = path.relative_to(folder)
        if any(part.startswith(".") for part in name.parts):
            continue
        place = f"{folder.name}/{name}"
        try:
            if not path.is_file():  # a pipe would never end
                raise FileNotFoundError(2, "it is a broken link or not a file")
            if (room := room - path.stat().st_size) < 0:
                raise GraderError(
                    f"the files beside the notebooks of an assignment may have {limits.assignment_mb} MB together, and "
                    f"{place} does not fit: remove it, or set c.Limits.assignment_mb"
                )
            contents[name.as_posix()] = path.read_bytes()
        except OSError as error:
            raise GraderError(f"{place} cannot be read ({error.strerror}): correct or remove it") from None
        if len(contents) > limits.assignment_files:
            raise GraderError(
                f"an assignment may have {limits.assignment_files} files beside its notebooks, and {place} is one "
                "more: remove some, or set c.Limits.assignment_files"
            )
    return AssignmentFiles(contents)
