"""Loads the known misconceptions of an assignment from its TOML files, one file for each exercise.

One list does two jobs. It proves the tests, because every misconception must lose points in its exercise, and it
explains failures: code that behaves like a known misconception gets its hint.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.errors import GraderError

if TYPE_CHECKING:
    from nbformat import NotebookNode

HINTS = {
    "torch_does_it": "The numbers are right, but torch did the work. "
    "Here you find out how it is done: write it yourself."
}
"""Hints that fit many exercises, by the name that `hint_from` refers to."""

_KEYS = (
    "a file may begin with a table [anchors] and has entries [[misconception]], each with name, at or find, replace, "
    "hint or hint_from, and optionally also"
)
_TIE_KEYS = "an entry [[sentence]] has says, and one of means (with mutants, if you like), always and dead"

Text = Annotated[str, msgspec.Meta(min_length=1)]


@dataclass(frozen=True)
class Misconception:
    """A plausible wrong answer to one exercise, written as the smallest edit of the reference solution."""

    exercise: str
    """The grade_id of the answer cell to which it belongs."""
    name: str
    """The behaviour of the mistaken code; it completes the sentence "Your code behaves exactly like one that …"."""
    find: str
    """A text that occurs exactly once in the reference solution."""
    replace: str
    """The text that replaces `find`."""
    hint: str
    """The message to a student with this misconception: the symptom that reveals it, without the solution."""

    def apply(self, solution: str) -> str:
        """Return the reference solution with the misconception in it.

        Continuation lines of `find` and `replace` are written relative to the line in which `find` begins: each
        inherits the indentation that precedes `find` in that line, unless it is empty. A `find` that begins at the
        very start of a line has no indentation before it, so whole lines with their own indentation stay as they are.

        Raises:
            GraderError: `find` does not occur exactly once.
        """
        start, end, text = self.edit(solution)
        return solution[:start] + text + solution[end:]

    def edit(self, solution: str) -> tuple[int, int, str]:
        """Return the beginning and the end of the text to replace, and the text that replaces it; see `apply`.

        Raises:
            GraderError: `find` does not occur exactly once.
        """
        first_line = self.find.partition("\n")[0]
        places = []
        line_break = r"\n(?=[^\n])"  # before a line that is not empty
        for match in re.finditer(f"(?={re.escape(first_line)})", solution):
            start = match.start()
            before = solution[solution.rfind("\n", 0, start) + 1 : start]
            indentation = before[: len(before) - len(before.lstrip())]
            text = re.sub(line_break, "\n" + indentation, self.find)
            if solution.startswith(text, start):
                places.append((start, start + len(text), indentation))
        if len(places) != 1:
            raise GraderError(
                f"misconception {self.name!r} of {self.exercise}: the text to replace must occur exactly once in the "
                f"reference solution, but occurs {len(places)} times: {self.find!r}; adapt it to the solution"
            )
        [(start, end, indentation)] = places
        return start, end, re.sub(line_break, "\n" + indentation, self.replace)


def apply_all(misconceptions: Sequence[Misconception], solution: str) -> str:
    """Return the reference solution with several misconceptions in it, each an edit of the original text.

    Raises:
        GraderError: a `find` does not occur exactly once, or one edit is in the text of another, so that the result
            would be none of them.
    """
    edits = sorted(misconception.edit(solution) for misconception in misconceptions)
    for (_, end, _), (start, _, _) in pairwise(edits):
        if start < end:
            raise GraderError("two misconceptions replace the same text, so they cannot be in one answer")
    for start, end, text in reversed(edits):
        solution = solution[:start] + text + solution[end:]
    return solution


class Tie(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Ties a sentence of a test, which names a cause, to the misconceptions that it means.

    Args:
        says: a part of the sentence without fields of an f-string.
        means: names of misconceptions of the exercise; only they may get it.
        always: the reason why it is true for everyone who gets it.
        dead: the reason why it may stay although no known mistake and no mutant gets it.
        mutants: the reason why it is true, too, for mutants that no misconception in `means` behaves like.
    """

    says: Text
    means: list[Text] = []
    always: Text = ""
    dead: Text = ""
    mutants: Text = ""

    def __post_init__(self) -> None:
        """Reject an entry without exactly one meaning; msgspec turns the error into a ValidationError."""
        if [bool(self.means), bool(self.always), bool(self.dead)].count(True) != 1:
            raise ValueError("An entry has exactly one of `means`, `always` and `dead`")
        if self.mutants and not self.means:
            raise ValueError("`mutants` needs `means` beside it")


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    misconception: list[dict[str, Any]]
    anchors: dict[str, Text] = {}
    sentence: list[dict[str, Any]] = []


class _CommonFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    sentence: list[dict[str, Any]]


class _Entry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    name: Text
    replace: str
    at: Text = ""
    find: Text = ""
    hint: Text = ""
    hint_from: Text = ""
    also: list[Text] = []

    def __post_init__(self) -> None:
        """Reject an entry with both keys of a pair, or with neither; msgspec turns the error into a ValidationError."""
        for key, alternative in (("at", "find"), ("hint_from", "hint")):
            if bool(getattr(self, key)) == bool(getattr(self, alternative)):
                given = "both" if getattr(self, key) else "neither"
                raise ValueError(f"An entry has either `{key}` or `{alternative}`, but this one has {given}")


