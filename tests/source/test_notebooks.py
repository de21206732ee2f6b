"""Every source notebook keeps the rules of the course, whoever writes it."""

import ast
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from nbformat import NotebookNode

from grader.engine.notebook.cells import HIDDEN, CellType, grade_id, type_of
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import Plan, plan
from tests.support.exercises import ASSIGNMENTS, NOTEBOOKS, each_notebook
from tests.support.notebooks import check, code

ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(?:home|root|work|tmp|usr|Users|mnt|opt)/|[A-Z]:\\\\")
MARKDOWN_IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<target>[^)\s]*)")

each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda path: path.name)


def outputs(path: Path) -> list[NotebookNode]:
    """The stored outputs of a notebook."""
    return [output for cell in NOTEBOOKS[path].cells for output in cell.get("outputs", ())]


def name_of(cell: NotebookNode) -> str:
    """The grade_id of a cell that has one."""
    name = grade_id(cell)
    assert name is not None
    return name


class Images(HTMLParser):
    """Collects the attributes of every <img>."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.found.append(dict(attributes))


def images(notebook: NotebookNode) -> list[tuple[str, str]]:
    """The alt text and the target of every image in prose and outputs."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found += [(match["alt"], match["target"]) for match in MARKDOWN_IMAGE.finditer(cell.source)]
            found += [(img.get("alt") or "", img.get("src") or "") for img in Images(cell.source).found]
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            found += [(img.get("alt") or "", img.get("src") or "") for img in Images(html).found]
    return found


@each_notebook
def test_every_picture_is_in_the_notebook_and_has_alt_text(path: Path) -> None:
    """It is shown offline, and a sentence says what is on it; an image/png output has no place for one."""
    found = images(NOTEBOOKS[path])
    assert [alt for alt, _ in found if len(alt.split()) < 5] == [], "these alt texts say too little"
    assert [target[:80] for _, target in found if not target.startswith(("data:image/", "attachment:"))] == []
    kinds = {name for output in outputs(path) for name in output.get("data", {})}
    assert not {kind for kind in kinds if kind.startswith("image/")}


@each_notebook
def test_no_path_of_a_machine_is_in_it(path: Path) -> None:
    """Neither cells nor outputs name a folder of the machine they were made on."""
    texts = [cell.source for cell in NOTEBOOKS[path].cells] + [str(output) for output in outputs(path)]
    assert [match.group() for text in texts for match in ABSOLUTE_PATH.finditer(text)] == []


@each_notebook
def test_outputs_are_stored_for_nbval_to_compare(path: Path) -> None:
    """nbval passes a notebook without outputs, so every code cell that it runs was run; one left out says why."""
    code = [cell for cell in NOTEBOOKS[path].cells if cell.cell_type == "code"]
    assert code.pop().source.endswith("hand_in()"), "the only cell that nbval skips"
    assert not any("nbval-skip" in cell.metadata.get("tags", ()) for cell in code)
    assert all(cell.execution_count for cell in code)
    assert sum(bool(cell.outputs) for cell in code) >= 5
    for cell in code:
        if "nbval-ignore-output" in cell.metadata.get("tags", ()):
            assert any(line.lstrip().startswith("#") for line in cell.source.splitlines()), cell.source


def parted_streams(notebook: NotebookNode) -> list[str]:
    """Return the cells that store what they print in two outputs with nothing between them."""
    return [
        cell.id
        for cell in notebook.cells
        if cell.cell_type == "code"
        for one, other in pairwise(cell.outputs)
        if one.output_type == other.output_type == "stream" and one.name == other.name
    ]


@each_notebook
def test_what_a_cell_prints_is_one_output_without_warnings(path: Path) -> None:
    """A kernel that sends it in two parts makes no box of its own, and no warning of a library reaches a student."""
    assert parted_streams(NOTEBOOKS[path]) == []
    assert [output.text for output in outputs(path) if output.get("name") == "stderr"] == []


@each_notebook
def test_every_test_belongs_to_an_exercise(path: Path) -> None:
    """A check is visible and called exercise-check; its page of asserts is folded, and a click on the line shows it.

    The others are called exercise-test-WHAT and hidden. Each opens with the truth that it tests, in a comment, which
    stays in the release and stands in the feedback. (A string would be an output, too.)
    """
    outline = Outline(NOTEBOOKS[path])
    for number, cell in enumerate(outline.notebook.cells):
        if type_of(cell) is CellType.TEST:
            name = name_of(cell)
            assert outline.exercise_at[number] in outline.coded, name
            assert name.endswith("-check") == is_check(cell), name
            if is_check(cell):
                assert cell.metadata.jupyter.source_hidden, name
            else:
                assert re.fullmatch(r"(# .+\n)+### ", cell.source.partition(HIDDEN)[0]), name


