"""Reads the answers of a class from autograded/, each file once, and renders each text once.

    autograded/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb --> Answer: what is the same has the same digest --render--> HTML

Answers are untrusted: everything passes `page/sanitize.py`. Pictures are not in the HTML but at addresses of their own,
so that a page of 300 answers stays small and a browser loads the pictures that it shows.
"""

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from nbconvert.filters import strip_ansi
from nbformat import from_dict
from nbgrader.utils import compute_checksum

from grader.classroom.course_dir import CourseDir
from grader.classroom.page import sanitize
from grader.classroom.page.autograded import beside
from grader.classroom.page.feedback import highlighted
from grader.commands.mark.questions import Question, SourceQuestions
from grader.engine.notebook.cells import FORMS, CellType, explanation_of, grade_id, type_of
from grader.files import Stamp, stamp
from grader.text import printable

MAX_KEPT = 64 * 1024
"""Characters of an answer that stay in memory; a longer one is read again when it is shown."""
MAX_OUTPUT = 20_000
"""Characters of the text of one output that are shown."""
PICTURE = re.compile(r'(<img\b(?:[^"<>]|"[^"]*")*?\s)src="data:(image/(?:png|jpeg));base64,([A-Za-z0-9+/=\s]*)"')
NO_NOTEBOOK = "This notebook was not handed in."
NOTHING = "Nothing was written here."
UNREADABLE = "The autograded notebook cannot be read: grade this student again."


class Part(NamedTuple):
    """A piece of an answer: `text` in Markdown, `code`, its `outputs`, or a `note` of ours."""

    kind: str
    source: str = ""
    outputs: tuple[dict[str, Any], ...] = ()


class Answer(NamedTuple):
    """An answer: the same digest means the same answer. `parts` are None if they are too long to keep."""

    digest: str
    is_blank: bool
    parts: tuple[Part, ...] | None


class Rendered(NamedTuple):
    """An answer as sanitized HTML, in pieces with a picture between each two."""

    pieces: tuple[str, ...]

    def html(self, pictures: str) -> str:
        """Return the HTML; `pictures` is the beginning of the addresses of its pictures."""
        numbered = (
            f'loading="lazy" src="{escape(pictures)}{number}"{piece}' for number, piece in enumerate(self.pieces[1:])
        )
        return self.pieces[0] + "".join(numbered)


class _Cell(msgspec.Struct):
    """What is read of a cell of an autograded notebook; only such cells are converted that are looked at."""

    cell_type: str
    metadata: dict[str, Any] = {}
    source: str | list[str] = ""
    outputs: msgspec.Raw = msgspec.Raw(b"[]")

    def __getitem__(self, name: str) -> Any:
        """Return a field as cells of nbformat do, which are dicts."""
        return getattr(self, name)

    @property
    def text(self) -> str:
        """The source of the cell, which some programs write as a list of lines."""
        return self.source if isinstance(self.source, str) else "".join(self.source)


class _Notebook(msgspec.Struct):
    cells: list[_Cell]


_decode_notebook = msgspec.json.Decoder(_Notebook).decode
_decode_outputs = msgspec.json.Decoder(list[dict[str, Any]]).decode


class ClassAnswers:
    """The answers of a class to one assignment."""

    def __init__(self, course_dir: CourseDir, assignment: str, source: SourceQuestions) -> None:
        """Read nothing yet.

        Args:
            course_dir: the course folder.
            assignment: the assignment's name.
            source: the questions.
        """
        self._course_dir, self._assignment, self._source = course_dir, assignment, source
        self._read: dict[tuple[str, str], tuple[Stamp | None, dict[str, Answer]]] = {}
        self._rendered: dict[str, Rendered] = {}

    def of(self, student: str, question: Question) -> Answer:
        """Return a student's answer as it is in the file now."""
        key = student, question.notebook
        path = self._path(student, question)
        now = stamp(path)
        known = self._read.get(key)
        if known is None or known[0] != now:
            known = self._read[key] = now, self._answers(path, question.notebook)
        return known[1][question.cell]

    def rendered(self, student: str, question: Question) -> Rendered:
        """Return a student's answer as HTML."""
        answer = self.of(student, question)
        if answer.digest not in self._rendered:
            parts = answer.parts if answer.parts is not None else self._parts_again(student, question)
            self._rendered[answer.digest] = Rendered(_without_pictures(parts)[0])
        return self._rendered[answer.digest]

    def picture(self, student: str, question: Question, number: int) -> tuple[str, bytes] | None:
        """Return the MIME type and the bytes of a picture in an answer, or None."""
        _, pictures = _without_pictures(self._parts_again(student, question))
        if number >= len(pictures):
            return None
        kind, data = pictures[number]
        return kind, b64decode(data)

    def _path(self, student: str, question: Question) -> Path:
        return self._course_dir.folder("autograded", self._assignment, student) / f"{question.notebook}.ipynb"

    def _parts_again(self, student: str, question: Question) -> tuple[Part, ...]:
        return self._answers(self._path(student, question), question.notebook, kept=None)[question.cell].parts or ()

    def _answers(self, path: Path, notebook: str, kept: int | None = MAX_KEPT) -> dict[str, Answer]:
        questions = [each for each in self._source.questions.values() if each.notebook == notebook]
        try:
            cells = _decode_notebook(path.read_bytes()).cells
        except (FileNotFoundError, NotADirectoryError):
            return {each.cell: _answer(each, (Part("note", NO_NOTEBOOK),), True, kept) for each in questions}
        except (OSError, msgspec.MsgspecError):
            return {each.cell: _answer(each, (Part("note", UNREADABLE),), False, kept) for each in questions}
        found = _Found(cells, self._source.ours[notebook])
        return {each.cell: _answer(each, *found.of(each), kept) for each in questions}


