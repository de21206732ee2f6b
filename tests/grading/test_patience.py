"""Text that takes long to render costs its author the look of a page, and nobody else anything."""

import re
import time

import nbformat
import pytest
from notebooks import answered, code
from small_class import NAME, RIGHT, hand_in, make_course, points, released

from course.classroom import Classroom
from course.grading import autograded, patience, records
from course.grading.class_run import ClassRun
from course.grading.patience import OutOfPatience, at_most

TANGLED = "<ul><li>" * 1_000
"""It takes the HTML library a fifth of a second, and a notebook may hold a hundred such outputs."""
SLOW = r"\begin{a}" * 5_000
"""The markdown library looks for the end of each, which takes seconds; there are other such texts."""


@pytest.fixture
def heard(monkeypatch):
    """The first word may be lost, and what these tests render is ready before the second one would come."""
    monkeypatch.setattr(patience, "AGAIN_SECONDS", 1e-3)


def test_what_does_not_end_is_given_up():
    """Also in the middle of a regular expression; what is quick is left in peace."""
    with pytest.raises(OutOfPatience), at_most(0.1):
        re.match(r"(a+)+$", "a" * 60 + "b")
    with at_most(0.1):
        assert re.match(r"(a+)+$", "a" * 60)
    assert re.match(r"(a+)+b", "a" * 22) is None, "afterwards there is no bound"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_does_not_end_is_given_up_although_the_first_word_was_lost():
    """Python drops what is raised while it lets an object go, and a library may let one go at any moment."""

    class Slow:
        def __del__(self):
            compute(0.3)

    def compute(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            sum(range(100_000))

    with pytest.raises(OutOfPatience), at_most(0.1):
        Slow()
        compute(5)


def test_a_page_that_takes_too_long_is_shown_as_it_was_typed(tmp_path, monkeypatch):
    """With all its points; the pages of others are as beautiful as ever."""
    monkeypatch.setattr(records, "PAGE_SECONDS", 0.5)
    folder = make_course(tmp_path / "course")
    for student, why in (("ann", "It **had** to be."), ("bob", f"It **had** to be. {SLOW}")):
        hand_in(folder, student, answered(released(folder), **RIGHT | {"why": why}))
    assert not any(outcome.troubles for outcome in ClassRun(Classroom(folder), NAME).outcomes())
    assert points(folder) == {"ann": 8, "bob": 8}
    ann, bob = (next((folder / "feedback" / student).rglob("*.html")).read_text() for student in ("ann", "bob"))
    assert "<strong>had</strong>" in ann and "<strong>had</strong>" not in bob
    assert "It **had** to be." in bob and "one(3)" not in bob


def test_a_page_that_takes_too_long_even_so_is_a_line(tmp_path, monkeypatch, heard):
    """With the points and no word of a test."""
    monkeypatch.setattr(records, "PAGE_SECONDS", 1e-6)
    folder = make_course(tmp_path / "course")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    assert not any(outcome.troubles for outcome in ClassRun(Classroom(folder), NAME).outcomes())
    page = next((folder / "feedback" / "ann").rglob("*.html")).read_text()
    assert "8 of 10 points" in page and len(page) < 200 and points(folder) == {"ann": 8}


def test_outputs_that_take_too_long_are_shown_as_text(tmp_path, monkeypatch, heard):
    """Their HTML is told, not rendered, and costs no points; that of others is rendered."""
    monkeypatch.setattr(autograded, "OUTPUT_SECONDS", 0.05)
    folder = make_course(tmp_path / "course")
    for student, put_out in (("ann", "<b>bold</b><script>1</script>"), ("bob", TANGLED)):
        notebook = answered(released(folder), **RIGHT)
        notebook.cells.append(code(f"from IPython.display import HTML\nHTML({put_out!r})"))
        hand_in(folder, student, notebook)
    assert not any(outcome.troubles for outcome in ClassRun(Classroom(folder), NAME).outcomes())
    assert points(folder) == {"ann": 8, "bob": 8}
    ann, bob = (
        nbformat.read(next((folder / "autograded" / student).rglob("*.ipynb")), as_version=4).cells[-1].outputs[0].data
        for student in ("ann", "bob")
    )
    assert ann["text/html"].startswith("<b>bold</b>") and "<script" not in ann["text/html"]
    assert bob["text/html"].startswith("<pre>&lt;ul&gt;")
