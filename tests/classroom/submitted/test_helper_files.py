"""Small files beside a notebook reach its code if it names them, and none of them replaces a module of the grader."""

import os
from pathlib import Path

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.student import load_assignment, read_submission
from grader.classroom.submitted.helper_files import helper_files
from grader.commands.check.check import check as checked
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, points, released, run, write_files

HELPED = "import my_layers, json\n\ndef one(x=1):\n    return my_layers.same(x) * json.load(open('config.json'))['one']"
FILES = {"my_layers.py": b"from deeper import other\n\ndef same(x):\n    return other(x)\n",
         "deeper.py": b"def other(x):\n    return x\n", "config.json": b'{"one": 1}'}  # fmt: skip
SOURCE = notebook(
    helpers("imports", "import torch"),
    answer("one", "def one(x=1):\n    return x"),
    check("one-check", "assert one() == 1"),
    hidden("one-test-more", "one(x) is x.", "assert one(3) == 3"),
)


def read(folder: Path, *texts: str, **limits: int) -> tuple[dict[str, bytes], list[str]]:
    """What helper_files finds beside notebooks with these texts."""
    return helper_files(
        SubmissionFolder(folder, folder), [text.encode() for text in texts], Limits(**limits), ("course",)
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("my_layers.py", "from my_layers import *"),
        ("config.json", "json.load(open('config.json'))"),
        ("two words.txt", r"{\"source\": \"open('two words.txt')\"}"),
        ("lib/__init__.py", "import lib"),
        ("data/words.txt", "open('data/words.txt')"),
    ],
)
def test_a_file_that_the_notebook_names_is_read(tmp_path, file, text):
    """A module by its name, other files by their file names or paths."""
    write_files(tmp_path, {file: b"1"})
    assert read(tmp_path, text) == ({file: b"1"}, [])
    assert read(tmp_path, "import torch") == ({}, [])
    assert read(tmp_path, "print(1)", text) == ({file: b"1"}, [])


def test_modules_that_helpers_import_are_read_too(tmp_path):
    """Only from modules: a data file names nothing."""
    write_files(tmp_path, {"a.py": b"import b_part", "b_part.py": b"open('c.txt')", "c.txt": b"d.txt", "d.txt": b""})
    assert list(read(tmp_path, "import a")[0]) == ["a.py", "b_part.py", "c.txt"]


@pytest.mark.parametrize("make", [lambda path: path.symlink_to(__file__), os.mkfifo, lambda path: path.mkdir()])
def test_other_kinds_of_files_are_never_read(tmp_path, make):
    """Other notebooks, receipts, tokens, hidden files, compiled code; links, and what stands in a folder that is one.

    A folder that cannot be listed has none.
    """
    kinds = "other.ipynb timestamp.txt submission_secret.txt hand_in.toml .env .git/config x.so __pycache__/x.py"
    files = [*kinds.split(), "nbgrader_config.py"]
    write_files(tmp_path, dict.fromkeys(files, b"secret"))
    make(tmp_path / "config.json")
    (tmp_path / "lib").symlink_to(Path(__file__).parent)
    files += ["config.json", f"lib/{Path(__file__).name}"]
    texts = [f"open('{file}'), import {Path(file).stem}" for file in files]
    assert read(tmp_path, *texts) == ({}, []) == read(tmp_path / "missing", *texts)


@pytest.mark.parametrize(
    "file", ["torch.py", "random.py", "grader_kernel.py", "grader.py", "course.py", "msgspec.py", "torch/__init__.py"]
)
def test_no_file_replaces_an_installed_module(tmp_path, file):
    """A notice says that it is left out."""
    write_files(tmp_path, {file: b"allclose = lambda *_: True"})
    files, [notice] = read(tmp_path, f"import {file.split('/')[0].removesuffix('.py')}")
    assert not files and repr(file) in notice and "an installed module has this name" in notice


def test_files_are_limited_in_number_and_size(tmp_path):
    """What is beyond the limits is named; the rest is there."""
    write_files(tmp_path, {f"f{number}.txt": b"x" * 600 for number in range(4)})
    text = " ".join(f"f{number}.txt" for number in range(4))
    files, notices = read(tmp_path, text, helper_files=2)
    assert list(files) == ["f0.txt", "f1.txt"] and len(notices) == 2 and "at most 2 files" in notices[0]
    files, notices = read(tmp_path, text, helper_kb=1)
    assert list(files) == ["f0.txt"] and len(notices) == 3 and "1 KB" in notices[0]
    assert read(tmp_path, text, helper_files=0)[0] == {} == read(tmp_path, text, helper_kb=0)[0]
    (tmp_path / "f0.txt").write_bytes(b"x" * 3 * 2**20)
    assert list(read(tmp_path, text)[0]) == ["f1.txt", "f2.txt", "f3.txt"]


@pytest.mark.slow
def test_code_reads_and_imports_its_files():
    """In each sandbox of the notebook, also after one was lost; another submission has none of them."""
    submission = answered(SOURCE, one=HELPED)
    report = grade(SOURCE, submission, files=FILES)
    assert report.points == report.max_points
    assert grade(SOURCE, submission).points == 0
    crash = notebook(*submission.cells, answer("two", "import os\nos._exit(1)"))
    assert grade(SOURCE, crash, files=FILES).points == report.max_points
    changed = answered(SOURCE, one=f"open('config.json', 'a').write(' ')\n{HELPED}")
    assert grade(SOURCE, changed, files=FILES).points == report.max_points


@pytest.mark.slow
def test_every_door_takes_the_files_and_a_changed_one_grades_again(tmp_path):
    """`grader grade`, which grades a student again only if something changed, `grader check` and nbgrader autograde."""
    course = make_course(tmp_path)
    blank = released(course)
    submission = answered(blank, **{**RIGHT, "one": HELPED})
    folder = hand_in(course, "ann", submission)
    write_files(folder, {**FILES, "unnamed.txt": b"1"})
    grade_class(course)
    assert points(course) == {"ann": 8.0}
    course_dir = CourseDir(course)
    assignment = load_assignment(course_dir, NAME, sandbox=True)
    digest = read_submission(assignment, "ann", course_dir.handed_in(NAME, "ann")).digest
    (folder / "unnamed.txt").write_bytes(b"2")
    (folder / "config.json").write_bytes(b'{"one": 1} ')
    again = read_submission(assignment, "ann", course_dir.handed_in(NAME, "ann"))
    assert again.digest != digest and sorted(again.files) == sorted(FILES)
    assert checked(CourseDir(course), folder / "small.ipynb").report.points == 8.0
    (folder / "config.json").write_bytes(b'{"one": 2}')
    grade_class(course)
    assert points(course) == {"ann": 5.0}
    (folder / "config.json").write_bytes(b'{"one": 1}')
    submission.cells.append(code("import statistics", "experiment"))
    cell(submission, "one-check").source = "import statistics\n" + cell(submission, "one-check").source
    cell(submission, "two").source = "def two():\n    return int(statistics.mean([2]))"
    hand_in(course, "ann", submission)
    done = run(course, "nbgrader", "autograde", NAME, "--force", "--student=ann")
    assert done.returncode == 0, done.stderr
    assert points(course) == {"ann": 8.0}
