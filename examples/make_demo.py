"""Makes demo/, a course folder to look at, from source/ and the class in examples/, and grades it.

python -m examples.make_demo
"""

import os
import shutil
import sys
from pathlib import Path

from examples.make_class import assignments, make_class
from grader.classroom.class_run import ClassRun
from grader.classroom.config import CONFIG_FILE, helper_packages, load_config
from grader.classroom.course_dir import CourseDir
from grader.classroom.release import release
from grader.commands.grade.console import grade_and_show
from grader.engine.supervisor import forkserver

REPOSITORY = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make the demo, grade its class and print the scores."""
    forkserver.prepare(helper_packages(load_config(REPOSITORY)))
    folder, handed_in = prepare(REPOSITORY)
    for assignment in handed_in:
        grade_and_show(ClassRun(CourseDir(folder), assignment))
    where, jupyter = os.path.relpath(folder), os.path.relpath(Path(sys.executable).with_name("jupyter"), folder)
    print(f"Feedback for each student: {where}/feedback/. To mark the written answers: cd {where} && {jupyter} lab")


def prepare(repository: Path) -> tuple[Path, list[str]]:
    """Make demo/ from source/, release what the class hands in, and hand it in; return demo/ with the assignments.

    An instructor's own submitted/ and gradebook.db are not touched.
    """
    folder = repository / "demo"
    if folder.exists():
        _remove(folder)
    folder.mkdir()
    shutil.copy(repository / CONFIG_FILE, folder)
    shutil.copytree(repository / "source", folder / "source")
    course_dir = CourseDir(folder)
    for assignment in assignments():
        release(course_dir, assignment)
        make_class(folder / "release" / assignment, folder / "submitted")
    return folder, assignments()


def _remove(folder: Path) -> None:
    # nbgrader writes autograded/ and feedback/ read-only.
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
