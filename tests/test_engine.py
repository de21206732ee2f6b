"""The digest of the grader: all code that decides a score changes it, and nothing else does."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import grader.engine
from grader.classroom import class_run
from grader.engine import LIBRARIES, engine_digest, module_files
from grader.errors import GraderError
from tests.support.paths import REPOSITORY
from tests.support.small_class import SCORES, grade_class

ROOMS = {
    "", *"checking class_report class_report/page classroom classroom/page cluster diagnosis doctor notebook".split(),
    *"platforms prover reader rpc runner sandbox service service/web supervisor".split(),
}  # fmt: skip
"""The folders of the grader with modules in them."""

DIGESTS = """
    import json, sys
    from pathlib import Path
    from grader import engine

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
    shutil.copytree(REPOSITORY / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__"))
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
    return run(folder, f"from grader.engine import engine_digest; print(engine_digest({helper_packages!r}))")


def test_every_module_of_the_grader_and_of_the_helper_packages_changes_the_digest(copies: Path) -> None:
    """In whichever folder it is; a file that is restored restores the digest."""
    modules = {str(path.relative_to(copies)) for path in copies.rglob("*.py")}
    rooms = {path.removeprefix("grader/").rpartition("/")[0] for path in modules if path.startswith("grader/")}
    assert rooms == ROOMS
    digests = json.loads(run(copies, DIGESTS))
    assert digests.keys() == modules | {"unchanged", "changed back"}
    assert digests["unchanged"] == digests["changed back"]
    assert len(set(digests.values())) == len(modules) + 1


def renamed(copies: Path) -> None:
    (copies / "grader/rpc/values.py").rename(copies / "grader/rpc/worth.py")


def moved(copies: Path) -> None:
    (copies / "grader/rpc/values.py").rename(copies / "grader/runner/values.py")


def removed(copies: Path) -> None:
    (copies / "pair/deeper/module.py").unlink()


def added(copies: Path) -> None:
    (copies / "pair/deeper/more.py").touch()


@pytest.mark.parametrize("change", [renamed, moved, removed, added])
def test_modules_that_come_or_go_change_the_digest(copies: Path, change: Callable[[Path], None]) -> None:
    """The name and the folder of a module count, and an empty module does too."""
    before = digest(copies, "pair")
    change(copies)
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


def test_nothing_else_changes_the_digest(copies: Path) -> None:
    """Neither pages, data and compiled files in the same folders, nor another package, nor the place of the copy."""
    before = digest(copies, "pair", "single")
    for path in ("grader/README.md", "grader/rpc/README.md", "pair/words.txt", "other.py", "pair/__pycache__/x.pyc"):
        (copies / path).parent.mkdir(exist_ok=True)
        (copies / path).write_text("changed")
    os.utime(copies / "pair/__init__.py", (0, 0))
    assert digest(copies, "pair", "single") == before
    elsewhere = shutil.copytree(copies, copies / "elsewhere", ignore=shutil.ignore_patterns("elsewhere"))
    assert digest(elsewhere, "pair", "single") == before


def test_another_digest_has_the_class_graded_again(again: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The completion markers hold the digest of the grader with the course's helper packages."""
    assert grade_class(again) == []
    named = []
    monkeypatch.setattr(class_run, "engine_digest", lambda packages: named.append(packages) or "another engine")
    assert grade_class(again) == sorted(SCORES) and named == [("grader_kernel", "course")]
    assert grade_class(again) == []


def test_the_digest_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second class run in the same process reads no module again."""
    engine_digest(("course",))
    monkeypatch.setattr(grader.engine, "module_files", lambda package: pytest.fail("a file was read again"))
    engine_digest(("course",))


@pytest.mark.parametrize("name", ["no_such_package", "grader.rpc", "../grader", "", "__main__x"])
def test_a_package_that_does_not_exist_is_refused(name: str) -> None:
    """A dotted name, a path and a name without a module are no packages."""
    with pytest.raises(GraderError, match=r"c\.Grader\.helper_packages .* install it, or correct the name"):
        module_files(name)


def test_modules_are_named_as_they_are_imported(copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package by its folder, a single module by its file."""
    monkeypatch.syspath_prepend(copies)
    assert list(module_files("pair").values()) == ["pair", "pair.deeper", "pair.deeper.module"]
    assert module_files("single") == {copies / "single.py": "single"}
