"""The digests of the grader: all code that decides a score changes one, and nothing else does."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from grader.classroom import results
from grader.classroom.course_dir import CourseDir
from grader.classroom.page import page_maker
from grader.classroom.source import inputs
from grader.engine.code_digest import LIBRARIES
from tests.support.paths import IMPORTED_FROM
from tests.support.small_class import NAME, SCORES, grade_class

DIGESTS = """
    import json, sys
    from pathlib import Path
    from grader.engine import code_digest as engine

    def digest():
        engine.engine_digest.cache_clear()
        return engine.engine_digest(("pair", "single"))

    root = Path.cwd()
    assert Path(engine.__file__).is_relative_to(root)
    found = {"unchanged": digest()}
    for path in sorted(root.rglob("*.py")):
        before = path.read_bytes()
        path.write_bytes(before + b"#")
        found[str(path.relative_to(root))] = digest()
        path.write_bytes(before)
    found["changed back"] = digest()
    print(json.dumps(found))
"""
"""Prints the digest after a change of each module below the working folder, one at a time."""


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """A folder with copies of the grader and of two helper packages, one of them a single file."""
    shutil.copytree(
        IMPORTED_FROM["grader"] / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "pair/deeper").mkdir(parents=True)
    for path in ("pair/__init__.py", "pair/deeper/__init__.py", "pair/deeper/module.py", "single.py"):
        (tmp_path / path).write_text("x = 1\n")
    return tmp_path


def run(folder: Path, code: str) -> str:
    """What a program prints that finds the packages in `folder` first."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", dedent(code)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def digest(folder: Path, *helper_packages: str) -> str:
    """The digest of the grader in `folder`."""
    return run(
        folder, f"from grader.engine.code_digest import engine_digest; print(engine_digest({helper_packages!r}))"
    )


@pytest.mark.slow
def test_every_module_of_the_engine_and_of_the_helper_packages_changes_the_digest(copies: Path) -> None:
    """In whichever folder it is; a file that is restored restores the digest. Commands and pages change nothing."""
    modules = {str(path.relative_to(copies)) for path in copies.rglob("*.py")}
    shown = {path for path in modules if path.startswith(("grader/commands/", "grader/classroom/"))}
    shown |= {f"grader/{name}.py" for name in ("__init__", "__main__", "nbgrader_plugin")}
    digests = json.loads(run(copies, DIGESTS))
    assert digests.keys() == modules | {"unchanged", "changed back"}
    same = {path for path, digest in digests.items() if digest == digests["unchanged"]}
    assert same == shown | {"unchanged", "changed back"} and len(shown) > 100
    assert len(set(digests.values())) == len(modules - shown) + 1 > 60


@pytest.mark.slow
def test_a_comment_in_a_command_or_a_page_has_no_one_graded_again(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are made again when their code changes, with what a person gave meanwhile, and no student is graded."""
    page, other = (again / "feedback" / student / NAME / "small.html" for student in ("ann", "bob"))
    with CourseDir(again).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", NAME, "ann")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    assert grade_class(again) == [] and "9.5" not in page.read_text()
    before, index = other.read_text(), (again / "feedback" / "bob" / NAME / "index.html").read_text()
    other.write_text("made by an earlier version")
    for module in (page_maker, results):
        monkeypatch.setattr(module, "page_digest", lambda: "other pages")
    assert grade_class(again) == []
    assert other.read_text() == before and "<strong>9.5</strong> of 10 points" in page.read_text()
    assert (again / "feedback" / "bob" / NAME / "index.html").read_text() == index
    other.write_text("made by this version")
    assert grade_class(again) == [] and other.read_text() == "made by this version"


def test_a_student_whose_page_cannot_be_made_again_is_graded_again(
    again: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are not."""
    page = again / "feedback" / "bob" / NAME / "small.html"
    before, notebook = page.read_text(), again / "autograded" / "bob" / NAME / "small.ipynb"
    notebook.chmod(0o644)
    notebook.write_text("{")
    for module in (page_maker, results):
        monkeypatch.setattr(module, "page_digest", lambda: "other pages")
    assert grade_class(again) == ["bob"] and page.read_text() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda grader, _: (grader / "rpc/values/trees.py").rename(grader / "rpc/worth.py"),
        lambda grader, _: (grader / "rpc/values/trees.py").rename(grader / "runner/values.py"),
        lambda _, pair: (pair / "deeper/module.py").unlink(),
        lambda _, pair: (pair / "deeper/more.py").touch(),
    ],
    ids=["renamed", "moved", "removed", "added"],
)
def test_modules_that_come_or_go_change_the_digest(copies: Path, change: Callable[[Path, Path], object]) -> None:
    """The name and the folder of a module count, and an empty module does too."""
    before = digest(copies, "pair")
    change(copies / "grader/engine", copies / "pair")
    assert digest(copies, "pair") != before


def test_a_helper_package_that_is_named_changes_the_digest(copies: Path) -> None:
    """Another list of packages is another engine."""
    lists = [(), ("pair",), ("single",), ("pair", "single")]
    assert len({digest(copies, *names) for names in lists}) == len(lists)


@pytest.mark.parametrize("library", LIBRARIES)
def test_another_version_of_a_library_changes_the_digest(copies: Path, library: str) -> None:
    """An upgrade of torch may change what student code computes."""
    before = digest(copies)
    information = copies / f"{library.replace('-', '_')}-0.0.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {library}\nVersion: 0.0.0\n")
    assert digest(copies) != before


@pytest.mark.slow
def test_nothing_else_changes_the_digest(copies: Path) -> None:
    """Neither pages, data and compiled files in the same folders, nor another package, nor the place of the copy."""
    before = digest(copies, "pair", "single")
    for path in (
        "grader/README.md",
        "grader/engine/rpc/README.md",
        "pair/words.txt",
        "other.py",
        "pair/__pycache__/x.pyc",
    ):
        (copies / path).parent.mkdir(exist_ok=True)
        (copies / path).write_text("changed")
    os.utime(copies / "pair/__init__.py", (0, 0))
    assert digest(copies, "pair", "single") == before
    elsewhere = shutil.copytree(copies, copies / "elsewhere", ignore=shutil.ignore_patterns("elsewhere"))
    assert digest(elsewhere, "pair", "single") == before


@pytest.mark.slow
def test_another_digest_has_the_class_graded_again(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The completion markers hold the digest of the grader with the course's helper packages."""
    assert grade_class(again) == []
    named = []
    monkeypatch.setattr(inputs, "engine_digest", lambda packages: named.append(packages) or "another engine")
    assert grade_class(again) == sorted(SCORES) and named == [("grader_kernel", "course")]
    assert grade_class(again) == []
