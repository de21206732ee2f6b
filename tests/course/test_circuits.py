"""Pictures of what goes on inside a model carry a description, and show the numbers that they were given."""

from collections.abc import Callable

import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course import circuits, figures

ALT = "A description of five words or more."
P, Q = [0.4, 0.3, 0.1, 0.2], [0.5, 0.1, 0.3, 0.1]
TOKENS = ["river", "bank", "tree", "boat"]
PICTURES: dict[str, Callable[[], figures.Picture]] = {
    "acceptance": lambda: circuits.acceptance(P, Q, names=TOKENS, alt=ALT),
    "patterns": lambda: circuits.patterns(
        {"a": torch.eye(4), "b": torch.eye(4)}, tokens=TOKENS, marks=[(1, 0)], alt=ALT
    ),
    "slots": lambda: circuits.slots({"a": torch.eye(4)}, sizes={"token": 3, "position": 1}, tokens=TOKENS, alt=ALT),
}
"""Draw a picture of each kind, by the name of the function. Nothing is drawn while tests are collected."""


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Collects the figures that are drawn."""
    found: list[Figure] = []

    def keep(figure: Figure, alt: str) -> figures.Picture:
        found.append(figure)
        return figures.Picture(b"", alt)

    monkeypatch.setattr(figures, "picture", keep)
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_carries_its_description(name: str) -> None:
    """As text it is the alt text, and it is an image."""
    picture = PICTURES[name]()
    assert repr(picture) == f"Picture: {ALT}"
    assert picture.png.startswith(b"\x89PNG")


def test_solid_and_striped_parts_are_q_and_solid_and_dotted_parts_are_p(drawn: list[Figure]) -> None:
    """The bars of a token are the smaller probability and, above it, what is left of the larger one."""
    PICTURES["acceptance"]()
    heights: dict[str | None, list[float]] = {}
    for bar in drawn[0].axes[0].patches:
        assert isinstance(bar, Rectangle)
        heights.setdefault(bar.get_hatch(), []).append(bar.get_height())
    for hatch, probabilities in (("////", Q), ("...", P)):
        sums = [solid + above for solid, above in zip(heights[None], heights[hatch], strict=True)]
        assert sums == pytest.approx(probabilities)


def test_probabilities_that_do_not_fit_the_tokens_are_refused() -> None:
    """Both models need a probability for each token."""
    with pytest.raises(ValueError, match="expected 4 probabilities of each model, got 4 and 3"):
        circuits.acceptance(P, Q[:3], names=TOKENS, alt=ALT)


def test_a_ring_is_at_its_row_and_column(drawn: list[Figure]) -> None:
    """A mark (row, column) is drawn at x = column and y = row, in every pattern."""
    PICTURES["patterns"]()
    for axis in drawn[0].axes:
        assert axis.collections[0].get_offsets().tolist() == [[0.0, 1.0]]


def test_the_axes_of_a_pattern_are_key_and_query(drawn: list[Figure]) -> None:
    """A row is a query, a column a key."""
    PICTURES["patterns"]()
    assert [axis.get_xlabel() for axis in drawn[0].axes] == ["key"] * len(drawn[0].axes)
    assert drawn[0].axes[0].get_ylabel() == "query"


def test_patterns_that_do_not_fit_the_tokens_are_refused() -> None:
    """A pattern has a row and a column for each token."""
    with pytest.raises(ValueError, match=r"each pair of 4 tokens, got \(4, 3\)"):
        circuits.patterns({"a": torch.zeros(4, 3)}, tokens=TOKENS, alt=ALT)


def test_slots_are_named_at_their_middle_and_divided_where_they_end(drawn: list[Figure]) -> None:
    """A slot of three features has its name at the second, and a line after the third."""
    PICTURES["slots"]()
    axis = drawn[0].axes[0]
    assert axis.get_xticks().tolist() == [1.0, 3.0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["token", "position"]
    assert [line.get_xdata()[0] for line in axis.lines] == [2.5]  # type: ignore[index]


def test_vectors_that_do_not_fit_the_slots_are_refused() -> None:
    """The sizes of the slots must sum to that of the vectors."""
    with pytest.raises(ValueError, match=r"the shape \(4, 3\), got \(4, 4\)"):
        circuits.slots({"a": torch.eye(4)}, sizes={"token": 3}, tokens=TOKENS, alt=ALT)
