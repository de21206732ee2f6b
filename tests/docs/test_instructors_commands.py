"""The commands of docs/instructors.md work in their order, from a new course folder to feedback that students fetch."""

import csv
import getpass
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from tests.support import warm
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.platform_files import CANVAS_GRADEBOOK, NBGRADER_STUDENTS, Packed, packed, write_csv
from tests.support.small_class import RIGHT, SOURCE

pytestmark = pytest.mark.slow

ASSIGNMENT = "04-attention"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"(nb)?grader (?!doctor|prove|mark)")
"""How the lines begin that are commands of the grader and of nbgrader, but for those that other tests run."""
LAST = "nbgrader db assignment remove"
"""What deletes all grades is explained in the middle of the page, and run at the end."""


def commands() -> list[str]:
    """Return the commands of the page, in order."""
    text = (REPOSITORY / "docs" / "instructors.md").read_text()
    blocks = [block for language, block in BLOCK.findall(text) if not language]
    lines = [line for block in blocks for line in block.splitlines() if RUN.match(line)]
    return sorted(lines, key=lambda line: line.startswith(LAST))


def run(folder: Path, command: str) -> str:
    """Run a command in a folder as its own owner does, and return what it printed; fail if it fails or warns."""
    own = {"JUPYTER_CONFIG_DIR": str(folder / ".jupyter"), "JUPYTER_DATA_DIR": str(folder / ".data")}
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **own}
    done = warm.run(shlex.split(command), folder, environment)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, (command, printed)
    said = re.sub(
        r".*WARNING\] (Removing |Creating |Clearing existing |Directory not found. Creating: ).*", "", printed
    )
    said = re.sub(r".*ExportApp \| WARNING\] .*", "", said)  # what `grader export` prints as notes
    assert not re.search(r"Traceback|Warning:|WARNING|ERROR|Skipping", said), (command, printed)
    return printed


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A new course folder, with the shipped configuration and one small assignment."""
    folder = tmp_path / "course"
    (folder / "source" / ASSIGNMENT).mkdir(parents=True)
    nbformat.write(SOURCE, folder / "source" / ASSIGNMENT / "small.ipynb")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    return folder


def mark(folder: Path, points: float) -> None:
    """Mark the written answer of the student who submits."""
    with CourseDir(folder).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", ASSIGNMENT, getpass.getuser())
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


@pytest.fixture
def student(tmp_path: Path) -> Path:
    """The folder of a student, with the settings that the page gives for students."""
    folder = tmp_path / "student"
    folder.mkdir()
    text = (REPOSITORY / "docs" / "instructors.md").read_text()
    (settings,) = re.findall(r"^```python\n(c = get_config\(\)\nc\.Exchange.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "nbgrader_config.py").write_text(settings.replace("/srv/exchange", str(tmp_path / "course" / "exchange")))
    return folder


def test_the_page_leads_from_a_course_folder_to_fetched_feedback(course: Path, student: Path) -> None:
    """No command fails, warns or skips; the student who fetches and submits in between gets full points from tests."""
    ran = []
    for command in commands():
        if command == f"nbgrader collect {ASSIGNMENT}":
            run(student, f"nbgrader fetch_assignment {ASSIGNMENT}")
            notebook = student / ASSIGNMENT / "small.ipynb"
            nbformat.write(answered(nbformat.read(notebook, as_version=4), **RIGHT), notebook)
            run(student, f"nbgrader submit {ASSIGNMENT}")
        if command.startswith("grader roster"):
            write_csv(course, CANVAS_GRADEBOOK, command.split()[-1])
        if command.startswith("grader import"):
            work = nbformat.read(course / "release" / ASSIGNMENT / "small.ipynb", as_version=4)
            content = nbformat.writes(answered(work, **RIGHT)).encode()
            (course / command.split()[2]).write_bytes(packed([Packed("leeann_101_9001_small-1.ipynb", content)]))
        if command.startswith("nbgrader db student import"):
            write_csv(course, NBGRADER_STUDENTS, command.split()[-1])
        if command.startswith("nbgrader zip_collect"):
            content = nbformat.writes(answered(work, **RIGHT | {"why": "It had to be so."})).encode()
            archives = course / "downloaded" / ASSIGNMENT / "archive"
            archives.mkdir(parents=True)
            (archives / "all.zip").write_bytes(packed([Packed("leeann_101_9002_small-2.ipynb", content)]))
        if command == f"grader feedback {ASSIGNMENT}":
            mark(course, 0.0)
        printed = run(course, command.replace("STUDENT", getpass.getuser()))
        ran.append(command)
        if command == f"grader grade {ASSIGNMENT}":
            assert re.search(r"8 / 8", printed)
        if "--explain" in command:
            assert re.search(r"points +8 of 10", printed)
        if command.startswith(("grader import", "nbgrader zip_collect")):
            assert (course / "submitted" / "ann" / ASSIGNMENT / "small.ipynb").read_bytes() == content
        if command == f"grader export {ASSIGNMENT} --for csv":
            with (course / "grades.csv").open(newline="") as file:
                assert {row["student_id"]: row["score"] for row in csv.DictReader(file)}[getpass.getuser()] == "8.0"
        if command.startswith("nbgrader export"):
            assert "Lee, Ann" in (course / "grades-canvas.csv").read_text()
            assert printed.count("wrote grades-canvas.csv: ") == 1
        if command == f"grader feedback {ASSIGNMENT}":
            assert "returned the work of 1 student, 1 of them also through the exchange" in printed
            run(student, f"nbgrader fetch_feedback {ASSIGNMENT}")
            (page,) = (student / ASSIGNMENT / "feedback").rglob("small.html")
            assert "8" in page.read_text()
    assert {command.split()[1] for command in ran} >= {
        "release", "generate_assignment", "release_assignment", "collect", "grade", "feedback", "db", "roster",
        "import", "export", "zip_collect",
    }  # fmt: skip
    assert json.loads((course / "release" / ASSIGNMENT / "small.ipynb").read_text())["cells"]
