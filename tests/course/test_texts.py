"""The book that a notebook learns from, and the picture in which rotary positions rotate arrows."""

import math

import pytest
import torch

from course import texts
from course.rotary_explorer import BASE, RotaryExplorer


def turn(x: torch.Tensor, positions: torch.Tensor, base: float) -> torch.Tensor:
    """Rotary positions by complex numbers, for vectors (L, D) of float32."""
    width = x.size(-1)
    angle = positions.unsqueeze(1) * base ** (-torch.arange(0, width, 2) / width)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def test_the_book_is_whole_and_nothing_was_added() -> None:
    """It has twelve chapters, begins and ends as the author wrote it, and says nothing about ebooks."""
    book = texts.alice()
    assert [f"CHAPTER {number}." in book for number in "I II III IV V VI VII VIII IX X XI XII".split()] == [True] * 12
    assert "Alice was beginning to get very tired of sitting by her sister on the bank" in book
    assert book.rstrip().endswith("remembering her own child-life, and the happy summer days.")
    assert not any(word in book for word in ("Gutenberg", "ebook", "eBook", "License", "\r", "\t"))


def test_the_book_is_small_enough_to_ship() -> None:
    """A wheel for students stays small."""
    assert 100_000 < len(texts.alice().encode()) < 200_000


@pytest.mark.parametrize("moved", [1, 5, 8])
def test_moving_query_and_key_together_keeps_the_scores(moved: int) -> None:
    """Arrows turn, and what each pair adds to the score stays."""
    explorer = RotaryExplorer(turn, query=2, key=0)
    assert explorer.arrows(2)[0] != pytest.approx(explorer.arrows(2 + moved)[0])
    assert explorer.scores(2 + moved, moved) == pytest.approx(explorer.scores(2, 0), abs=1e-5)
    assert explorer.scores(2, 0) == pytest.approx([math.cos(2), math.cos(2 / BASE**0.5)], abs=1e-5)


def test_the_explorer_follows_its_sliders() -> None:
    """Moving a slider replaces the picture with a new one, in the same place."""
    explorer = RotaryExplorer(turn, query=5, key=4)
    shown: list[str] = []
    explorer._screen = type("Screen", (), {"update": lambda self, picture: shown.append(picture.alt)})()
    explorer.key.value = 5
    assert len(shown) == 1 and "key at position 5" in shown[0] and shown[0].endswith("The score is 2.00.")


def test_a_function_that_is_not_written_yet_says_so_at_once() -> None:
    """The error leaves the cell that makes the explorer; IPython would swallow one that is raised while it displays."""

    def blank(x: torch.Tensor, positions: torch.Tensor, base: float) -> torch.Tensor:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        RotaryExplorer(blank, query=5, key=4)
