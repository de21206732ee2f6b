"""Content that must not be in a book fails the build or is left out; a small course shows it."""

import os
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_output

from book.course import read_course
from book.errors import BookError
from book.extension import formulas
from book.notebook import OPEN, NotebookPage
from book.pages import Pages
from book.settings import Settings, read_settings
from tests.support.notebooks import answer, check, code, hidden, notebook, text
from tests.support.paths import REPOSITORY

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
PAGE = "01-one/1-first"
START = """# A small course

| folder | notebook | you build | time | points |
|---|---|---|---|---|
| `01-one` | [first](01-one/1-first.ipynb) | a sum | 5 min | 2 |
"""
INDEX = "\n\n| notebook | terms |\n|---|---|\n| [first](01-one/1-first.ipynb) | sum |"


def picture(alt: str = 'alt="a red dot" ', data: str = PIXEL) -> NotebookNode:
    """The output of a cell that draws."""
    html = f'<img {alt}src="data:image/png;base64,{data}">'
    return new_output("display_data", {"text/html": html, "text/plain": "a picture"})


def cells(opening: str = "# What is a **sum**?") -> dict[str, NotebookNode]:
    """The cells of the only notebook, as an instructor writes them."""
    folded = code("plot = draw()")
    folded_check = check("sum-check", "# Check of sum: run this cell.\nassert total([1, 2]) == 3")
    for cell in (folded, folded_check):
        cell.metadata["jupyter"] = {"source_hidden": True}
    return {
        "opening": text(opening),
        "example": code("draw()"),
        "sum": answer("sum", "def total(x):\n    return sum(x)"),
        "sum-check": folded_check,
        "folded": folded,
        "sum-test-all": hidden("sum-test-all", "The total of an empty list is 0.", "assert total([]) == 0"),
        "guess": text("**Before you run it:** a guess. Before you run it, read it."),
        "hand-in": text("## Hand in\n\nSave the notebook, and run\nthe cell below.\n\nThe next notebook is long."),
        "hand-in-cell": code("from course import hand_in\n\nhand_in()"),
    }


def write_course(folder: Path, *, opening: str = "# What is a **sum**?", start: str = START + INDEX, **outputs) -> Path:
    """Write a course with one notebook, whose instructors' copy has these outputs; return its folder."""
    for where in ("source", "release"):
        inside = {name.replace("-", "_"): cell for name, cell in cells(opening).items()}
        for name, cell in inside.items():
            cell.id = name
            if where == "source" and name in outputs:
                cell.outputs = outputs[name]
        if where == "release":
            inside["sum"].source = "def total(x):\n    raise NotImplementedError()"
            inside["sum_test_all"].source = "# Hidden test of sum, run by the grader: The total of nothing is 0."
        folder.joinpath(where, "01-one").mkdir(parents=True)
        for path, made in ((PAGE, notebook(*inside.values())), ("start", notebook(text(start)))):
            made.metadata["language_info"] = {"name": "python"}
            nbformat.write(made, folder / where / f"{path}.ipynb")
    return folder


def change(folder: Path, *before: NotebookNode, source: str = "", **metadata: object) -> NotebookNode:
    """Write cells before the example, and another source and metadata into it; return the page."""
    for where in ("source", "release"):
        path = folder / where / f"{PAGE}.ipynb"
        written = nbformat.read(path, as_version=4)
        place = next(number for number, cell in enumerate(written.cells) if cell.id == "example")
        written.cells[place].source = source or written.cells[place].source
        written.cells[place].metadata.update(metadata)
        written.cells[place:place] = before
        nbformat.write(written, path)
    return nbformat.reads(page(folder)[0], as_version=4)


def page(folder: Path) -> tuple[str, dict[str, bytes]]:
    """Return the page of the notebook, as Sphinx reads it, and its pictures."""
    course = read_course(folder, {})
    made = NotebookPage(course, course.notebooks[0], Settings())
    return nbformat.writes(made.made()), made.pictures


def build(folder: Path, seed: int = 0) -> tuple[int, str]:
    """Build the book of a course as `make book` does; return the exit status and what it says."""
    command = [sys.executable, "-m", "book", "--course", folder, "--output", folder / f"book-{seed}"]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_outputs_are_shown_below_cells_that_the_release_leaves_alone(tmp_path: Path) -> None:
    """A picture becomes a file, with its text and its size, and loads when a reader comes to it."""
    made, pictures = page(write_course(tmp_path, example=[picture()]))
    [(path, picture_file)] = pictures.items()
    assert path == f"pictures/{PAGE}/example.png" and picture_file[1:4] == b"PNG"
    assert 'alt=\\"a red dot\\"' in made and 'width=\\"1\\" height=\\"1\\" loading=\\"lazy\\"' in made


