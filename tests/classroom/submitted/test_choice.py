"""Whatever the files of a submission are called, the one that is filled in is graded, or a person learns of all."""

from collections.abc import Iterable

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from grader.classroom.submitted.choice import Chooser
from tests.support.notebooks import answer, answered, check, code, helpers, notebook, text, written

STUB = "raise NotImplementedError()"
NAMES = ("1-vanilla-attention", "2-self-attention", "3-what-attention-learns")


def blank(number: int) -> NotebookNode:
    return notebook(
        text("# Attention"),
        helpers("imports", "import torch"),
        answer(f"code-{number}", STUB),
        check(f"code-{number}-check", "assert True"),
        written(f"why-{number}", "YOUR ANSWER HERE"),
    )


def work(number: int, version: int = 1) -> NotebookNode:
    return answered(blank(number), **{f"code-{number}": f"answer = {version}"})


BLANK = {name: blank(number) for number, name in enumerate(NAMES)}
CHOOSER = Chooser(BLANK, BLANK)
RENAMES = (
    "{} (1).ipynb", "{}(12).ipynb", "{}-Copy1.ipynb", "{} - Copy.ipynb", "{}-2.ipynb", "Kopie von {}.ipynb",
    "Copy of {}.ipynb", "04-attention/{}.ipynb", "a/b/{}.ipynb", "{}.ipynb.txt", "{}.json", "{}.ipynb.json", "{}",
)  # fmt: skip


def renames(name: str) -> list[str]:
    return [form.format(each) for form in RENAMES for each in (name, name.replace("-", "_"), name.upper())]


@st.composite
def submissions(draw: st.DrawFn) -> tuple[dict[str, NotebookNode], dict[str, list[str]]]:
    """Files, and for each notebook the files with answers, each with answers of its own.

    Notebooks may be missing, blank or filled in, two may have exchanged their names, and copies stand beside them.
    """
    files: dict[str, NotebookNode] = {}
    filled: dict[str, list[str]] = {}
    places = dict(zip(NAMES, draw(st.permutations(NAMES)), strict=True))
    for number, name in enumerate(NAMES):
        versions = iter(range(1, 9))
        filled[name] = []
        paths = [f"{places[name]}.ipynb"] if draw(st.booleans()) else []
        paths += draw(st.lists(st.sampled_from(renames(name)), max_size=3, unique=True))
        for path in paths:
            is_filled = draw(st.booleans())
            files[path] = work(number, next(versions)) if is_filled else blank(number)
            filled[name] += [path] if is_filled else []
    return files, filled


@pytest.mark.slow
@settings(max_examples=300)
@given(submissions())
def test_the_one_that_is_filled_in_is_graded_or_all_are_named(
    submission: tuple[dict[str, NotebookNode], dict[str, list[str]]],
) -> None:
    """With one filled file it is taken; with several the expected name decides, or nothing is guessed."""
    files, filled = submission
    choices, owners = CHOOSER.choose(files)
    for name in NAMES:
        choice, own = choices[name], f"{name}.ipynb"
        if len(filled[name]) == 1:
            assert (choice.file, choice.rank, choice.is_certain) == (filled[name][0], 2, True)
        elif own in filled[name]:
            assert choice.file == own and set(choice.different) == set(filled[name]) - {own}
        elif filled[name]:
            assert not choice.is_certain and set(choice.different) == set(filled[name])
            assert choice.file == (own if owners.get(own) == name else "")
        else:
            assert choice.is_certain and not choice.different and not choice.rank
        mine = {path for path, owner in owners.items() if owner == name}
        assert mine == {*filter(None, [choice.file]), *choice.different, *choice.same, *choice.blank}
    assert owners.keys() == files.keys()


def standing(files: dict[str, NotebookNode]) -> tuple[str, list[str], list[str], list[str], bool]:
    choice = CHOOSER.choose(files)[0][NAMES[0]]
    return choice.file, choice.different, choice.same, choice.blank, choice.is_certain


OWN, OTHER, THIRD = f"{NAMES[0]}.ipynb", f"{NAMES[0]} (1).ipynb", f"{NAMES[0]} (2).ipynb"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({OWN: work(0), OTHER: work(0)}, (OWN, [], [OTHER], [], True)),
        ({OTHER: work(0), THIRD: work(0)}, (OTHER, [], [THIRD], [], True)),
        ({OWN: blank(0), OTHER: work(0, 1), THIRD: work(0, 2)}, (OWN, [OTHER, THIRD], [], [], False)),
        ({OTHER: work(0, 1), THIRD: work(0, 2)}, ("", [OTHER, THIRD], [], [], False)),
        ({OTHER: blank(0), THIRD: blank(0)}, (OTHER, [], [], [THIRD], True)),
    ],
)
def test_files_beside_the_one_that_is_taken_are_told_apart(
    files: dict[str, NotebookNode], expected: tuple[str, list[str], list[str], list[str], bool]
) -> None:
    """The same answers, others, and none; files of equal standing are no riddle if their answers are the same."""
    assert standing(files) == expected


def with_cells(notebook: NotebookNode, cells: Iterable[NotebookNode]) -> NotebookNode:
    return NotebookNode(notebook, cells=[*notebook.cells, *cells])


def test_words_in_other_cells_count_where_no_file_has_answers() -> None:
    """A file with an own cell goes before one as released, and an answer goes before both; comments count nothing.

    Some editors change the blanks at the ends of lines, and students empty boxes, which is no answer.
    """
    for box in ("", "  \n", STUB.replace("()", "()  ") + "\r\n"):
        assert CHOOSER.content(NAMES[0], answered(blank(0), **{"code-0": box})).rank == 0
    tried, edited = with_cells(blank(0), [code("x = 1")]), answered(blank(0), **{"code-0-check": "answer = 1"})
    assert standing({OWN: blank(0), OTHER: tried})[0] == OTHER
    assert standing({OWN: blank(0), OTHER: edited})[0] == OTHER
    assert standing({OWN: tried, OTHER: work(0)})[0] == OTHER
    assert standing({OWN: blank(0), OTHER: with_cells(blank(0), [code("# Test of code-0")])})[0] == OWN


def test_a_file_with_cells_of_two_notebooks_keeps_its_name() -> None:
    """Only if all cells that are known belong to another notebook is its name wrong; without such cells it counts."""
    for files in ({OWN: with_cells(work(0), [*work(1).cells, *work(2).cells])}, {OWN: notebook(code("x = 1"))}):
        assert CHOOSER.choose(files)[1] == {OWN: NAMES[0]}
    assert CHOOSER.choose({OWN: work(1)})[1] == {OWN: NAMES[1]}
    assert CHOOSER.choose({"notes.ipynb": notebook(code("x = 1"))})[1] == {}


def test_the_quick_look_agrees_with_the_cells() -> None:
    """A file as JupyterLab saves it has the ids of its cells in its text; quoted in a cell they are escaped."""
    saved = nbformat.writes(work(1)).encode()
    assert [CHOOSER.matcher.seems_to_be(name, saved) for name in NAMES] == [False, True, False]
    quoted = nbformat.writes(with_cells(work(1), [code('"grade_id": "code-0"')])).encode()
    assert not CHOOSER.matcher.seems_to_be(NAMES[0], quoted)
