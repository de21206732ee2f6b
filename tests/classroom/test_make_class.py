"""The class in examples/ hands in the notebooks of the release, changed only as the lists of its students say."""

import difflib
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from examples.make_class import LISTS, assignments, make_class
from grader.engine.notebook.cells import grade_id
from grader.errors import GraderError
from tests.support.paths import REPOSITORY

ASSIGNMENT = "04-attention"
RELEASE = REPOSITORY / "release" / ASSIGNMENT
NOTEBOOKS = {path.stem for path in RELEASE.glob("*.ipynb")}
ENTRIES = {path.stem: tomllib.loads(path.read_text()) for path in (LISTS / ASSIGNMENT).glob("*.toml")}
STUDENTS = sorted(ENTRIES)
TRUNCATED = [
    (student, name) for student in STUDENTS for name, entry in ENTRIES[student].items() if "truncated_at" in str(entry)
]
BLANK = {"# YOUR CODE HERE", "raise NotImplementedError()"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the class would hand in if no file were truncated."""
    lists = shutil.copytree(LISTS / ASSIGNMENT, tmp_path_factory.mktemp("lists") / ASSIGNMENT)
    for path in lists.glob("*.toml"):
        path.write_text(re.sub("^truncated_at = .*$", "", path.read_text(), flags=re.MULTILINE))
    submitted = tmp_path_factory.mktemp("submitted")
    make_class(RELEASE, submitted, lists.parent)
    return submitted


def read(path: Path) -> NotebookNode:
    """Return a notebook of the release or of the class."""
    return nbformat.read(path, as_version=4)


def named_cells(entry: dict[str, Any]) -> set[str]:
    """Return the cells that an entry of a list changes."""
    damage = entry.get("damage", {})
    damaged = (name for kind in ("copied", "retyped", "lost") for name in damage.get(kind, ()))
    return {*entry.get("answers", {}), *damaged}


def rest_of(notebook: NotebookNode, names: set[str]) -> dict[str, Any]:
    """Return a notebook without some cells."""
    return {**notebook, "cells": [cell for cell in notebook.cells if grade_id(cell) not in names]}


def cells_of(notebook: NotebookNode, name: str) -> list[NotebookNode]:
    """Return all cells with a grade_id."""
    return [cell for cell in notebook.cells if grade_id(cell) == name]


def test_the_class_hands_in_one_assignment() -> None:
    """Every list belongs to 04-attention, and only one file is truncated."""
    assert assignments() == [ASSIGNMENT]
    assert len(TRUNCATED) == 1


@pytest.mark.parametrize("student", STUDENTS)
def test_a_notebook_differs_from_the_release_only_in_what_the_list_says(whole: Path, student: str) -> None:
    """Apart from the cells that the list names, both are the same; and each of these cells differs."""
    for name in NOTEBOOKS:
        released, made = read(RELEASE / f"{name}.ipynb"), read(whole / student / ASSIGNMENT / f"{name}.ipynb")
        names = named_cells(ENTRIES[student].get(name, {}))
        assert rest_of(made, names) == rest_of(released, names)
        assert [cell for cell in names if cells_of(made, cell) == cells_of(released, cell)] == []


@pytest.mark.parametrize("student", STUDENTS)
def test_an_answer_is_the_text_of_the_list(whole: Path, student: str) -> None:
    """A whole answer is the text of its cell; one for blanks keeps the signature and docstring of the release."""
    for name, entry in ENTRIES[student].items():
        released, made = read(RELEASE / f"{name}.ipynb"), read(whole / student / ASSIGNMENT / f"{name}.ipynb")
        for cell, answer in entry.get("answers", {}).items():
            before, after = cells_of(released, cell)[0].source, cells_of(made, cell)[0].source
            if isinstance(answer, str):
                assert after == answer.strip("\n")
                continue
            lines = [line.strip() for filling in answer for line in filling.splitlines()]
            changes = list(difflib.ndiff(before.splitlines(), after.splitlines()))
            assert {line[1:].strip() for line in changes if line.startswith("-")} == BLANK
            assert {line[1:].strip() for line in changes if line.startswith("+")} <= set(lines)
            rest = (line.strip() for line in after.splitlines())
            assert all(line in rest for line in lines), "the fillings are not in their order"


def test_a_truncated_file_is_the_beginning_of_the_whole_one(whole: Path, tmp_path: Path) -> None:
    """The file that a list truncates is no JSON; every other file of the class is whole."""
    make_class(RELEASE, tmp_path)
    for path in whole.glob("*/*/*.ipynb"):
        handed_in, is_truncated = tmp_path / path.relative_to(whole), (path.parts[-3], path.stem) in TRUNCATED
        assert path.read_text().startswith(handed_in.read_text())
        assert (handed_in.read_text() != path.read_text()) == is_truncated
        if is_truncated:
            with pytest.raises(nbformat.reader.NotJSONError):
                read(handed_in)


def test_damage_is_what_the_list_says(tmp_path: Path) -> None:
    """A copy is below its original, a retyped cell keeps its text, a lost cell is gone, and the others keep order."""
    damage = "copied = ['vanilla-attention']\nretyped = ['vanilla-attention-check']\nlost = ['question-which-state']"
    made = read(hand_in(tmp_path, f"[1-vanilla-attention.damage]\n{damage}") / "1-vanilla-attention.ipynb")
    released = read(RELEASE / "1-vanilla-attention.ipynb")
    names = [grade_id(cell) for cell in released.cells if grade_id(cell) != "question-which-state"]
    names.insert(names.index("vanilla-attention"), "vanilla-attention")
    assert [grade_id(cell) for cell in made.cells] == names
    original, twin = cells_of(made, "vanilla-attention")
    assert [original] == cells_of(released, "vanilla-attention")
    assert twin == {**original, "id": f"{original.id}-copy"}
    (before,), (after,) = (cells_of(notebook, "vanilla-attention-check") for notebook in (released, made))
    assert after == {key: before[key] for key in ("id", "source", "metadata")} | {"cell_type": "markdown"}


ANSWER, DAMAGE = "[1-vanilla-attention.answers]\n", "[1-vanilla-attention.damage]\n"


def hand_in(folder: Path, text: str) -> Path:
    """Make a class of one student, Kim, with a list, and return the folder with the notebooks."""
    (folder / ASSIGNMENT).mkdir()
    (folder / ASSIGNMENT / "kim.toml").write_text(text)
    make_class(RELEASE, folder / "submitted", folder)
    return folder / "submitted" / "kim" / ASSIGNMENT


@pytest.mark.parametrize(
    "text",
    [
        "# nothing",
        f"{ANSWER}vanilla-attention = ['one', 'two']",
        f"{ANSWER}vanilla-attention = 'whole'",
        f"{ANSWER}question-which-state = 'words'",
        f"{DAMAGE}lost = ['vanilla-attention-check']",
        f"{DAMAGE}truncated_at = 'vanilla-attention-check'",
    ],
)
def test_a_list_that_fits_the_release_makes_every_notebook(tmp_path: Path, text: str) -> None:
    """Notebooks without an entry are handed in, too."""
    assert {path.stem for path in hand_in(tmp_path, text).glob("*.ipynb")} == NOTEBOOKS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{ANSWER}gone = 'whole'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{ANSWER}vanilla-attention = ['one']", "kim, 1-vanilla-attention: vanilla-attention has 2 blanks"),
        (
            f"{ANSWER}vanilla-attention-check = 'whole'",
            "kim, .*: vanilla-attention-check is no answer",
        ),
        ("[gone.answers]\nvanilla-attention = 'whole'", "kim, gone: the release has no such notebook"),
        (f"{DAMAGE}lost = ['gone']", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}truncated_at = 'gone'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}burnt = ['vanilla-attention']", "kim, 1-vanilla-attention: .*'burnt'"),
    ],
)
def test_a_list_that_does_not_fit_the_release_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    """The message names the student, the notebook and the cell or key."""
    with pytest.raises(GraderError, match=says):
        hand_in(tmp_path, text)
