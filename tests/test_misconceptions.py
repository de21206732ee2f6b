"""A misconception is an edit that fits its reference exactly once."""

from pathlib import Path

import pytest

from course.errors import CourseError
from course.misconceptions import Misconception, load

REFERENCE = "def double(x):\n    return 2 * x\n"


def mistake(old: str, new: str) -> Misconception:
    return Misconception(exercise="double", name="squares", edit=(old, new), say="You square.")


def test_the_edit_makes_the_mistake() -> None:
    """What stood there is replaced; the rest stays."""
    assert mistake("2 * x", "x * x").applied_to(REFERENCE) == "def double(x):\n    return x * x\n"


@pytest.mark.parametrize(("old", "times"), [("3 * x", 0), ("x", 2)])
def test_an_edit_that_does_not_fit_is_refused(old: str, times: int) -> None:
    """A reference that changed under a misconception is noticed, and so is an edit that fits twice."""
    with pytest.raises(CourseError, match=f"stands there {times} times"):
        mistake(old, "y").applied_to(REFERENCE)


@pytest.mark.parametrize("text", ["MISCONCEPTIONS = [", "MISTAKES = []", "import nothing_of_the_kind"])
def test_a_broken_list_is_named(tmp_path: Path, text: str) -> None:
    """In one line, with the reason."""
    (tmp_path / "misconceptions.py").write_text(text)
    with pytest.raises(CourseError, match="misconceptions.py cannot be used"):
        load(tmp_path)


def test_an_assignment_without_a_list_has_no_misconceptions(tmp_path: Path) -> None:
    """The file is optional."""
    assert load(tmp_path) == []