@each_notebook
def test_all_of_an_answer_is_the_students_to_write(path: Path) -> None:
    """A given helper would be lost to the tests of an exercise if a student rewrites the cell."""
    given = []
    for cell in NOTEBOOKS[path].cells:
        if type_of(cell) is CellType.AUTOGRADED_ANSWER:
            parts = [ast.get_source_segment(cell.source, part) or "" for part in ast.parse(cell.source).body]
            given += [(grade_id(cell), part.splitlines()[0]) for part in parts if "### BEGIN SOLUTION" not in part]
    assert not given


def is_check(cell: NotebookNode) -> bool:
    """Return whether a cell is a test that students see."""
    return type_of(cell) is CellType.TEST and HIDDEN not in cell.source


def overwritten(cells: list[NotebookNode]) -> set[str]:
    """Return the names that a check gives another value, and that a cell above it or below it reads.

    A cell below reads what a check wrote unless a cell between them writes it, too.
    """
    found: set[str] = set()
    plain = [(place, cell.source) for place, cell in enumerate(cells) if type_of(cell) is not CellType.TEST]
    for place, test in enumerate(cells):
        if not is_check(test):
            continue
        above = [source for other, source in plain if other < place]
        read, written = set[str]().union(*map(names_used, above)), set[str]()
        for source in [source for other, source in plain if other > place]:
            read |= set(names_used(source)) - written
            written |= names_bound(source)
        found |= names_bound(test.source) & set[str]().union(*map(names_bound, above)) & read
    return found


@each_notebook
def test_no_check_overwrites_what_a_plain_cell_reads(path: Path) -> None:
    """So a cell shows the same when a student runs it again, whichever checks have run in between."""
    assert overwritten([cell for cell in NOTEBOOKS[path].cells if cell.cell_type == "code"]) == set()


@pytest.mark.parametrize(
    ("below", "found"), [("print(x)", {"x"}), ("x = 3\nprint(x)", set()), ("def f():\n    return x", {"x"})]
)
def test_a_check_that_overwrites_a_name_is_found(below: str, found: set[str]) -> None:
    """A cell above that reads the name counts as well, and a name that the check alone knows does not."""
    test = check("a", "x = 2\nown = x\nassert x == 2")
    assert overwritten([code("x = 1"), test, code(below)]) == found
    assert overwritten([code("x = 1"), code("print(x)"), test, code(below)]) == {"x"}
    assert overwritten([test, code(below)]) == set()


@each_notebook
def test_no_answer_stands_below_a_question_before_it_is_run(path: Path) -> None:
    """A cell that draws what is asked right above it is folded: its alt text says what will be seen.

    "Before you run it" asks, and so does a quick question. Text below a question may answer it.
    """
    is_asked = False
    for cell in NOTEBOOKS[path].cells:
        if cell.cell_type != "code":
            is_asked = "Before you run" in cell.source
        elif cell.id.startswith("q-"):
            is_asked = True
        elif is_asked and "alt=" in cell.source:
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), cell.source


@each_notebook
def test_every_written_question_has_a_marking_scheme(path: Path) -> None:
    """In the question's own cell, before the answer."""
    cells = {grade_id(cell): cell for cell in NOTEBOOKS[path].cells if grade_id(cell)}
    for name, cell in cells.items():
        if type_of(cell) is CellType.MANUAL_ANSWER:
            assert "BEGIN MARK SCHEME" in cells[f"{name}-text"].source, name


@each_notebook
def test_pictures_are_left_out_when_grading(path: Path) -> None:
    """A cell that draws is tagged as an experiment: no test needs it, and it takes longer than all tests together."""
    for cell in NOTEBOOKS[path].cells:
        if any("<img" in output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ())):
            assert "experiment" in cell.metadata.get("tags", ()), cell.source


@each_assignment
def test_an_assignment_is_worth_100_points(assignment: Path) -> None:
    """Its notebooks together; grade_ids are unique in the whole assignment."""
    cells = [cell for path in sorted(assignment.glob("*.ipynb")) for cell in NOTEBOOKS[path].cells]
    assert (
        sum(cell.metadata.nbgrader.points for cell in cells if type_of(cell) in (CellType.TEST, CellType.MANUAL_ANSWER))
        == 100
    )
    names = [grade_id(cell) for cell in cells if type_of(cell) not in (CellType.UNMARKED, CellType.READ_ONLY)]
    assert len(names) == len(set(names))


@each_notebook
def test_a_test_needs_no_other_test(path: Path) -> None:
    """A test reads no variable that another left behind, but for those that are meant to."""
    steps = plan(NOTEBOOKS[path])
    sessions = Plan(steps).sessions
    shared = {step.name for step in steps if sessions.get(step.index)}
    assert shared <= {"index-lookup-test-learns", "index-lookup-test-looks"}  # to train a model takes long
