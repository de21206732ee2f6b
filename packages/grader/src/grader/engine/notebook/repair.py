"""Repairs a submission: instructors' cells come from the source notebook, and answers stay the student's.

    source:      A  t1  B  t2          (cells that have a grade_id, in order)
    submission:  A' x  t2' B' B'' y    (edited, moved, copied or lost; x and y are the student's own)
    repaired:    A' x  t1  B' t2  z B'' y

Cells are found by grade_id. Test and read-only cells are replaced by the source's; answers keep their text. The
student's own cells stay after the cell that they followed. No text of the student's is lost: what was written into t2'
becomes the answer if its blank is as released, and else a cell z below.
"""

import copy
import re
from dataclasses import dataclass, field
from html import escape
from itertools import takewhile
from typing import Any

from nbformat import NotebookNode

from grader.engine.explanation import Change, Repair
from grader.engine.notebook import typed_text
from grader.engine.notebook.cells import LABEL, OWNER, CellType, grade_id, kept_tags, picture_address, type_of
from grader.engine.notebook.not_run import NotRunCell, cells_not_run
from grader.engine.notebook.outline import Outline, is_named_after

ATTACHED = re.compile(r"\(attachment:((?:[^()]|\([^()]*\))*+)\)")
"""A link to a picture that was pasted into a cell, by its name, which may have parentheses."""
ANSWERS = (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)


@dataclass
class Repaired:
    """The notebook to grade, each change that it needed, and the code that does not run in it."""

    notebook: NotebookNode
    changes: list[Repair]
    not_run: list[NotRunCell] = field(default_factory=list)


def repair(source: NotebookNode, submission: NotebookNode) -> Repaired:
    """Return the submission with the cells of the source in their places. Neither notebook is changed.

    Args:
        source: the instructor's notebook.
        submission: the student's.
    """
    work = _Work(source)
    work.take_apart(submission)
    work.find_misplaced_answers()
    notebook = copy.copy(source)
    notebook.cells = [_without_outputs(cell) for cell in work.put_together()]
    work.state_blanks(notebook.cells)
    _make_ids_unique(notebook)
    return Repaired(notebook, work.changes, cells_not_run(source, submission, notebook))


