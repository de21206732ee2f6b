"""Text in a wrong cell, and the reason why a file cannot be read, reach the student and the teacher.

`grader grade` and `nbgrader autograde` agree on it.
"""

import copy
import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page.result_files import read_record
from tests.support.notebooks import answered, cell, text
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, ledger, make_course, released, run

pytestmark = pytest.mark.slow

WRITTEN = "It had to be."


def submissions(folder: Path) -> dict[str, NotebookNode]:
    """Return what each student hands in, with all answers but the one in question right."""
    blank = released(folder)
    right = answered(blank, **RIGHT)
    no_text = answered(right, why=cell(blank, "why").source)
    found = {name: copy.deepcopy(no_text) for name in ("below", "blank")}
    place = [each.get("id") for each in no_text.cells].index(cell(no_text, "why").id)
    found["below"].cells.insert(place + 1, text(WRITTEN))
    found["divided"] = answered(no_text, why="<div>\n\n</div>")
    typed = f"{RIGHT['one']}\n\n{cell(right, 'one-check').source}"
    found["check"] = answered(right, **{"one": cell(blank, "one").source, "one-check": typed})
    found["note"] = answered(right, **{"one-check": "print('a note')\n" + cell(right, "one-check").source})
    found["right"] = right
    return found


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class of these students, graded by `grader grade`."""
    folder = make_course(tmp_path_factory.mktemp("misplaced") / "course")
    for student, notebook in submissions(folder).items():
        hand_in(folder, student, notebook)
    grade_class(folder)
    return folder


def page(folder: Path, student: str, name: str = "small") -> str:
    """Return the text of a student's page."""
    html = (folder / "feedback" / student / NAME / f"{name}.html").read_text()
    return " ".join(unescape(re.sub(r"<style.*?</style>|<[^>]+>", "", html, flags=re.DOTALL)).split())


def test_text_in_the_wrong_cell_is_kept_shown_and_told(graded_class: Path) -> None:
    """An answer next to its box waits for marking, one in a test counts, and other text in a test costs nothing.

    The page says so, and the teacher learns of it in the table of `grader grade`. A box without an answer is not
    queued, and gets no points and nbgrader's comment. tests/engine/notebook has all cells that may hold the text.
    """
    entries, shown = ledger(graded_class), {student: page(graded_class, student) for student in ledger(graded_class)}
    grades, comments = ({student: entry[kind] for student, entry in entries.items()} for kind in ("grades", "comments"))
    assert grades["below"]["why"] == (None, None, True) and comments["below"]["why"] == (None, None)
    assert "You wrote into other cells" in shown["below"] and "that text waits for marking" in shown["below"]
    assert WRITTEN in shown["below"] and "no answer yet" not in shown["below"]
    for student in ("blank", "divided"):
        assert grades[student]["why"] == (0, None, False) and comments[student]["why"] == ("No response.", None)
        assert "You wrote into other cells" not in shown[student]
    assert (grades["check"]["one-check"][0], grades["check"]["one-test-more"][0]) == (1, 2)
    assert "moved here and count as the answer" in shown["check"]
    kept = "one-check: you wrote 1 line into this cell"
    assert f"{kept}; it does not count and is kept below it" in shown["note"]
    assert entries["note"]["score"] == entries["right"]["score"]
    check, note = (read_record(graded_class / "autograded" / name / NAME, "small") for name in ("check", "note"))
    assert check is not None and RIGHT["one"] in check.answers["one"]
    assert note is not None and kept in note.repairs[0]
    notebook = nbformat.read(graded_class / "autograded" / "note" / NAME / "small.ipynb", as_version=4)
    sources = [each.source for each in notebook.cells]
    assert sources[sources.index(cell(notebook, "one-check").source) + 1] == "print('a note')"
    notices = {each.student: each.notices for each in ClassRun(CourseDir(graded_class), NAME).outcomes()}
    assert notices["right"] == notices["blank"] == []
    for student in ("below", "check", "note"):
        assert "text in the wrong cells of small was kept" in notices[student]


def test_nbgraders_own_commands_agree(graded_class: Path, tmp_path: Path) -> None:
    """Scores, comments, what waits, the pages, and what is on record."""
    made = ("autograded", "feedback", "gradebook.db*")
    folder = shutil.copytree(graded_class, tmp_path / "course", ignore=shutil.ignore_patterns(*made))
    for command in (["generate_assignment", NAME, "--force"], ["autograde", NAME], ["generate_feedback", NAME]):
        done = run(folder, "nbgrader", *command)
        assert done.returncode == 0, done.stderr
    assert ledger(folder) == ledger(graded_class)
    for student in ledger(graded_class):
        assert page(folder, student) == page(graded_class, student)
        theirs, ours = (read_record(each / "autograded" / student / NAME, "small") for each in (folder, graded_class))
        assert theirs is not None and ours is not None and theirs.repairs == ours.repairs


def test_new_text_next_to_a_marked_box_waits_again(graded_class: Path, tmp_path: Path) -> None:
    """As new text in the box does; the same text does not."""
    folder = shutil.copytree(graded_class, tmp_path / "course")
    with CourseDir(folder).gradebook() as gradebook:
        grade = gradebook.find_grade("why", "small", NAME, "below")
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    grade_class(folder, force=True)
    assert ledger(folder)["below"]["grades"]["why"] == (None, 1.0, False)
    changed = submissions(folder)["below"]
    next(each for each in changed.cells if each.source == WRITTEN).source = "Something else."
    hand_in(folder, "below", changed)
    grade_class(folder)
    assert ledger(folder)["below"]["grades"]["why"] == (None, 1.0, True)
