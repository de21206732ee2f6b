"""Recognises a file as a notebook of an assignment: by its name, tolerantly, or by its cells.

'My 1_vanilla attention (2).ipynb' --name--> 1-vanilla-attention, copy 2
'homework.ipynb' --parsed by a reader--> grade_ids --> the notebook that most of them belong to
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.engine.notebook.cells import grade_id

IGNORED_FILES = re.compile(r"\.|__MACOSX")
"""Beginnings of the names of files that programs make for themselves: checkpoints, and macOS's part of an archive."""
NOTEBOOK = re.compile(r"\.ipynb(?:\.(?:json|txt))?$|\.json$", re.IGNORECASE)
OTHER_ARCHIVES = (".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
OTHER_KIND = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
COPY_OF = re.compile(r"^(?:copy|kopie|copia)[\s_-]+(?:of|von|de|di)[\s_-]+", re.IGNORECASE)
COPIES = (
    re.compile(r"[\s_-]*\((\d{1,4})\)$"),
    re.compile(r"[\s_-]+(?:copy|kopie|copia)[\s_-]*\(?(\d{0,4})\)?$", re.IGNORECASE),
    re.compile(r"[\s_-]+(\d{1,4})$"),
)
"""Suffixes that browsers, file managers, JupyterLab and Canvas append to a name in use."""


@dataclass(frozen=True)
class NameMatch:
    """The notebook that a file's name refers to; `copy` is 0 for the plain name, else the number of the copy."""

    notebook: str
    copy: int


class Matcher:
    """Recognises the notebooks of an assignment by name and by cells."""

    def __init__(self, sources: Mapping[str, NotebookNode]) -> None:
        """Index the names, and the cells that occur in one notebook only.

        Args:
            sources: the instructors' notebooks, by name.
        """
        keys = Counter(_key(name) for name in sources)
        self._by_key = {_key(name): name for name in sources if keys[_key(name)] == 1} | {
            name: name for name in sources
        }
        ids = {name: {grade_id(cell) for cell in source.cells} - {None} for name, source in sources.items()}
        count = Counter(cell for cells in ids.values() for cell in cells)
        self._owner = {cell: name for name, cells in ids.items() for cell in cells if count[cell] == 1}

    def by_name(self, file: str) -> NameMatch | None:
        """Return the notebook that a file's name refers to, or None; the extension is ignored."""
        name, copy = NOTEBOOK.sub("", unicodedata.normalize("NFKC", file)).strip(), 0
        while name:
            if (key := name if name in self._by_key else _key(name)) in self._by_key:
                return NameMatch(self._by_key[key], copy)
            if found := next((match for pattern in COPIES if (match := pattern.search(name))), None):
                name, copy = name[: found.start()], copy + int(found[1] or 1)
            elif found := COPY_OF.match(name):
                name, copy = name[found.end() :], copy + 1
            else:
                break
        return None

    def by_cells(self, notebook: NotebookNode) -> str | None:
        """Return the notebook to which most cells of a file belong; None for no cells or a tie."""
        owners = (self._owner.get(grade_id(cell)) for cell in notebook.cells)
        best = Counter(owner for owner in owners if owner is not None).most_common(2)
        return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None

    def has_cells_of(self, name: str, notebook: NotebookNode) -> bool:
        """Return True if a file has a cell that only this notebook of the assignment has."""
        return any(self._owner.get(grade_id(cell)) == name for cell in notebook.cells)

    def seems_to_be(self, name: str, content: bytes) -> bool:
        """Return True if the text of a file, as JupyterLab saves it, has a cell that only this notebook has.

        It does not parse the file, so False proves nothing.
        """
        own = (cell for cell, owner in self._owner.items() if owner == name)
        return any(f'"grade_id": {json.dumps(cell, ensure_ascii=False)}'.encode() in content for cell in own)


def may_be_notebook(file: str) -> bool:
    """Return True if a file has a notebook's extension, or none."""
    return bool(NOTEBOOK.search(file)) or not OTHER_KIND.search(file)


def says_notebook(file: str) -> bool:
    """Return True if a file has Jupyter's extension for notebooks."""
    return file.casefold().endswith(".ipynb")


def is_ignored(parts: Iterable[str]) -> bool:
    """Return True for the private files of programs, by the components of a path; `..` makes no file private."""
    return any(IGNORED_FILES.match(part) for part in parts if part != "..")


def _key(name: str) -> str:
    """A name without case, and with one space for any characters between words."""
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", name).casefold()).strip()
