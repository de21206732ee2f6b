"""A student finds the way: headings follow one pattern, each notebook ends with handing in, and links to the next."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, grade_id, type_of
from tests.support.exercises import NOTEBOOKS, each_notebook
from tests.support.paths import REPOSITORY

HEADING = re.compile(r"(?P<level>#+) (?P<title>.+)")
PAPER = re.compile(r"\[(?P<label>[^\]]*)\]\(https://arxiv\.org/abs/(?P<number>\d+\.\d+)\)")


def headings(cell: NotebookNode) -> Iterator[tuple[int, str]]:
    """Yield the level and the title of each heading in a cell, but for lines of code in it."""
    if cell.cell_type == "markdown":
        for line in re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL).splitlines():
            if match := HEADING.match(line):
                yield len(match["level"]), match["title"]


@each_notebook
def test_an_exercise_stands_below_a_heading_of_its_own(path: Path) -> None:
    """The nearest heading above each blank is `## Exercise · …`, and no two blanks share one; no level is skipped."""
    above, used, levels = "", set(), []
    for cell in NOTEBOOKS[path].cells:
        for level, title in headings(cell):
            above = f"{'#' * level} {title}"
            levels.append(level)
        if type_of(cell) is CellType.AUTOGRADED_ANSWER:
            assert above.startswith("## Exercise · ") and above not in used, (grade_id(cell), above)
            used.add(above)
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_notebook
def test_questions_are_numbered(path: Path) -> None:
    """The headings of the written questions are `### Question 1 · …`, `### Question 2 · …`, and so on."""
    found = NOTEBOOKS[path].cells
    titles = [title for cell in found for level, title in headings(cell) if level == 3 and title.startswith("Question")]
    written = sum(type_of(cell) is CellType.MANUAL_ANSWER for cell in found)
    assert [title.partition(" · ")[0] for title in titles] == [f"Question {number}" for number in range(1, written + 1)]


@each_notebook
def test_a_notebook_ends_with_handing_in_and_a_link_to_the_next(path: Path) -> None:
    """The last cell hands in, and neither the grader nor nbval runs it; the last notebook links back to the start."""
    *_, linking, last = NOTEBOOKS[path].cells
    assert last.source.splitlines()[-1] == "hand_in()" and {"not-graded", "nbval-skip"} <= {*last.metadata.tags}
    following = dict(pairwise([*NOTEBOOKS, REPOSITORY / "source" / "start.ipynb"]))
    links = [path.parent / link for link in re.findall(r"\]\(([^)]+\.ipynb)\)", linking.source)]
    assert [link.resolve() for link in links] == [following[path]]


@each_notebook
def test_a_paper_has_names_and_a_year(path: Path) -> None:
    """The first mention of a paper gives its authors, year and number; so does the list at the end."""
    seen = set()
    for cell in NOTEBOOKS[path].cells:
        if cell.cell_type == "markdown":
            shown = re.sub(r"<!-- BEGIN MARK SCHEME.*?END MARK SCHEME -->", "", cell.source, flags=re.DOTALL)
            text, _, reading = shown.partition("## Further reading")
            for place in (text, reading):
                for match in PAPER.finditer(place):
                    if match["number"] not in seen or place is reading:
                        assert re.match(r"[A-Z][^\d]+ \d{4}, " + re.escape(match["number"]), match["label"]), match[0]
                    seen.add(match["number"])
