"""An error in source/ names its notebook and, where there is one, its cell, whether nbgrader or the grader finds it."""

import copy
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.commands.cli import main
from tests.support.notebooks import answered, cell, code, text
from tests.support.small_class import NAME, RIGHT, SOURCE, hand_in, make_course, released

pytestmark = pytest.mark.slow

Change = Callable[[NotebookNode], None]


def source(name: str, text: str) -> Change:
    """Return a change of the source of a cell."""
    return lambda notebook: cell(notebook, name).__setitem__("source", text)


def metadata(name: str, **values: object) -> Change:
    """Return a change of nbgrader's metadata of a cell."""
    return lambda notebook: cell(notebook, name).metadata.nbgrader.update(values)


def twice(notebook: NotebookNode) -> None:
    """Add a second cell with the same grade_id."""
    notebook.cells.append(copy.deepcopy(cell(notebook, "one-check")))
    notebook.cells[-1].id = "another"


HIDDEN = "### BEGIN HIDDEN TESTS"
BROKEN: list[tuple[Change, str, str]] = [
    (source("one-test-more", f"{HIDDEN}\nassert one(3) == 3"), "one-test-more", "no end hidden tests"),
    (source("one", "### BEGIN SOLUTION\ndef one(x=1): return x"), "one", "no end solution statement"),
    (source("one-check", "assert one( == 1"), "one-check", "syntax error"),
    (source("one-test-more", f"{HIDDEN}\none(\n### END HIDDEN TESTS"), "one-test-more", "syntax error on line"),
    (source("imports", "import"), "imports", "syntax error on line 1"),
    (source("one-check", "# nothing"), "one-check", "only comments"),
    (lambda notebook: notebook.cells.insert(1, text("<!-- BEGIN MARK SCHEME -->")), "cell 2", "no end mark scheme"),
    (lambda notebook: notebook.cells.insert(2, code("### BEGIN SOLUTION\n### END SOLUTION")), "cell 3", "non-solution"),
    (twice, "one-check", "duplicate grade id"),
    (metadata("one", grade_id="one two"), "one two", "does not match"),
]


@pytest.mark.parametrize(("change", "place", "words"), BROKEN)
def test_an_error_in_source_names_notebook_and_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    change: Change, place: str, words: str,
) -> None:  # fmt: skip
    """In one line, when it is released and when it is graded; nothing is written."""
    course = make_course(tmp_path / "course")
    monkeypatch.chdir(course)
    hand_in(course, "ann", answered(released(course), **RIGHT))
    broken = copy.deepcopy(SOURCE)
    change(broken)
    nbformat.write(broken, course / "source" / NAME / "small.ipynb")
    before, work = (course / "release" / NAME / "small.ipynb").read_bytes(), f"submitted/ann/{NAME}/small.ipynb"
    capsys.readouterr()
    commands = [["release", NAME, "--anyway"], ["grade", NAME, "--anyway"], ["check", "--trust", work]]
    for command in commands if "syntax" in words else commands[:2]:  # a check needs no release
        assert main(command) == 1
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert line.startswith("grader: ") and "small.ipynb" in line and place in line and words in line, line
        assert "Error:" not in line
    assert (course / "release" / NAME / "small.ipynb").read_bytes() == before
    assert not (course / "autograded" / "ann").exists() and not (course / "feedback").exists()