class _Found:
    """Finds the parts of answers in one notebook."""

    def __init__(self, cells: list[_Cell], ours: frozenset[str]) -> None:
        self._cells, self._ours = cells, ours
        self._names = [grade_id(cell) for cell in cells]  # type: ignore[arg-type]  # it has its attributes
        self._places = {name: place for place, name in enumerate(self._names) if name}

    def of(self, question: Question) -> tuple[tuple[Part, ...], bool]:
        """Return the parts of an answer, and whether it is as released or empty."""
        if question.kind is CellType.TASK:
            own = [cell for cell, name in zip(self._cells, self._names, strict=True) if name is None]
            parts = [part for cell in own if cell.text.strip() not in self._ours for part in _parts(cell)]
            return tuple(parts), not parts
        places = [self._places[name] for name in question.answers if name in self._places]
        parts, is_blank = list[Part](), bool(places)
        for place in places:
            cell = self._cells[place]
            parts += _parts(cell)
            is_blank = is_blank and (not cell.text.strip() or _is_as_released(cell))
            if question.kind is CellType.MANUAL_ANSWER and cell.metadata["nbgrader"].get("checksum", "") is None:
                around = [part for each in beside(self._cells, self._names, place) for part in _parts(each)]
                parts, is_blank = parts + around, is_blank and not around
        if question.kind is CellType.TEST:
            is_blank = False
            if question.cell in self._places:
                parts.append(Part("note", _outcome(self._cells[self._places[question.cell]])))
        return tuple(parts), is_blank


def _parts(cell: _Cell) -> list[Part]:
    if cell.cell_type != "code":
        return [Part("text", cell.text)] if cell.text.strip() else []
    try:
        outputs = tuple(_decode_outputs(cell.outputs))
    except msgspec.MsgspecError:
        outputs = ()
    return [Part("code", cell.text, outputs)] if cell.text.strip() or outputs else []


def _is_as_released(cell: _Cell) -> bool:
    marks = cell.metadata["nbgrader"]
    if not marks.get("checksum") or type_of(cell) is CellType.TEST:  # type: ignore[arg-type]  # it has its attributes
        return False
    whole = from_dict({"cell_type": cell.cell_type, "source": cell.text, "metadata": cell.metadata})
    return bool(marks["checksum"] == compute_checksum(whole))


def _outcome(cell: _Cell) -> str:
    """Return what a test said of an answer."""
    whole = from_dict({"metadata": cell.metadata, "outputs": _decode_outputs(cell.outputs)})
    explanation = explanation_of(whole)
    return explanation.message or explanation.reason or "The test passed."


def _answer(question: Question, parts: tuple[Part, ...], is_blank: bool, kept: int | None) -> Answer:
    content = [
        question.name,
        [(part.kind, _same(part.source), [_data(each) for each in part.outputs]) for part in parts],
    ]
    digest = hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:20]
    parts = parts or (Part("note", NOTHING),)
    size = sum(len(part.source) + sum(len(str(each)) for each in part.outputs) for part in parts)
    return Answer(digest, is_blank, parts if kept is None or size <= kept else None)


def _same(text: str) -> str:
    """Return a text without differences that no reader sees."""
    lines = text.encode(errors="replace").decode().strip().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _data(output: dict[str, Any]) -> Any:
    """Return what a reader sees of an output."""
    return [str(output.get(name, "")) for name in ("output_type", "text", "data", "ename", "evalue")]


def _html(part: Part) -> str:
    """Return a piece of an answer as sanitized HTML."""
    if part.kind == "note":
        return f'<p class="note">{escape(printable(part.source))}</p>'
    if part.kind == "text":
        return f'<div class="text">{sanitize.markdown(part.source)}</div>'
    code = f'<div class="code">{highlighted(part.source)}</div>' if part.source.strip() else ""
    return code + "".join(map(_output, part.outputs))


def _output(output: dict[str, Any]) -> str:
    """Return an output as sanitized HTML. The autograded notebook of stock nbgrader is not sanitized yet."""
    kind = output.get("output_type")
    if kind == "stream":
        return _pre(output.get("text"))
    if kind == "error":
        return _pre(f"{output.get('ename')}: {output.get('evalue')}")
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    texts = {form: _joined(data[form]) for form in FORMS if form in data}
    (shown,) = sanitize.outputs([{"output_type": "display_data", "data": texts}])
    for form in FORMS:
        if form not in shown["data"]:
            continue
        if form == "text/html":
            return f'<div class="output">{shown["data"][form]}</div>'
        if form.startswith("image/"):
            address = f"data:{form};base64,{''.join(shown['data'][form].split())}"
            return f'<div class="output"><img src="{address}" alt="Output of the cell"></div>'
        return _pre(shown["data"][form])
    return ""


def _pre(text: Any) -> str:
    return f'<div class="output"><pre>{escape(printable(strip_ansi(_joined(text)), MAX_OUTPUT))}</pre></div>'


def _joined(text: Any) -> str:
    """Return a text of a notebook, which may be a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _without_pictures(parts: Iterable[Part]) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Return an answer as HTML in pieces between its pictures, and the types and the data of these."""
    # The groups of the expression: the tag up to the address, the type, the data.
    before, *rest = PICTURE.split("".join(map(_html, parts)))
    tags, kinds, data, after = rest[::4], rest[1::4], rest[2::4], rest[3::4]
    texts = [before, *after]
    pieces = [text + tag for text, tag in zip(texts, [*tags, ""], strict=True)]
    return tuple(pieces), list(zip(kinds, data, strict=True))
