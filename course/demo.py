"""A course folder to look at: the assignments of this repository with the example class as its submissions."""

import shutil
from pathlib import Path

from course.classroom import CONFIG_FILE, Classroom
from course.errors import CourseError
from course.release import release


def prepare(repository: Path) -> tuple[Path, list[str]]:
    """Makes demo/ anew in `repository` from source/ and examples/, releases it, and returns it with its assignments.

    An instructor's own submitted/ and gradebook.db are not touched.
    """
    examples = repository / "examples"
    if not examples.is_dir():
        raise CourseError(
            f"the demo grades the class in examples/, and there is none in {repository}: "
            "run it at the top of the repository"
        )
    folder = repository / "demo"
    if folder.exists():
        _remove(folder)
    folder.mkdir()
    shutil.copy(repository / CONFIG_FILE, folder)
    shutil.copytree(repository / "source", folder / "source")
    shutil.copytree(examples, folder / "submitted")
    classroom = Classroom(folder)
    assignments = [name for name in classroom.assignments() if any(folder.glob(f"submitted/*/{name}"))]
    for assignment in assignments:
        release(classroom, assignment)
    return folder, assignments


def _remove(folder: Path) -> None:
    # nbgrader writes autograded/ and feedback/ read-only.
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)