def test_a_wide_picture_says_so(tmp_path: Path) -> None:
    """A phone shows one of more than 700 pixels at a size that can be read, and any other as wide as the page."""
    sizes = {}
    for width in (700, 701):
        dot = b64decode(PIXEL)
        output = picture(data=b64encode(dot[:16] + width.to_bytes(4, "big") + dot[20:]).decode())
        sizes[width] = page(write_course(tmp_path / str(width), example=[output]))[0]
    assert "book-wide" not in sizes[700]
    assert 'class=\\"book-wide\\" style=\\"--width: 701px\\"' in sizes[701]


def test_a_page_does_not_speak_of_cells_to_run(tmp_path: Path) -> None:
    """The cell that hands in is left out, a check is called by its name, and a guess is made before reading on."""
    made = nbformat.reads(page(write_course(tmp_path))[0], as_version=4)
    texts = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
    assert "**Before you read on:** a guess. Before you run it, read it." in texts
    [hand_in] = [part for part in texts if part.startswith("## Hand in")]
    assert "cell below" not in hand_in and f"#{OPEN}" in hand_in and hand_in.endswith("\n\nThe next notebook is long.")
    assert not any("hand_in()" in cell.source for cell in made.cells)
    prompts = [cell.metadata["mystnb"]["code_prompt_show"] for cell in made.cells if "mystnb" in cell.metadata]
    assert prompts == ["Show the check of sum", "Show the code"]


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"a = b", ["a = b"]),
        (r"a, \qquad b \qquad\quad c", ["a,", "b", "c"]),
        (r"a \quad b", [r"a \quad b"]),
        (r"\text{a \qquad b} \qquad \{ c \}", [r"\text{a \qquad b}", r"\{ c \}"]),
        (r"\begin{cases} a \qquad b \\ c \end{cases} \qquad d", [r"\begin{cases} a \qquad b \\ c \end{cases}", "d"]),
        (r"\left( a \qquad b \right) \leftarrow c", [r"\left( a \qquad b \right) \leftarrow c"]),
        (r"a \leftarrow b \qquad c \rightarrow d", [r"a \leftarrow b", r"c \rightarrow d"]),
        (r"\qquad a", ["a"]),
    ],
)
def test_formulas_with_a_wide_gap_are_drawn_one_by_one(tex: str, parts: list[str]) -> None:
    r"""A narrow page breaks the line at `\qquad`, unless it is inside a group."""
    assert formulas(tex) == parts


def test_no_output_of_an_answer_or_a_test_is_shown(tmp_path: Path) -> None:
    """Neither a picture nor what our solution printed, nor one that another text of its cell wrote."""
    printed = new_output("stream", name="stdout", text="OUR OWN ANSWER")
    shown = {"sum": [picture(), printed], "sum_check": [printed], "sum_test_all": [printed], "example": [picture()]}
    write_course(tmp_path, **shown)
    path = tmp_path / "release" / f"{PAGE}.ipynb"
    path.write_text(path.read_text().replace("draw()", "# draw"))
    made, pictures = page(tmp_path)
    assert pictures == {} and "OUR OWN ANSWER" not in made and "a red dot" not in made and "return sum(x)" not in made


QUESTION = code('import grader_kernel.questions as questions\n\nquestions.number("n", "How many?", right=1.0)')
PRINTED, RESULT = new_output("stream", name="stdout", text="1"), new_output("execute_result", {"text/plain": "1"})
FIGURE = new_output("execute_result", {"text/html": '<div class="grader-widget" data-module="x"></div>'})


@pytest.mark.parametrize(
    ("outputs", "title"),
    [
        ([PRINTED], "what it prints"),
        ([RESULT], "the result"),
        ([picture()], "the picture"),
        ([PRINTED, picture()], "what it prints and the picture"),
        ([FIGURE], "the figure"),
    ],
)
def test_what_answers_a_question_is_folded(tmp_path: Path, outputs: list[NotebookNode], title: str) -> None:
    """The output of code right below a question is folded, and its title says what it is; below a text it is shown."""
    for name, before, expected in (("below", [QUESTION], [f"Show {title}"]), ("apart", [QUESTION, text("One.")], [])):
        made = change(write_course(tmp_path / name, example=outputs), *before)
        titles = [
            each.metadata.mystnb.code_prompt_show
            for each in made.cells
            if "hide-output" in each.metadata.get("tags", ())
        ]
        assert titles == expected and sum(len(cell.get("outputs", ())) for cell in made.cells) == len(outputs)


