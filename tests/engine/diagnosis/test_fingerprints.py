"""Fingerprints of wrong answers: alike where two answers behave alike in every test, however they are written."""

import pytest

from grader.engine.grading import grade
from grader.engine.report import ABSOLUTE, Fingerprint
from tests.support.notebooks import with_answer
from tests.support.scale_notebook import SOLUTION, SOURCE

WRONG = SOLUTION.replace(" + 1", "")


def taken(answer: str) -> Fingerprint | None:
    """The fingerprint of an answer, without any known misconception."""
    (result,) = grade(SOURCE, with_answer(SOURCE, "scale", answer)).results
    return result.fingerprint


def like(first: str, second: str) -> bool:
    """Whether two wrong answers are alike."""
    one, other = taken(first), taken(second)
    assert one is not None and other is not None
    return one.is_like(other)


def test_a_right_answer_and_a_blank_have_none() -> None:
    """There is nothing to compare."""
    assert taken(SOLUTION) is None
    assert taken(SOLUTION.replace("super().__init__()", "raise NotImplementedError()")) is None


@pytest.mark.slow
def test_answers_are_alike_where_they_behave_alike() -> None:
    """Names, comments and rounding do not count; other numbers, dtypes, shapes, errors or types do."""
    product = "x * self.weight"
    assert like(WRONG, WRONG.replace(product, "(self.weight / 3) * x * 3  # the scale"))
    assert like(WRONG.replace("x * self", "nothing * self"), WRONG.replace("x * self", "missing * self"))
    for other in (
        *(SOLUTION.replace(" + 1", " + 1.01"), SOLUTION.replace(" + 1", " - 1")),
        *(WRONG.replace(product, f"({product}){other}") for other in (".double()", "[:3]", " / 0")),
        WRONG.replace("return x", "raise ValueError('no')\n        return x"),
        WRONG.replace(product, "x.tolist()"),
    ):
        assert other != WRONG and not like(WRONG, other), other


def test_parameters_drawn_otherwise_are_told_apart() -> None:
    """The numbers cannot be compared then, and all else can."""
    one, other = taken(WRONG), taken(WRONG.replace("torch.rand(width)", "torch.randn(width)"))
    assert one is not None and other is not None
    assert one.structure == other.structure and one.drawn != other.drawn and not one.is_like(other)


def test_tolerance_grows_with_the_size_of_a_reply() -> None:
    """A difference in the fifth digit is rounding, one in the third is not; beside zero a tiny one is rounding."""
    one = Fingerprint("s", "", (100.0, 3.0))
    assert one.is_like(Fingerprint("s", "", (100.001, 3.001)))
    assert not one.is_like(Fingerprint("s", "", (100.1, 3.0)))
    assert not one.is_like(Fingerprint("s", "", (100.0, 3.0, 1.0, 1.0)))
    assert Fingerprint("s", "", (0.0, 0.0)).is_like(Fingerprint("s", "", (ABSOLUTE / 2, 0.0)))
