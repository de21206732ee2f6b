"""Shows which pairs of misconceptions are no diagnosis, though both together fit all answers of a student's code."""

import pytest

from grader.engine.diagnosis.misconceptions import Misconception, apply_all
from grader.engine.grading import grade
from grader.errors import GraderError
from tests.support.exercises import HELPER_PACKAGES, MISCONCEPTIONS, alone
from tests.support.notebooks import answer, check, helpers, notebook, with_answer

CODE = "def double(x):\n    return x * 2\n\ndef after(x):\n    return double(x) + 1\n"
SOURCE = notebook(
    helpers("imports", "import torch"),
    answer("double", f"### BEGIN SOLUTION\n{CODE}### END SOLUTION"),
    check("double-check", "assert torch.equal(double(torch.ones(2)), torch.full((2,), 2.0)), 'double is wrong'"),
    check("double-check-after", "assert torch.equal(after(torch.ones(2)), torch.full((2,), 3.0)), 'after is wrong'"),
)


def known(name: str, find: str, replace: str) -> Misconception:
    """A misconception of the exercise `double`."""
    return Misconception("double", name, find, replace, f"It {name}.")


TRIPLES, SHRINKS = known("triples", "x * 2", "x * 3"), known("shrinks", "double(x) + 1", "double(x) * 2 / 3 + 1")
ADDS, KEEPS = known("adds five", "double(x) + 1", "double(x) + 5"), known("keeps one", "x * 2", "x")


def named(code: str, *misconceptions: Misconception) -> list[str]:
    """The names of the mistakes that the grader finds in an answer."""
    report = grade(SOURCE, with_answer(SOURCE, "double", code), misconceptions=misconceptions)
    return [name for result in report.results for name in result.explanation.causes]


def test_two_mistakes_that_each_change_a_wrong_answer_are_named() -> None:
    """Both functions are wrong, each in its own way."""
    assert named(CODE.replace("x * 2", "x.clone()").replace("+ 1", "+ 5"), KEEPS, ADDS) == ["keeps one", "adds five"]


def test_a_half_that_only_undoes_the_other_is_not_named() -> None:
    """`after` is right, by code of its own. With both mistakes it is right, too, and alone each makes it wrong."""
    wrong = CODE.replace("x * 2", "x * 3").replace("double(x) + 1", "x * 2 + 1")
    assert named(wrong, TRIPLES, SHRINKS) == []
    assert named(CODE.replace("x * 2", "x * 3"), TRIPLES, SHRINKS) == ["triples"]


@pytest.mark.parametrize("first", [True, False])
def test_an_edit_in_the_text_of_another_makes_no_pair(first: bool) -> None:
    """The text that one writes holds the text that the other replaces, so the result would be neither."""
    more, less = known("adds", "+ 1", "+ 1 + 10"), known("takes", "+ 1", "+ 1 - 3")
    pair = (more, less) if first else (less, more)
    assert named(CODE.replace("+ 1", "+ 8"), *pair) == []
    with pytest.raises(GraderError, match="replace the same text"):
        apply_all(pair, CODE)
    assert apply_all((ADDS, KEEPS), CODE) == apply_all((KEEPS, ADDS), CODE) == KEEPS.apply(ADDS.apply(CODE))


@pytest.mark.parametrize(("sign", "names"), [("", []), ("float(torch.rand(())) * 0 + ", ["throws dice"])])
def test_dice_are_named_only_where_they_were_thrown(sign: str, names: list[str]) -> None:
    """A hint may name torch.rand, which the code must then have called."""
    dice = known("throws dice", "double(x) + 1", "double(x) + (5 if float(torch.rand(())) < 2 else 1)")
    assert named(CODE.replace("+ 1", f"+ {sign}5"), dice) == names


MINUS_ZERO = """
def update_cache(cache, key, value, window, sinks=0):
    if cache is None:
        return key, value
    kept = []
    for old, new in zip(cache, (key, value)):
        rest = old[:, :, sinks:]
        if old.size(2) == sinks + window:
            rest = rest[:, :, -(window - 1):]
        kept.append(torch.cat([old[:, :, :sinks], rest, new], 2))
    return tuple(kept)
"""
OWN_DICE = """
def accept_or_resample(draft_token, p, q, choose):
    if float(torch.rand(())) < float(p[draft_token] / q[draft_token]):
        return draft_token
    missing = (p - q).clamp_min(0)
    return int(torch.multinomial(missing / missing.sum(), 1))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "code", "true"),
    [
        (
            "update-cache",
            MINUS_ZERO,
            {"slices with minus the window", "slices what is behind the sinks with minus the window"},
        ),
        (
            "accept-or-resample",
            OWN_DICE,
            {"accepts by a random number of its own", "samples without choose, for both decisions"},
        ),
    ],
)
def test_answers_of_strangers_get_no_pair_that_is_not_theirs(exercise: str, code: str, true: set[str]) -> None:
    """Each once got two names, of which at least one was false: before its own mistake was listed."""
    source = alone(exercise)
    answered = with_answer(source, exercise, code)
    for known in (MISCONCEPTIONS, [each for each in MISCONCEPTIONS if each.name not in true]):
        report = grade(source, answered, misconceptions=known, helper_packages=HELPER_PACKAGES)
        assert report.points < report.max_points
        assert {name for result in report.results for name in result.explanation.causes} <= true