class _Work:
    """The repair of one submission.

    `ours` is the student's version of each cell of ours by name, in the order of the submission; `own` are the
    student's own cells after each of these, at the beginning after ''. `copies` are copies of answers that are not
    blank, `typed` is what was written into each test and read-only cell, and `answers` are the answers that were
    elsewhere.
    """

    def __init__(self, source: NotebookNode) -> None:
        outline = Outline(source)
        self._source_cells = {name: cell for name, cell in zip(outline.names, source.cells, strict=True) if name}
        self._exercises = dict(zip(outline.names, outline.exercise_at, strict=True))
        self._labels = outline.labels
        numbered = list(enumerate(source.cells))
        self._numbers = {name: number for number, cell in numbered if (name := grade_id(cell))}
        self._unnamed = {_words(cell): number for number, cell in numbered if grade_id(cell) is None}
        self._longest = 2 * max(map(len, (cell.source for cell in source.cells)), default=0)
        self._ours: dict[str, NotebookNode] = {}
        self._own: dict[str, list[NotebookNode]] = {"": []}
        self._copies: dict[str, list[NotebookNode]] = {}
        self._typed: dict[str, NotebookNode] = {}
        self._answers: dict[str, str] = {}
        self._emptied: set[str] = set()
        self.changes: list[Repair] = []

    def take_apart(self, submission: NotebookNode) -> None:
        """Sort the cells of the submission, and note which are left out or kept as ordinary cells."""
        anchor = ""
        for cell in submission.cells:
            name = grade_id(cell)
            if name is None or name not in self._source_cells:
                if name is not None:
                    self._note(_printable(name), Change.UNKNOWN)
                self._own[anchor].append(_unmarked(cell))
            elif name in self._ours:
                self._own[anchor] += self._copy(name, cell)
            else:
                self._ours[name], anchor = cell, name
                self._own[name] = []
                if (typed := self._typed_into(name, cell)) is not None:
                    self._typed[name] = typed
        expected = [name for name in self._source_cells if name in self._ours]
        if moved := next((name for name, right in zip(self._ours, expected, strict=True) if name != right), ""):
            self._note(moved, Change.MOVED)

    def find_misplaced_answers(self) -> None:
        """Find answers to blanks that are as released or missing, and remove them from where they were.

        The last one counts, as in JupyterLab: a cell above the blank, a copy of it, or code in one of its tests.
        """
        for name, source_cell in self._source_cells.items():
            blank = self._ours.get(name)
            if not _is_answer(source_cell) or not (blank is None or typed_text.is_blank(source_cell, blank)):
                continue
            copies = self._copies.get(name, [])
            found = [*self._own_answers(name), *(("", copied) for copied in copies), *self._typed_answers(name)]
            if not found:
                continue
            place, chosen = found[-1]
            if any(chosen is copied for copied in copies):
                self.changes.remove(Repair(name, Change.COPY_KEPT))
            if place:
                del self._typed[place]
                self._emptied.add(place)
            for cells in self._own.values():
                cells[:] = [cell for cell in cells if cell is not chosen]
            self._note(name, Change.ANSWERED_ELSEWHERE, _line_count(chosen), place)
            comments = typed_text.comments(source_cell, blank) if blank is not None else []
            self._answers[name] = "\n".join([*comments, chosen.source])

    def put_together(self) -> list[NotebookNode]:
        """Return the cells of the source, each followed by what was written into it and by the student's own cells."""
        cells = self._own[""]
        for name, source_cell in self._source_cells.items():
            student_cell = self._ours.get(name)
            place = len(cells) if student_cell is not None else self._place(name, cells)
            cells.insert(place, self._restored(name, source_cell, student_cell))
            if name in self._typed:
                self._note_typed(name, self._typed[name])
                cells.append(self._typed[name])
            elif student_cell is not None and name not in self._emptied and self._is_edited(name, student_cell):
                self._note(name, Change.EDITED)
            cells += self._own.get(name, [])
        return cells

    def state_blanks(self, cells: list[NotebookNode]) -> None:
        """Write into each blank box, in the terms of nbgrader, whether it waits for a person or is not answered.

        nbgrader takes an answer as missing if its text has the checksum in its metadata. A box waits if text of the
        student's stands between it and the next cell of ours on either side.

        Args:
            cells: the repaired cells.
        """
        is_own = [grade_id(cell) is None and self._unnamed_number(cell) is None for cell in cells]
        for number, cell in enumerate(cells):
            name = grade_id(cell)
            if name is None or type_of(cell) is not CellType.MANUAL_ANSWER:
                continue
            answer = NotebookNode(self._ours.get(name, cell), source=cell.source)
            if not typed_text.is_blank(self._source_cells[name], answer):
                continue
            around = (range(number - 1, -1, -1), range(number + 1, len(cells)))
            beside = [cells[place] for places in around for place in takewhile(is_own.__getitem__, places)]
            checksum = None
            if any(each.source.strip() for each in beside):
                self._note(name, Change.WRITTEN_BESIDE)
            else:
                checksum = typed_text.checksum_of(cell, cell.source, cell.cell_type)
            cell.metadata["nbgrader"]["checksum"] = checksum

    def _place(self, name: str, cells: list[NotebookNode]) -> int:
        """Return where a missing cell belongs: above the first cell of ours that follows it in the source."""
        start = next((place + 1 for place in range(len(cells) - 1, -1, -1) if grade_id(cells[place])), 0)
        numbers = ((place, self._unnamed_number(cells[place])) for place in range(start, len(cells)))
        later = (place for place, number in numbers if number is not None and number > self._numbers[name])
        return next(later, len(cells))

    def _unnamed_number(self, cell: NotebookNode) -> int | None:
        """Return the number in the source of a cell that nbgrader does not know; None for the student's own."""
        return self._unnamed.get(_words(cell)) if len(cell.source) <= self._longest else None

    def _label(self, name: str) -> str:
        """Return what the release calls the exercise of a cell."""
        return self._labels.get(self._exercises[name], self._exercises[name])

    def _note(self, name: str, change: Change, lines: int = 0, place: str = "", cell_type: str = "") -> None:
        self.changes.append(Repair(name, change, lines, place, cell_type))

    def _copy(self, name: str, cell: NotebookNode) -> list[NotebookNode]:
        """Return the cells to keep of a copy of a cell of ours."""
        source_cell = self._source_cells[name]
        if not _is_answer(source_cell):
            self._note(name, Change.COPY_LEFT_OUT)
            if (typed := self._typed_into(name, cell)) is None:
                return []
            self._note_typed(name, typed)
            return [typed]
        if typed_text.is_blank(source_cell, cell):
            self._note(name, Change.BLANK_LEFT_OUT)
            return []
        self._note(name, Change.COPY_KEPT)
        kept = _unmarked(cell)
        self._copies.setdefault(name, []).append(kept)
        return [kept]

    def _typed_into(self, name: str, cell: NotebookNode) -> NotebookNode | None:
        """Return what a student wrote into a test or a read-only cell, as a cell; None if that is nothing."""
        source_cell = self._source_cells[name]
        if _is_answer(source_cell):
            return None
        lines = typed_text.own_lines(source_cell, cell, self._label(name))
        source = _with_pictures("\n".join(lines), cell)
        kept = NotebookNode(cell_type=source_cell.cell_type, metadata=NotebookNode(), source=source)
        return _unmarked(kept) if lines else None

    def _note_typed(self, name: str, typed: NotebookNode) -> None:
        names, lines, exercise = list(self._source_cells), _line_count(typed), self._exercises[name]
        following = self._source_cells[names[min(names.index(name) + 1, len(names) - 1)]]
        if exercise not in ("", name):
            self._note(name, Change.TYPED_IN_TEST, lines, exercise)
        elif not exercise and typed.cell_type != "code" and type_of(following) is CellType.MANUAL_ANSWER:
            self._note(name, Change.TYPED_IN_QUESTION, lines, grade_id(following) or "")
        else:
            self._note(name, Change.TYPED, lines)

    def _own_answers(self, name: str) -> list[tuple[str, NotebookNode]]:
        """Return the student's own cells directly above a blank that answer it."""
        names = list(self._source_cells)
        above = [each for each in names[: names.index(name)] if each in self._ours]
        if name not in self._ours:
            return []  # such a cell takes the place of the blank
        return [("", cell) for cell in self._own[above[-1] if above else ""] if self._answers_it(name, cell)]

    def _typed_answers(self, name: str) -> list[tuple[str, NotebookNode]]:
        """Return what was written into tests and answers the blank, unless a cell below the blank does."""
        if any(self._answers_it(name, cell) for cell in self._own.get(name, ())):
            return []
        typed = self._typed.items()
        return [each for each in typed if self._exercises[each[0]] == name and self._answers_it(name, each[1])]

    def _answers_it(self, name: str, cell: NotebookNode) -> bool:
        """Return whether code defines what the answer to an exercise must define."""
        source_cell = self._source_cells[name]
        is_code = type_of(source_cell) is CellType.AUTOGRADED_ANSWER and cell.cell_type == "code"
        return is_code and typed_text.defines(cell.source, typed_text.names_to_define(source_cell))

    def _is_edited(self, name: str, cell: NotebookNode) -> bool:
        source_cell = self._source_cells[name]
        return not _is_answer(source_cell) and typed_text.is_edited(source_cell, cell, self._label(name))

    def _restored(self, name: str, source_cell: NotebookNode, student_cell: NotebookNode | None) -> NotebookNode:
        """Return the repaired cell, and note if it was missing or of another type."""
        cell = NotebookNode(source_cell)
        cell.metadata = copy.deepcopy(source_cell.metadata)
        cell.metadata["nbgrader"].pop("checksum", None)
        if student_cell is None:
            self._note(name, Change.MISSING)
        elif student_cell.cell_type != source_cell.cell_type:
            self._note(name, Change.RETYPED, place=student_cell.cell_type, cell_type=source_cell.cell_type)
        if type_of(cell) is CellType.TEST and not is_named_after(name, owner := self._exercises[name]):
            cell.metadata[OWNER] = owner
        elif _is_answer(source_cell) and name in self._labels:
            cell.metadata[LABEL] = self._labels[name]
        if _is_answer(source_cell):
            given = "" if student_cell is None else _with_pictures(student_cell.source, student_cell)
            cell.source = self._answers.get(name, given)
        return cell


