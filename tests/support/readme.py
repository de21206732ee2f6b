"""Writes the table of assignments, and the numbers that the READMEs and the threat model state: `make readme`.

source/start.ipynb --what you build------------+
source/*/*.ipynb --minutes, points, order------+--> the table in README.md and source/start.ipynb
exercises, mistakes, right answers, attacks --how many--> README.md, packages/grader/
"""

import re
import sys
from itertools import takewhile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, type_of
from tests.support.exercises import MISCONCEPTIONS, NOTEBOOKS, SOURCES, STYLES
from tests.support.paths import GRADER, REPOSITORY

README, START = REPOSITORY / "README.md", REPOSITORY / "source" / "start.ipynb"
ATTACKED = GRADER / "README.md", GRADER / "docs" / "threat-model.md"
ATTACKS = len(list((REPOSITORY / "tests" / "attacks" / "corpus").glob("*.py")))
COUNTS = {
    README: {
        "exercises, and for them": len(SOURCES),
        "known mistakes": len(MISCONCEPTIONS),
        "right answers in other styles": len(STYLES),
    },
    **{page: {"attacks": ATTACKS} for page in ATTACKED},
}
HEAD = "| folder | notebook | you build | time | points |\n|---|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
SPEED = re.compile(r"\| grader \| submissions \| seconds \| seconds each \| times stock \|.*\n(?:\|.*\n)*")
ROW = re.compile(r"\]\((?P<link>[^)]+)\) \| (?P<build>.*) \| \d+ min \| \d* ?\|$", re.MULTILINE)


def points(notebook: NotebookNode) -> int:
    """Return the points of a notebook's tests and written questions."""
    scored = (CellType.TEST, CellType.MANUAL_ANSWER)
    return sum(cell.metadata.nbgrader.points for cell in notebook.cells if type_of(cell) in scored)


def minutes(notebook: NotebookNode) -> int:
    """Return how long a notebook takes: the sum of the table at its top, whose last two columns are time and points.

    Raises:
        ValueError: a row has no number of minutes.
    """
    _, _, below = notebook.cells[0].source.partition("| points |\n")
    _, *rows = takewhile(lambda line: line.startswith("|"), below.splitlines())
    return sum(int(row.split("|")[-3].replace("min", "")) for row in rows)


def table(text: str) -> str:
    """Return the table of all notebooks, in the order of the file browser.

    Args:
        text: a table of the same form, whose rows say what students build in a notebook.

    Raises:
        ValueError: `text` has no row for one of the notebooks.
    """
    described = {match["link"]: match for match in ROW.finditer(text)}
    rows, above = [], ""
    for path, notebook in NOTEBOOKS.items():
        folder, link = path.parent.name, path.relative_to(REPOSITORY / "source").as_posix()
        if link not in described:
            raise ValueError(f"each notebook needs a row in source/start.ipynb; expected one that links to {link}")
        cells = [
            f"`{folder}`" if folder != above else "",
            f"[{path.stem.lstrip('0123456789-')}]({link})",
            described[link]["build"],
            f"{minutes(notebook)} min",
            str(points(notebook)),
        ]
        rows.append(f"| {' | '.join(cells)} |\n")
        above = folder
    return HEAD + "".join(rows)


def replaced(pattern: str, new: str, text: str) -> str:
    """Return `text` with the one place that matches `pattern` replaced; raises ValueError unless there is just one."""
    text, places = re.subn(pattern, lambda _: new, text)
    if places != 1:
        raise ValueError(f"expected one place that matches {pattern!r}, got {places}")
    return text


def counted(text: str, counts: dict[str, int]) -> str:
    """Return `text` with the right numbers before the things counted, wherever its lines are broken."""
    for thing, number in counts.items():
        words = r"\s+".join(thing.split())
        text = replaced(rf"\b\d+(?=\s+{words}\b)", str(number), text)
    return text


def speed(text: str) -> str:
    """Return the README of the grader with the first table of benchmarks/RESULTS.md."""
    [measured] = SPEED.findall((REPOSITORY / "benchmarks" / "RESULTS.md").read_text())
    return replaced(SPEED.pattern, measured, text)


def pages() -> dict[Path, str]:
    """Return the text that each page should have."""
    start = nbformat.read(START, as_version=4)
    front = start.cells[0]
    made = table(front.source)
    front.source = replaced(TABLE.pattern, made, front.source)
    readme = replaced(TABLE.pattern, made.replace("](", "](release/"), README.read_text())
    return {
        README: counted(readme, COUNTS[README]),
        **{page: counted(page.read_text(), COUNTS[page]) for page in ATTACKED},
        GRADER / "README.md": speed(counted((GRADER / "README.md").read_text(), COUNTS[GRADER / "README.md"])),
        START: nbformat.writes(start) + "\n",
    }


if __name__ == "__main__":
    try:
        for page, text in pages().items():
            page.write_text(text)
    except ValueError as error:
        sys.exit(f"make readme: {error}")
