"""Makes the page of a notebook: the text that students get, with the outputs that the instructors' notebook stores.

An output is shown only below a cell that reads the same in both notebooks and is no answer, so that no output of our
solutions is shown. Blanks are marked as exercises, checks are folded, and hidden tests are one list. The output of
code right below a quick question is folded, too, because it is the answer.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from html import escape
from io import BytesIO
from pathlib import Path

import imagesize
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from book.course import Course, Notebook
from book.errors import BookError
from book.settings import Launch, Settings
from grader.engine.notebook.cells import CellType, type_of
from grader_kernel.contract import CHECK, HIDDEN_TEST

OPEN = "open-this-notebook"
"""The anchor of the box that says how to open a notebook."""
PICTURE = re.compile(r'<img (?P<before>[^>]*?)src="data:image/png;base64,(?P<data>[A-Za-z0-9+/=\s]+)"(?P<after>[^>]*)>')
ALT = re.compile(r'\balt="[^"]+"')
QUESTION = re.compile(r"^(?:grader_kernel\.)?questions\.\w+\(", re.MULTILINE)
WIDGET = 'class="grader-widget"'
WIDE = 700
"""Pictures of more pixels are too small to read on a phone: they keep their size there, and scroll."""
HAND_IN = re.compile(r"\A## Hand in\n\n.*?(?=\n\n|\Z)", re.DOTALL)
"""The heading and the first paragraph of the part that hands in, which speaks of the cell below it."""
HANDS_IN = re.compile(r"^hand_in\(\)", re.MULTILINE)
BEFORE_RUN = re.compile(r"\bBefore you run (?:it|the cell)(?=:)")
"""A request for a guess. A page already shows the output of the cell, so the reader guesses before reading on."""


class NotebookPage:
    """The page of one notebook, and the pictures on it.

    Args:
        course: what terms and papers are looked up in.
        notebook: the notebook.
        settings: where the book is published.
    """

    def __init__(self, course: Course, notebook: Notebook, settings: Settings) -> None:
        self.pictures: dict[str, bytes] = {}
        """Path in the book -> PNG."""
        self._course, self._notebook = course, notebook
        self._launches = list(settings.launches(notebook.file))
        self._source = {cell.id: cell for cell in notebook.source.cells}
        self._up = "../" * notebook.page.count("/")

    def made(self) -> NotebookNode:
        """Return the page as a notebook for myst-nb; fills `pictures`."""
        cells: list[NotebookNode] = []
        tests: list[NotebookNode] = []
        is_asked = False  # whether a question stands above with nothing but code since
        for number, cell in enumerate(self._notebook.released.cells):
            if _is_hidden_test(cell):
                tests.append(cell)
                continue
            cells += _listed(tests)
            tests = []
            is_question = _is_question(cell)
            is_asked = is_question or is_asked and cell.cell_type == "code"
            cells += self._shown(cell, is_answer=is_asked and not is_question)
            if number == 0:
                cells.append(self._how_to_open())
        cells += _listed(tests)
        cells += self._terms_and_papers()
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        metadata = {key: self._notebook.released.metadata[key] for key in ("kernelspec", "language_info")}
        return new_notebook(cells=cells, metadata=metadata)

    def _shown(self, cell: NotebookNode, *, is_answer: bool) -> Iterator[NotebookNode]:
        kind = type_of(cell)
        if cell.cell_type != "code":
            written = kind is CellType.MANUAL_ANSWER
            yield _text(self._written_box() if written else self._to_read(cell.source))
            return
        if HANDS_IN.search(cell.source):
            return
        page_cell = cell.copy()
        page_cell.metadata = {"tags": []}
        page_cell.outputs = list(self._outputs(cell, kind))
        if _is_question(cell):
            # The code holds the answers: a page shows the question alone.
            page_cell.metadata["tags"].append("remove-input")
            yield page_cell
            return
        outputs = page_cell.outputs
        if is_answer and outputs:
            page_cell.outputs = []
        if kind is CellType.AUTOGRADED_ANSWER:
            yield _text(self._exercise_line(cell.metadata.nbgrader.grade_id))
            page_cell.metadata["tags"].append("exercise")
        elif cell.metadata.get("jupyter", {}).get("source_hidden"):
            _fold(page_cell, "hide-input", _title_of_code(cell.source, outputs))
        yield page_cell
        if is_answer and outputs:
            # A cell of its own, because myst-nb has one title for both parts of a cell.
            shown = cell.copy()
            shown.metadata, shown.outputs = {"tags": ["remove-input"]}, outputs
            _fold(shown, "hide-output", _named(outputs))
            yield shown

    def _outputs(self, cell: NotebookNode, kind: CellType) -> Iterator[NotebookNode]:
        stored = self._source.get(cell.id)
        answers = (CellType.AUTOGRADED_ANSWER, CellType.TEST)
        if stored is None or kind in answers or stored.source != cell.source:
            return
        for number, output in enumerate(stored.get("outputs", ())):
            if "data" not in output:
                yield output
            elif html := output.data.get("text/html"):
                shown = self._with_picture_files(html, f"{cell.id}-{number}" if number else cell.id)
                yield NotebookNode(output | {"data": {"text/html": shown}})
            elif not any(kind.endswith("widget-view+json") for kind in output.data):
                yield output

    def _with_picture_files(self, html: str, name: str) -> str:
        """Return an output with its pictures in files of their own, loaded when they are scrolled to."""

        def replaced(match: re.Match[str]) -> str:
            where = f"{self._notebook.file}, cell {name}"
            if not ALT.search(match[0]):
                raise BookError(
                    f"a picture needs a text that says what it shows; {where} has none: give its figure alt="
                )
            try:
                picture = base64.b64decode(match["data"], validate=False)
                width, height = imagesize.get(BytesIO(picture))
            except (binascii.Error, ValueError) as error:
                raise BookError(f"a picture must be PNG in base64; {where} is not: run the notebook again") from error
            if width < 1:
                raise BookError(f"a picture must be PNG in base64; {where} is not: run the notebook again")
            suffix = f"-{len(self.pictures)}" if any(name == Path(path).stem for path in self.pictures) else ""
            path = f"pictures/{self._notebook.page}/{name}{suffix}.png"
            self.pictures[path] = picture
            size = f'width="{width}" height="{height}" loading="lazy" decoding="async"'
            if width > WIDE:
                size = f'class="book-wide" style="--width: {width}px" {size}'
            return f'<img {match["before"]}src="{self._up}{path}" {size}{match["after"]}>'

        return PICTURE.sub(replaced, html)

    def _how_to_open(self) -> NotebookNode:
        local = f"Or on your computer, in the folder of the course: <code>make lab</code>, then {self._place()}."
        if not self._launches:
            local = local.replace("Or on", "To run the code and to write the exercises, open the notebook on")
        buttons = "".join(
            f'<li><a class="book-button" href="{escape(each.url)}">Open in {each.name}</a> {escape(each.needs)}</li>'
            for each in self._launches
        )
        listed = f"<ul>{buttons}</ul>" if buttons else ""
        return _text(
            f'<aside class="book-open" id="{OPEN}" aria-label="Open this notebook">{listed}<p>{local}</p></aside>'
        )

    def _place(self) -> str:
        return f"<code>{self._notebook.page}.ipynb</code>"

    def _do_it(self, what: str) -> str:
        best: Launch | None = self._launches[0] if self._launches else None
        return f'<a href="{escape(best.url) if best else f"#{OPEN}"}">{what}</a>'

    def _exercise_line(self, name: str) -> str:
        return (
            f'<p class="book-exercise" id="exercise-{name}"><strong>Exercise: write this.</strong> '
            f"{self._do_it('Do this exercise')}</p>"
        )

    def _to_read(self, text: str) -> str:
        """Return a text of the notebook as it reads where no cell can be run."""
        hand_in = f"## Hand in\n\nYou hand in from the notebook: {self._do_it('open it')}, and run its last cell."
        return BEFORE_RUN.sub("Before you read on", HAND_IN.sub(hand_in, text))

    def _written_box(self) -> str:
        return (
            '<p class="book-exercise book-written"><strong>A written question.</strong> '
            f"{self._do_it('Answer it in the notebook')}</p>"
        )

    def _terms_and_papers(self) -> Iterator[NotebookNode]:
        lines = []
        if self._notebook.terms:
            terms = ", ".join(f"{{term}}`{term}`" for term in self._notebook.terms)
            lines.append(f"**Terms of this notebook:** {terms}")
        papers = [paper for paper in self._course.papers.values() if self._notebook.page in paper.cited]
        if papers:
            named = "; ".join(f"[{paper.name}](#{paper.anchor})" for paper in papers)
            lines.append(f"**Papers of this notebook:** {named}")
        if lines:
            yield _text("\n\n".join(["## In this book", *lines]))


def _is_question(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and QUESTION.search(cell.source) is not None


def _fold(cell: NotebookNode, part: str, title: str) -> None:
    """Fold a part of a page's cell, as a tag of myst-nb names it, below a title that says what it is."""
    cell.metadata["tags"].append(part)
    cell.metadata["mystnb"] = {"code_prompt_show": f"Show {title}", "code_prompt_hide": f"Hide {title}"}