def _is_answer(source_cell: NotebookNode) -> bool:
    return type_of(source_cell) in ANSWERS


def _words(cell: NotebookNode) -> tuple[str, ...]:
    """Return the text of a cell without line endings and blanks, which programs change."""
    return tuple(cell.source.split())


def _line_count(cell: NotebookNode) -> int:
    return sum(bool(line.strip()) for line in cell.source.split("\n"))


def _with_pictures(source: str, cell: NotebookNode) -> str:
    """Return a text of a cell with the pictures that were pasted into the cell, and nothing else of it."""
    text = _writable(source)
    attachments = cell.get("attachments")
    pictures = dict(attachments) if cell.cell_type == "markdown" and isinstance(attachments, dict) else {}

    def picture(link: re.Match) -> str:
        # Each picture only once: a thousand links to one picture would become a thousand pictures.
        address = picture_address(pictures.pop(link[1], None))
        return f"({address})" if address else link[0]

    return ATTACHED.sub(picture, text) if pictures else text


def _unmarked(cell: NotebookNode) -> NotebookNode:
    """Copy a student's own cell without nbgrader's metadata."""
    cell = _writable(cell)
    cell.source = _with_pictures(cell.source, cell)
    if cell.cell_type == "raw":
        # A page would show a raw cell as unsanitised HTML.
        cell.cell_type, cell.source = "markdown", f"<pre>{escape(cell.source)}</pre>"
    cell.metadata = NotebookNode(kept_tags(cell.metadata))
    return cell


def _without_outputs(cell: NotebookNode) -> NotebookNode:
    """Remove the outputs of the student's machine from a cell, and return it."""
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    return cell


def _writable(value: Any) -> Any:
    """Copy a value with a ? for each lone surrogate, which JSON may hold but a file cannot."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [_writable(part) for part in value]
    if isinstance(value, dict):
        return NotebookNode({_writable(key): _writable(part) for key, part in value.items()})
    return value


def _printable(name: str) -> str:
    """Make a student's name of a cell safe for a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])


def _make_ids_unique(notebook: NotebookNode) -> None:
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if cell.get("id") is None or cell.id in seen:
            cell.id = f"cell-{number}"
        while cell.id in seen:
            cell.id += "-"
        seen.add(cell.id)