def load(assignment: Path) -> list[Misconception]:
    """Read the misconceptions of the assignment in the folder `assignment`, if it has any.

    Files are read in the order of their names, and entries in the order of the file. An entry belongs to the exercise
    that its file is named after, and to those that it lists under `also`.

    Raises:
        GraderError: a file or an entry has a defect; the message names both.
    """
    misconceptions = []
    locations: dict[tuple[str, str], str] = {}
    for path in sorted((assignment / "misconceptions").glob("*.toml")):
        for location, misconception in _read(path):
            key = (misconception.exercise, misconception.name)
            if key in locations:
                raise GraderError(
                    f"{location}: names are unique within an exercise, but {misconception.exercise} already has this "
                    f"one from {locations[key]}; rename or remove one of them"
                )
            locations[key] = location
            misconceptions.append(misconception)
    return misconceptions


def load_ties(assignment: Path) -> dict[str, list[Tie]]:
    """Read how the sentences of an assignment's tests are tied to its misconceptions, by exercise.

    Raises:
        GraderError: a file or an entry has a defect; the message names both.
    """
    known: dict[str, set[str]] = {}
    for misconception in load(assignment):
        known.setdefault(misconception.exercise, set()).add(misconception.name)
    files = sorted((assignment / "misconceptions").glob("*.toml"))
    return {path.stem: _ties(path, _File, known.get(path.stem, set())) for path in files}


def load_common_ties(source: Path) -> list[Tie]:
    """Read `sentences.toml` in the folder of all assignments: sentences of many exercises that are always true.

    Raises:
        GraderError: the file or an entry has a defect; the message names both.
    """
    path = source / "sentences.toml"
    return _ties(path, _CommonFile, None) if path.exists() else []


def _ties(path: Path, layout: type[_File | _CommonFile], known: set[str] | None) -> list[Tie]:
    """Read the ties of one file; `known` are the names that `means` may have, None in the file for all exercises."""
    location = file_name = "/".join(path.parts[-4:])
    ties = []
    try:
        for number, raw in enumerate(msgspec.convert(_toml(path), layout).sentence, 1):
            location = f"{file_name}: sentence {number} ({raw.get('says', 'no says')!r})"
            tie = msgspec.convert(raw, Tie)
            if known is None and not tie.always:
                raise GraderError(f"{location}: a sentence of every exercise has `says` and `always` only")
            if strange := [name for name in tie.means if name not in (known or ())]:
                raise GraderError(
                    f"{location}: 'means' names misconceptions of the exercise, and {strange[0]!r} is none of them"
                )
            ties.append(tie)
    except msgspec.ValidationError as error:
        raise GraderError(f"{location}: {error}; {_TIE_KEYS}") from error
    return ties


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        place = "/".join(path.parts[-4:])
        raise GraderError(f"{place}: must be TOML in UTF-8, but cannot be read ({error}); correct it") from error


def _read(path: Path) -> Iterator[tuple[str, Misconception]]:
    """Read the misconceptions of one file, each with its location for error messages."""
    location = file_name = "/".join(path.parts[-4:])
    try:
        file = msgspec.convert(_toml(path), _File)
        for number, raw in enumerate(file.misconception, 1):
            location = f"{file_name}: misconception {number} ({raw.get('name', 'no name')!r})"
            entry = msgspec.convert(raw, _Entry)
            for key, kind, texts in (("at", "anchor", file.anchors), ("hint_from", "hint", HINTS)):
                if (name := getattr(entry, key)) and name not in texts:
                    names = ", ".join(texts) or "missing"
                    raise GraderError(f"{location}: there is no {kind} {name!r} for '{key}'; the {kind}s are {names}")
            find = entry.find or file.anchors[entry.at]
            # A hint may be wrapped like prose, but a message to a student is one line.
            hint = " ".join((entry.hint or HINTS[entry.hint_from]).split())
            for exercise in [path.stem, *entry.also]:
                yield location, Misconception(exercise, entry.name, find, entry.replace, hint)
    except msgspec.ValidationError as error:
        raise GraderError(f"{location}: {error}; {_KEYS}") from error


@dataclass(frozen=True)
class KnownMisconceptions:
    """The misconceptions of a notebook, and the names and sources of its read-only and reference cells, in order."""

    cells: list[tuple[str, str]]
    misconceptions: list[Misconception]

    def of(self, exercise: str) -> list[Misconception]:
        """Return the misconceptions of one exercise, in order."""
        return [misconception for misconception in self.misconceptions if misconception.exercise == exercise]


def known_misconceptions(source: "NotebookNode", misconceptions: Sequence[Misconception]) -> KnownMisconceptions:
    """Return the misconceptions of one notebook, with its reference solutions.

    Args:
        source: the instructor's notebook.
        misconceptions: those of the whole assignment.
    """
    cells = {
        name: cell.source
        for cell in source.cells
        if (name := grade_id(cell))
        and cell.cell_type == "code"
        and type_of(cell) in (CellType.READ_ONLY, CellType.AUTOGRADED_ANSWER)
    }
    own = [misconception for misconception in misconceptions if misconception.exercise in cells]
    return KnownMisconceptions(list(cells.items()), own)
