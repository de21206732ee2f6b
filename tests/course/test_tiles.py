"""The picture of a growing softmax shows the bars that it was given, and only those."""

import pytest

from course import tiles
from tests.support.pictures import ALT, WORDS, darkness

STEPS = [("one", [1.0, 1.0]), ("two", [0.25, 0.25, 1.0, 0.5])]


def test_a_bar_is_drawn_for_each_height() -> None:
    """More heights leave more ink, and the description goes along."""
    few, many = (tiles.growing_bars([step], names=WORDS, alt=ALT) for step in STEPS)
    taller = tiles.growing_bars([("two", [1.0, 1.0, 1.0, 0.5])], names=WORDS, alt=ALT)
    assert few.alt == many.alt == ALT
    assert darkness(taller).sum() > darkness(many).sum()


def test_each_step_has_a_chart_of_its_own() -> None:
    """Two steps stand side by side: the picture is wider, and not taller."""
    one = darkness(tiles.growing_bars(STEPS[:1], names=WORDS, alt=ALT))
    two = darkness(tiles.growing_bars(STEPS, names=WORDS, alt=ALT))
    assert two.shape[1] > 1.5 * one.shape[1] and abs(two.shape[0] - one.shape[0]) < 10


@pytest.mark.slow
def test_a_row_has_two_charts() -> None:
    """Four steps are no wider than two, so that a phone can show them; a row that is not full ends empty."""
    two, three, four = (darkness(tiles.growing_bars((STEPS * 2)[:n], names=WORDS, alt=ALT)) for n in (2, 3, 4))
    assert abs(four.shape[1] - two.shape[1]) < 10 and four.shape[0] > 1.5 * two.shape[0]
    assert abs(three.shape[1] - two.shape[1]) < 10 and three.sum() < four.sum()


def test_bars_that_a_step_adds_are_darker() -> None:
    """So they differ from the older ones without colour."""
    old = [("one", [1.0, 1.0]), ("the same", [1.0, 1.0])]
    came = [("one", []), ("the same", [1.0, 1.0])]
    first, second = (darkness(tiles.growing_bars(steps, names=WORDS, alt=ALT)) for steps in (old, came))
    half = first.shape[1] // 2
    assert second[:, half:].sum() > first[:, half:].sum()


def test_more_heights_than_names_are_refused() -> None:
    """The message says how many were expected."""
    with pytest.raises(ValueError, match="expected up to 6, got 7"):
        tiles.growing_bars([("", [1.0] * 7)], names=WORDS, alt=ALT)


def test_a_picture_without_a_description_is_refused() -> None:
    """As in `figures`."""
    with pytest.raises(ValueError, match="alt text"):
        tiles.growing_bars(STEPS, names=WORDS, alt=" ")