def _named(outputs: list[NotebookNode]) -> str:
    """Return what outputs are, in the order in which they stand."""
    names = []
    for output in outputs:
        html = output.get("data", {}).get("text/html", "")
        name = "the result" if "data" in output else "what it prints"
        names.append("the figure" if WIDGET in html else "the picture" if "<img" in html else name)
    return " and ".join(dict.fromkeys(names))


def _title_of_code(source: str, outputs: list[NotebookNode]) -> str:
    """Return what folded code is: a check is known by its exercise, other code by what it shows."""
    if check := CHECK.match(source):
        return f"the check of {check[1]}"
    shown = _named(outputs)
    drawn = [name for name in ("the figure", "the picture") if name in shown]
    return f"the code of {drawn[0]}" if drawn else "the code"


def _is_hidden_test(cell: NotebookNode) -> bool:
    return type_of(cell) is CellType.TEST and HIDDEN_TEST.match(cell.source) is not None


def _listed(tests: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield one list for neighbouring hidden tests: what each of them tests, and its points."""
    if not tests:
        return
    items = []
    for cell in tests:
        hidden, points = HIDDEN_TEST.match(cell.source), cell.metadata.nbgrader.points
        sentence = hidden and hidden[2] or ""
        items.append(f"<li>{escape(sentence)} <small>({points} {'point' if points == 1 else 'points'})</small></li>")
    head = "Hidden tests: they run when your work is graded"
    yield _text(f'<div class="book-tests"><p>{head}</p><ul>{"".join(items)}</ul></div>')


def _text(source: str) -> NotebookNode:
    return new_markdown_cell(source, id="text")
