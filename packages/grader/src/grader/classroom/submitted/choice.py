"""Chooses the file to grade for each notebook of an assignment, whatever the files of a submission are called.

    parsed files by path --Matcher--> the notebook that each belongs to --Chooser--> a Choice for each notebook

A file that is filled in goes before one that is as released, and the file with the expected name before its equals.
Between different answers under other names nothing decides, so a person must.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nbformat import NotebookNode

from grader.classroom.submitted.matching import Matcher
from grader.engine.notebook.cells import CellType, grade_id, type_of

ANSWERS = (CellType.AUTOGRADED_ANSWER, CellType.MANUAL_ANSWER)


@dataclass(frozen=True)
class Content:
    """A student's own words in a file: answers that are not as released, by grade_id, and lines in other cells."""

    answers: dict[str, str]
    elsewhere: frozenset[str]

    @property
    def rank(self) -> int:
        """2 with an answer, 1 with words elsewhere, 0 for a file that is as released."""
        return 2 if self.answers else 1 if self.elsewhere else 0


@dataclass
class Choice:
    """The file to grade as one notebook, and the other files that belong to it, by their paths.

    Args:
        file: the file to grade; '' if there is none, or if nothing decides.
        rank: the rank of its content; see `Content`.
        is_certain: whether only one reading is possible.
        different: files with different words.
        same: files with the same words.
        blank: files that are as released.
    """

    file: str = ""
    rank: int = 0
    is_certain: bool = True
    different: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    blank: list[str] = field(default_factory=list)


class Chooser:
    """Chooses among the files of a submission."""

    def __init__(self, sources: Mapping[str, NotebookNode], released: Mapping[str, NotebookNode]) -> None:
        """Index the notebooks.

        Args:
            sources: the instructors' notebooks, by name.
            released: the same notebooks without solutions.
        """
        self.matcher = Matcher(sources)
        self.expected = {name: f"{name}.ipynb" for name in sources}
        """The file name of each notebook."""
        self._released = {
            name: {grade_id(cell): _plain(cell.source) for cell in notebook.cells if type_of(cell) in ANSWERS}
            for name, notebook in released.items()
        }
        self._lines = {
            name: frozenset(
                line.strip()
                for cells, are_answers in ((sources[name].cells, False), (released[name].cells, True))
                for cell in cells
                if (type_of(cell) in ANSWERS) is are_answers
                for line in cell.source.splitlines()
            )
            for name in sources
        }

    def content(self, name: str, notebook: NotebookNode) -> Content:
        """Return the student's own words in a file.

        Args:
            name: the notebook of the assignment to which the file belongs.
            notebook: the parsed file.
        """
        answers: dict[str, str] = {}
        elsewhere: set[str] = set()
        for cell in notebook.cells:
            own = grade_id(cell)
            if own in self._released[name]:
                text = _plain(cell.source)
                if text and text != self._released[name][own]:
                    answers.setdefault(own or "", text)
            else:
                # A release names the exercise of a test in a comment that the source does not have.
                lines = (line.strip() for line in cell.source.splitlines())
                elsewhere.update(line for line in lines if line and not line.startswith("#"))
        return Content(answers, frozenset(elsewhere - self._lines[name]))

    def choose(self, files: Mapping[str, NotebookNode]) -> tuple[dict[str, Choice], dict[str, str]]:
        """Return the choice for each notebook, and the notebook to which each recognised file belongs.

        Args:
            files: the parsed files of a submission, by their paths in it.
        """
        owners = {path: owner for path, notebook in files.items() if (owner := self._owner(path, notebook))}
        choices = {}
        for name, expected in self.expected.items():
            paths = sorted((path for path in owners if owners[path] == name), key=lambda path: (path != expected, path))
            choices[name] = _choice({path: self.content(name, files[path]) for path in paths}, expected)
        return choices, owners

    def _owner(self, path: str, notebook: NotebookNode) -> str | None:
        """The notebook that a file's name refers to, unless all of its cells that we know belong to another one."""
        named = self.matcher.by_name(path.rpartition("/")[2])
        by_cells = self.matcher.by_cells(notebook)
        if named and (by_cells is None or self.matcher.has_cells_of(named.notebook, notebook)):
            return named.notebook
        return by_cells


def _choice(contents: dict[str, Content], expected: str) -> Choice:
    """Choose among files of one notebook, of which the one with the expected name is the first."""
    best = max((content.rank for content in contents.values()), default=0)
    leading = [path for path, content in contents.items() if content.rank == best]
    has_expected = expected in leading
    are_alike = all(contents[path] == contents[leading[0]] for path in leading)
    is_certain = has_expected or are_alike or not best
    file = leading[0] if leading and is_certain else expected if expected in contents else ""
    chosen = contents.get(file, Content({}, frozenset()))
    choice = Choice(file, chosen.rank, is_certain)
    for path, content in contents.items():
        if path != file:
            kind = choice.blank if not content.rank else choice.same if content == chosen else choice.different
            kind.append(path)
    return choice


def _plain(text: str) -> str:
    """A text without the line endings and blanks that editors change."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