@pytest.mark.parametrize(
    ("source", "outputs", "title"),
    [
        ("curves = {}\ndraw()", [picture()], "the code of the picture"),
        ("draw()", [FIGURE], "the code of the figure"),
        ("print(1)", [PRINTED], "the code"),
        ("# Check of sum: run this cell.\nassert total([]) == 0", [], "the check of sum"),
    ],
)
def test_folded_code_has_a_title_that_says_what_it_is(
    tmp_path: Path, source: str, outputs: list[NotebookNode], title: str
) -> None:
    """Not its first line."""
    made = change(write_course(tmp_path, example=outputs), source=source, jupyter={"source_hidden": True})
    [folded] = [cell for cell in made.cells if cell.source == source]
    assert folded.metadata.mystnb == {"code_prompt_show": f"Show {title}", "code_prompt_hide": f"Hide {title}"}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"example": [picture(alt="")]}, "a picture needs a text that says what it shows; .* cell example has none"),
        ({"example": [picture(data="bm8gcGljdHVyZQ==")]}, "a picture must be PNG in base64; .* cell example is not"),
        ({"start": "# A small course"}, "each notebook needs a row in source/start.ipynb; 01-one/1-first has none"),
        ({"opening": "No title"}, "a notebook must begin with a title; release/01-one/1-first.ipynb does not"),
        ({"opening": "# What is it?"}, "'sum' is not in release/01-one/1-first.ipynb"),
    ],
)
def test_what_a_page_needs_is_named(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    """A picture with its text, a row in the table, a title, and each term of the index in bold or in a heading."""
    write_course(tmp_path, **changed)
    with pytest.raises(BookError, match=says):
        Pages(tmp_path / "pages", read_course(tmp_path, {}), Settings()).write()


def test_a_guide_links_to_files_that_there_are(tmp_path: Path) -> None:
    """A link to a page stays, one to a file is its path unless there is a repository, and a wrong one is named."""
    write_course(tmp_path).joinpath("docs").mkdir()
    tmp_path.joinpath("docs/guide.md").write_text("# Guide\n\n[a](../source/start.ipynb) [b](../docs/) `[c](no)`")
    for settings, link in (
        (Settings(), "b (`docs`)"),
        (Settings("https://example.org/x"), "[b](https://example.org/x/"),
    ):
        Pages(tmp_path / "pages", read_course(tmp_path, {}), settings).write()
        written = (tmp_path / "pages/docs/guide.md").read_text()
        assert "[a](../start.ipynb)" in written and link in written and "`[c](no)`" in written
    tmp_path.joinpath("docs/guide.md").write_text("# Guide\n\n[a](gone.md)")
    with pytest.raises(BookError, match=r"docs/guide.md links to gone.md: correct the link"):
        Pages(tmp_path / "pages", read_course(tmp_path, {}), Settings()).write()


@pytest.mark.slow
def test_a_book_is_the_same_each_time_and_nothing_is_executed(tmp_path: Path) -> None:
    """Byte by byte, whatever the order of sets is. A cell that would leave a file leaves none."""
    write_course(tmp_path, opening="# What is a **sum**?\n\n$x + y$", example=[picture()])
    assert change(tmp_path, source=f"open('{tmp_path / 'ran'}', 'w')") and len(page(tmp_path)[1]) == 1
    assert [build(tmp_path, seed) for seed in (1, 2)] == [(0, ""), (0, "")]
    assert not (tmp_path / "ran").exists()
    first, second = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "book-1" / "html", tmp_path / "book-2" / "html")
    )
    assert len(first) > 20 and [path for path in first if first[path] != second.get(path)] == []
    assert first.keys() == second.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opening", "says"),
    [
        ("# What is a **sum**?\n\n$\\nosuchcommand{x}$", "every formula must be one that a browser can draw; 1-first"),
        ("# What is a **sum**?\n\n[here](#nowhere)", "without a warning of Sphinx"),
        ("# What is a **sum**?\n\n[here](2-second.ipynb)", "without a warning of Sphinx"),
    ],
)
def test_a_formula_or_a_link_that_does_not_work_fails_the_build(tmp_path: Path, opening: str, says: str) -> None:
    """With a sentence that says what."""
    status, error = build(write_course(tmp_path, opening=opening))
    assert status == 1 and says in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ('[repository]\nurl = "example.org/x"', "repository.url must be empty or begin with https://"),
        ('[hub]\nurl = "https://hub.example.org"', "hub.url needs repository.url"),
        ("[hub", "settings must be TOML"),
    ],
)
def test_settings_that_make_no_button_are_refused(tmp_path: Path, toml: str, says: str) -> None:
    """With the rule and the value."""
    tmp_path.joinpath("settings.toml").write_text(toml)
    with pytest.raises(BookError, match=says):
        read_settings(tmp_path / "settings.toml")


class Formulas(IPythonRenderer):
    """Counts the formulas of a text as Jupyter finds them: those on a line of their own, and those inside a line."""

    found = 0

    def block_math(self, body: str) -> str:
        self.found += len(formulas(body))
        return ""

    def inline_math(self, body: str) -> str:
        self.found += 1
        return ""


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(REPOSITORY.glob("release/*/*.ipynb")), ids=lambda path: path.stem)
@pytest.mark.xdist_group("book")
def test_no_formula_is_lost(book: Path, path: Path) -> None:
    """A page has as many drawn formulas as its notebook has in its text, none as typed and none for a script."""
    renderer = Formulas(escape=False)
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            MarkdownWithMath(renderer=renderer).render(cell.source)
    shown = (book / path.parent.name / f"{path.stem}.html").read_text()
    article = shown[shown.index("<article") : shown.rindex("</article>")]
    assert article.count("<math") == renderer.found > 0
    assert "MathJax" not in shown and 'class="math notranslate' not in shown
