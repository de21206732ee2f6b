"""Tells which notebook of an assignment a file is: by its name, tolerantly, or by the cells in it.

'My 1_vanilla attention (2).ipynb' --name--> 1-vanilla-attention, copy 2
'homework.ipynb' --parsed by a reader--> grade_ids --> the notebook that most of them belong to
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.engine.notebook.cells import grade_id

NOTEBOOK = re.compile(r"\.ipynb(?:\.(?:json|txt))?$|\.json$", re.IGNORECASE)
OTHER_KIND = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
COPY_OF = re.compile(r"^(?:copy|kopie|copia)[\s_-]+(?:of|von|de|di)[\s_-]+", re.IGNORECASE)
COPIES = (
    re.compile(r"[\s_-]*\((\d{1,4})\)$"),
    re.compile(r"[\s_-]+(?:copy|kopie|copia)[\s_-]*\(?(\d{0,4})\)?$", re.IGNORECASE),
    re.compile(r"[\s_-]+(\d{1,4})$"),
)
"""What browsers, file managers, JupyterLab and Canvas append to a name that is taken."""


@dataclass(frozen=True)
class NameMatch:
    """The notebook that a file's name means; `copy` is 0 for the plain name, and grows with the number of a copy."""

    notebook: str
    copy: int


class Matcher:
    """Knows the names and cells of the notebooks of an assignment."""

    def __init__(self, sources: dict[str, NotebookNode]) -> None:
        """Note the names, and which cells occur in one notebook only.

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
        """Return the notebook that a file's name means, None if it means none; extensions do not count."""
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
        """Return the notebook to which most cells of a file belong; None if there is none, or more than one."""
        owners = (self._owner.get(grade_id(cell)) for cell in notebook.cells)
        best = Counter(owner for owner in owners if owner is not None).most_common(2)
        return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None


def may_be_notebook(file: str) -> bool:
    """Return whether a file may be a notebook: it has the extension of one, or none."""
    return bool(NOTEBOOK.search(file)) or not OTHER_KIND.search(file)


def says_notebook(file: str) -> bool:
    """Return whether a file has the extension that Jupyter gives to notebooks."""
    return file.casefold().endswith(".ipynb")


def _key(name: str) -> str:
    """A name without the differences that do not count: case, and which characters stand between words."""
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", name).casefold()).strip()
