"""Points that a person set for a test stay, say so, and are asked for again only if the test itself gives others."""

import copy
import shutil
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.gradebook.rules import CellScore, NotebookScore
from grader.classroom.page.exercises import exercises, put_score
from grader.engine.notebook.cells import CellType, type_of
from grader.engine.notebook.outline import GRADED
from tests.support.formgrader import by_formgrader
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, SOURCE, grade_class, hand_in, make_course, released, run

ONES = "def one(x=1):\n    return 1"
KINDER = "assert one(3) in (1, 3), 'one(3) is not 3'"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in which ann is right, and gus passes the check of one() and fails its hidden test."""
    folder = make_course(tmp_path_factory.mktemp("set") / "course")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    hand_in(folder, "gus", answered(released(folder), **RIGHT | {"one": ONES}))
    grade_class(folder)
    return folder


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    """A copy of the class, in which a person gave gus 1 of 2 points for the hidden test and 0.5 of 1 for the check."""
    folder = shutil.copytree(graded, tmp_path / "course")
    for test, points in (("one-test-more", 1), ("one-check", 0.5)):
        put(folder, "gus", test, points)
    return folder


def put(folder: Path, student: str, test: str, points: float) -> None:
    """Set points as the formgrader does."""
    by_formgrader(folder, (test, "small", NAME, student), points)


def state(folder: Path) -> dict[str, tuple[float, bool]]:
    """The points that count, and whether the formgrader asks for them, of gus's tests of one()."""
    with CourseDir(folder).gradebook() as gradebook:
        rows = {test: gradebook.find_grade(test, "small", NAME, "gus") for test in ("one-check", "one-test-more")}
        return {test: (row.score, bool(row.needs_manual_grade)) for test, row in rows.items()}


def change_test(folder: Path, text: str = KINDER) -> None:
    """Change the hidden test in source/, so that it gives gus all of its points."""
    source = answered(
        SOURCE, **{"one-test-more": f"# one(x) is x.\n### BEGIN HIDDEN TESTS\n{text}\n### END HIDDEN TESTS"}
    )
    nbformat.write(source, folder / "source" / NAME / "small.ipynb")


def page(folder: Path, name: str = "small") -> Tag:
    """A page of gus, as a browser reads it."""
    return BeautifulSoup((folder / "feedback" / "gus" / NAME / f"{name}.html").read_text(), "html.parser").main


def words(part: Tag | None) -> str:
    """What a part of a page says."""
    assert part is not None
    return " ".join(part.get_text().split())


def row(folder: Path) -> str:
    """What the summary says of one()."""
    return words(page(folder).select_one(".exercises > li"))


@pytest.mark.slow
def test_a_test_that_gives_other_points_is_asked_for_again_and_no_other(course: Path) -> None:
    """Until a person has looked at it, whatever is graded meanwhile; what they set then stays again.

    A regrade that changes nothing asks for nothing, and a new answer that earns other points asks as a new test does.
    """
    grade_class(course, force=True)
    assert state(course) == {"one-check": (0.5, False), "one-test-more": (1, False)}
    change_test(course)
    for _ in range(2):
        grade_class(course, force=True)
        assert state(course) == {"one-check": (0.5, False), "one-test-more": (1, True)}
    put(course, "gus", "one-test-more", 2)
    grade_class(course, force=True)
    assert state(course) == {"one-check": (0.5, False), "one-test-more": (2, False)}
    change_test(course, "assert one(3) == 3")
    put(course, "gus", "one-test-more", 1)
    grade_class(course, force=True)
    put(course, "gus", "one-test-more", 1)
    hand_in(course, "gus", answered(released(course), **RIGHT))
    grade_class(course)
    assert state(course) == {"one-check": (0.5, False), "one-test-more": (1, True)}


@pytest.mark.slow
def test_the_page_says_that_a_person_set_the_points(course: Path) -> None:
    """Where the test's own sentence would stand, which is no reason for them; nbgrader's page says the same."""
    grade_class(course, force=True)
    shown = row(course)
    assert shown.startswith("◐ partly right one 1.5 of 3") and "A person set the points of 2 tests." in shown
    assert "one(3) is not 3" not in words(page(course))
    tests = [words(each) for each in page(course).select(".cell.part")]
    assert len(tests) == 2 and all("set by a person" in each for each in tests)
    assert words(page(course).header).startswith("small 6.5 of 8 points")
    done = run(course, "nbgrader", "generate_feedback", NAME, "--force", "--student=gus")
    assert done.returncode == 0, done.stderr
    assert row(course) == shown and "one(3) is not 3" not in words(page(course))


@pytest.mark.slow
def test_a_test_that_waits_keeps_no_other_from_counting(course: Path) -> None:
    """The page counts what is known, as its header does; ledger and formgrader have the sum of all."""
    change_test(course)
    grade_class(course, force=True)
    shown = row(course)
    assert shown.startswith("◐ partly right one 0.5 of 1") and "2 more points wait for marking." in shown
    assert words(page(course).header).startswith("small 5.5 of 6 points 4 points wait for marking")
    assert words(page(course, "index").header).startswith(f"{NAME} 5.5 of 6 points")
    put(course, "gus", "one-check", 1)
    grade_class(course, force=True)
    assert row(course).startswith("✓ right so far one 1 of 1")
    assert read_ledger(CourseDir(course), NAME).of("gus").total.points == 7


@st.composite
def scores(draw: st.DrawFn, max_points: float, *, is_test: bool) -> CellScore:
    """What the gradebook may have of a cell: the grader's points, a person's, extra credit, or nothing yet."""
    part = st.sampled_from([None, 0.0, 0.5, 1.0])
    auto, manual, extra = (draw(part) for _ in range(3))
    auto, manual = (None if each is None else each * max_points for each in (auto, manual))
    waits = (auto is None and manual is None) or draw(st.booleans())
    return CellScore(max_points, auto, manual, extra, waits, is_test)


@given(st.data())
def test_exercises_add_up_to_what_is_known(data: st.DataObject) -> None:
    """Whatever is in the gradebook: the sum of the summary is that of its header, and only all points are right."""
    notebook = copy.deepcopy(SOURCE)
    cells = {}
    for each in notebook.cells:
        if type_of(each) in GRADED:
            most, is_test = float(each.metadata.nbgrader.points), type_of(each) is CellType.TEST
            cells[each.metadata.nbgrader.grade_id] = data.draw(scores(most, is_test=is_test))
            put_score(each, cells[each.metadata.nbgrader.grade_id])
    header, shown = NotebookScore.of(cells, {}), exercises(notebook)
    known = [each.view for each in shown if each.view.state.style != "wait"]
    assert sum(each.points for each in known) == pytest.approx(header.marked)
    assert sum(each.max_points for each in known) == pytest.approx(header.max_marked)
    unknown = [each.view.max_points for each in shown if each.view.state.style == "wait"]
    assert sum(unknown) + sum(each.waiting for each in shown) == pytest.approx(header.waiting)
    for each in shown:
        is_full = each.view.points >= each.view.max_points and each.view.state.style != "wait"
        assert (each.view.state.word == "right") == (is_full and not each.waiting)
