"""Text that takes long to render costs its author the look of a page, and other students nothing."""

import re
import time
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from grader.classroom.class_run import ClassRun
from grader.classroom.course_dir import CourseDir
from grader.classroom.page import autograded
from grader.classroom.page import page_maker as pages
from grader.engine import cpu_limit as limiting
from grader.engine.cpu_limit import CpuLimitExceeded, cpu_limit
from tests.support.notebooks import answered, code
from tests.support.small_class import NAME, RIGHT, hand_in, make_course, points, released

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
"""The exception may be raised in a destructor or a callback of the garbage collector, where Python only reports it."""

TANGLED = "<ul><li>" * 1_000
"""The HTML library needs a fifth of a second for it, and a notebook may hold a hundred such outputs."""
SLOW = r"\begin{a}" * 5_000
"""The markdown library searches for the end of each, which takes seconds; it is one of many such texts."""


def test_an_endless_computation_is_stopped() -> None:
    """Also in the middle of a regular expression; a quick block, and the code after the block, are not stopped.

    Python drops exceptions that are raised while it deletes an object, and a library may delete one at any time: the
    computation is stopped although the first exception was lost.
    """

    class Slow:
        def __del__(self) -> None:
            compute(0.3)

    def compute(seconds: float) -> None:
        end = time.process_time() + seconds
        while time.process_time() < end:
            sum(range(100_000))

    with pytest.raises(CpuLimitExceeded), cpu_limit(0.1):
        Slow()
        compute(5)
    with pytest.raises(CpuLimitExceeded), cpu_limit(0.1):
        re.match(r"(a+)+$", "a" * 60 + "b")
    with cpu_limit(0.1):
        assert re.match(r"(a+)+$", "a" * 60)
    assert re.match(r"(a+)+b", "a" * 22) is None, "the limit ends with its block"


def test_what_takes_too_long_is_shown_as_typed_and_costs_no_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page, and the HTML of an output; those of other students are rendered as ever.

    A page that takes too long even as typed is one line, which has the points, and nothing of a test.
    """
    # The first exception may be lost, and this test renders too little to wait for a second.
    monkeypatch.setattr(limiting, "REPEAT_SECONDS", 1e-3)
    monkeypatch.setattr(pages, "PAGE_SECONDS", 0.5)
    monkeypatch.setattr(autograded, "OUTPUT_SECONDS", 0.05)
    folder = make_course(tmp_path / "course")
    for student, more, output in (("ann", "", "<b>bold</b><script>1</script>"), ("bob", SLOW, TANGLED)):
        notebook = answered(released(folder), **RIGHT | {"why": f"It **had** to be. {more}"})
        notebook.cells.append(code(f"from IPython.display import HTML\nHTML({output!r})"))
        hand_in(folder, student, notebook)
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(folder), NAME).outcomes())
    ann, bob = (next((folder / "feedback" / student).rglob("small.html")).read_text() for student in ("ann", "bob"))
    assert "<strong>had</strong>" in ann and "<strong>had</strong>" not in bob
    assert "It **had** to be." in bob and "one(3)" not in bob
    ann, bob = (
        nbformat.read(next((folder / "autograded" / student).rglob("*.ipynb")), as_version=4).cells[-1].outputs[0].data
        for student in ("ann", "bob")
    )
    assert ann["text/html"].startswith("<b>bold</b>") and "<script" not in ann["text/html"]
    assert bob["text/html"].startswith("<pre>&lt;ul&gt;")
    monkeypatch.setattr(pages, "PAGE_SECONDS", 1e-6)
    assert not any(outcome.errors for outcome in ClassRun(CourseDir(folder), NAME, force=True).outcomes())
    page = BeautifulSoup(next((folder / "feedback" / "ann").rglob("small.html")).read_text(), "html.parser")
    line = "8 of 8 points; 2 points wait for marking. This notebook takes too long to be shown as a page."
    assert page.body.get_text(" ", strip=True) == f"small {line}" and points(folder) == {"ann": 8, "bob": 8}
