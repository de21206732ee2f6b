"""Makes the notebooks that a class hands in: writes the lists of its students' answers into a release.

The list of a student, `examples/ASSIGNMENT/STUDENT.toml`, says in what the notebooks differ from the release:

    [NOTEBOOK.answers]
    exercise = ['''first blank''', '''second blank''']  # takes the place of the blanks of the released cell, in order
    question = '''text'''                               # takes the place of the whole cell

    [NOTEBOOK.damage]
    copied = ["exercise"]          # these cells occur a second time
    retyped = ["exercise-check"]   # these cells have become text cells
    lost = ["exercise-test-what"]  # these cells have been deleted
    truncated_at = "other"         # the file ends before the name of this cell

A notebook without an entry is handed in as it was released.
"""

import copy
import re
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.errors import GraderError

LISTS = Path(__file__).parent
EMPTY: Mapping[str, Any] = MappingProxyType({})
BLANK = re.compile(r"^( *)# YOUR CODE HERE\n *raise NotImplementedError\(\)$", re.MULTILINE)


def assignments(lists: Path = LISTS) -> list[str]:
    """Return the assignments that the class hands in.

    Args:
        lists: the folder with a folder of lists for each assignment.
    """
    return sorted({path.parent.name for path in lists.glob("*/*.toml")})


def make_class(release: Path, submitted: Path, lists: Path = LISTS) -> None:
    """Write the notebooks of each student to SUBMITTED/STUDENT/ASSIGNMENT/.

    Args:
        release: the folder with the released notebooks of one assignment, whose name is that of the assignment.
        submitted: where to write.
        lists: the folder with a folder of lists for each assignment.

    Raises:
        GraderError: a list names a notebook, a cell or a damage that does not exist, or the wrong number of blanks.
    """
    released = {path.stem: nbformat.read(path, as_version=4) for path in sorted(release.glob("*.ipynb"))}
    for path in sorted((lists / release.name).glob("*.toml")):
        entries = tomllib.loads(path.read_text())
        folder = submitted / path.stem / release.name
        folder.mkdir(parents=True)
        for name in sorted(entries.keys() | released.keys()):
            try:
                if name not in released:
                    raise GraderError(f"the release has no such notebook, only {', '.join(released)}")
                text = _handed_in(copy.deepcopy(released[name]), **entries.get(name, {}))
            except (GraderError, TypeError) as error:
                why = f"A list in examples/ must fit the release. {path.stem}, {name}: {error}. Correct the list."
                raise GraderError(why) from error
            (folder / f"{name}.ipynb").write_text(text)


def _handed_in(
    notebook: NotebookNode, answers: Mapping[str, str | list[str]] = EMPTY, damage: Mapping[str, Any] = EMPTY
) -> str:
    # The text of the file. An entry that is none of these arguments is a TypeError, which names it.
    for name, answer in answers.items():
        cell = _cell(notebook, name)
        if type_of(cell) not in (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER):
            raise GraderError(f"{name} is no answer, its type is {type_of(cell).value}")
        cell.source = answer.rstrip("\n") if isinstance(answer, str) else _filled(name, cell.source, answer)
    return _damaged(notebook, **damage)


def _cell(notebook: NotebookNode, name: str) -> NotebookNode:
    for cell in notebook.cells:
        if grade_id(cell) == name:
            return cell
    raise GraderError(f"the release has no cell {name}")


def _filled(name: str, source: str, fillings: list[str]) -> str:
    blanks = len(BLANK.findall(source))
    if blanks != len(fillings):
        raise GraderError(f"{name} has {blanks} blanks in the release, and the list fills {len(fillings)}")
    rest = iter(fillings)
    return BLANK.sub(lambda blank: textwrap.indent(next(rest).rstrip("\n"), blank[1]), source)


def _damaged(
    notebook: NotebookNode,
    copied: Sequence[str] = (),
    retyped: Sequence[str] = (),
    lost: Sequence[str] = (),
    truncated_at: str | None = None,
) -> str:
    cells = notebook.cells
    for name in copied:
        cell = _cell(notebook, name)
        cells.insert(cells.index(cell), copy.deepcopy(cell))
        cell.id += "-copy"
    for name in retyped:
        cell = _cell(notebook, name)
        cells[cells.index(cell)] = nbformat.v4.new_markdown_cell(cell.source, id=cell.id, metadata=cell.metadata)
    for name in lost:
        cells.remove(_cell(notebook, name))
    text = nbformat.writes(notebook) + "\n"
    if truncated_at is None:
        return text
    _cell(notebook, truncated_at)
    return text[: text.index(f'"grade_id": "{truncated_at}"')]
