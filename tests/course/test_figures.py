"""Pictures carry a description and show the numbers that they were given: nbval does not compare images."""

import io
import itertools
import math
import struct
import subprocess
import sys
from collections.abc import Callable

import matplotlib.image
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from course import circuits, data, figures, tiles
from tests.support.axe import contrast
from tests.support.waiting import HANGS

ALT = "A description of five words or more."
WORDS = list(data.TOKENS)
EYE = torch.eye(6)
P, Q = [0.4, 0.3, 0.1, 0.2], [0.5, 0.1, 0.3, 0.1]
FOUR = ["river", "bank", "tree", "boat"]
STEPS = [("one", [1.0, 1.0]), ("two", [0.25, 0.25, 1.0, 0.5])]
PICTURES: dict[str, Callable[[], figures.Picture]] = {
    "heatmap": lambda: figures.heatmap(EYE, rows=WORDS, columns=WORDS, alt=ALT),
    "heatmap of a model": lambda: figures.heatmap(EYE.clone().requires_grad_(), rows=WORDS, columns=WORDS, alt=ALT),
    "heatmaps": lambda: figures.heatmaps({"a": EYE, "b": EYE}, rows=WORDS, columns=WORDS, alt=ALT),
    "bars": lambda: figures.bars({"a": EYE[0], "b": EYE[1]}, names=WORDS, alt=ALT),
    "lines": lambda: figures.lines({"a": [1.0, 2.0], "b": [2.0, 1.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT),
    "arrows": lambda: figures.arrows({"river": [2.0, 0.0], "bank": [1.0, 1.0]}, alt=ALT),
    "boxes": lambda: figures.boxes({"a": [["river"], ["bank"]], "b": [["sat"], [""]]}, alt=ALT),
    "acceptance": lambda: circuits.acceptance(P, Q, names=FOUR, alt=ALT),
    "patterns": lambda: circuits.patterns({"a": torch.eye(4), "b": torch.eye(4)}, tokens=FOUR, marks=[(1, 0)], alt=ALT),
    "slots": lambda: circuits.slots({"a": torch.eye(4)}, sizes={"token": 3, "position": 1}, tokens=FOUR, alt=ALT),
    "growing bars": lambda: tiles.growing_bars(STEPS, names=WORDS, alt=ALT),
}
"""Draw a picture of each kind, by the name of the function. Nothing is drawn while tests are collected."""


@pytest.fixture
def as_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that draw return matplotlib's figure."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)


undrawn = pytest.mark.usefixtures("as_figures")


def darkness(picture: figures.Picture) -> torch.Tensor:
    """Return the grey values of a picture from 0 (white) to 1 (black), (height, width)."""
    return 1 - torch.tensor(matplotlib.image.imread(io.BytesIO(picture.png), format="png")[..., 0])


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_carries_its_description(name: str) -> None:
    """As HTML it is an image with alt text; as text it is the alt text."""
    picture = PICTURES[name]()
    assert f'alt="{ALT}"' in picture._repr_html_()
    assert repr(picture) == f"Picture: {ALT}"
    assert picture.png.startswith(b"\x89PNG") and min(struct.unpack(">II", picture.png[16:24])) > 100


def test_a_description_cannot_break_out_of_its_attribute() -> None:
    """Quotes and angle brackets in alt text are escaped."""
    html = figures.bars({"a": [1.0]}, names=["x"], alt='says "a < b" twice')._repr_html_()
    assert 'alt="says &quot;a &lt; b&quot; twice"' in html


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.bars({"a": [1.0]}, names=["x"], alt=" "), "needs alt text"),
        (lambda: tiles.growing_bars(STEPS, names=WORDS, alt=" "), "alt text"),
        (lambda: figures.heatmap(torch.zeros(6, 5), rows=WORDS, columns=WORDS, alt=ALT), r"expected shape \(6, 6\)"),
        (lambda: figures.heatmap(torch.zeros(5, 6), rows=WORDS, columns=WORDS, alt=ALT), r"expected shape \(6, 6\)"),
        (lambda: figures.heatmap(torch.zeros(6), rows=WORDS, columns=WORDS, alt=ALT), r"expected shape \(6, 6\)"),
        (
            lambda: figures.lines({"a": [1.0, 2.0, 3.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT),
            "expected 2, got 3",
        ),
        (
            lambda: circuits.acceptance(P, Q[:3], names=FOUR, alt=ALT),
            "expected 4 probabilities of each model, got 4 and 3",
        ),
        (
            lambda: circuits.patterns({"a": torch.zeros(4, 3)}, tokens=FOUR, alt=ALT),
            r"each pair of 4 tokens, got \(4, 3\)",
        ),
        (
            lambda: circuits.slots({"a": torch.eye(4)}, sizes={"token": 3}, tokens=FOUR, alt=ALT),
            r"the shape \(4, 3\), got \(4, 4\)",
        ),
        (lambda: tiles.growing_bars([("", [1.0] * 7)], names=WORDS, alt=ALT), "expected up to 6, got 7"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], figures.Picture], message: str) -> None:
    """A blank description, and numbers that do not fit the names; the error gives what was expected."""
    with pytest.raises(ValueError, match=message):
        draw()


@undrawn
def test_heights_can_be_compared_if_the_axis_begins_at_0() -> None:
    """Otherwise the vertical axis begins near the smallest number."""
    for from_zero in (True, False):
        figure = figures.lines({"a": [9.0, 8.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT, from_zero=from_zero)
        assert (figure.axes[0].get_ylim()[0] == 0) == from_zero


@undrawn
def test_the_outer_edges_of_boxes_are_drawn_in_full() -> None:
    """A line on the limit of an axis is cut in half or lost if it is clipped."""
    figure = figures.boxes({"a": [["river"], ["bank"]]}, alt=ALT)
    assert [patch.get_clip_on() for patch in figure.axes[0].patches] == [False, False]


@undrawn
def test_the_axis_names_the_ticks_that_are_given() -> None:
    """On a logarithmic axis as well, with commas in thousands and without ticks between them."""
    x = [1, 32, 1024]
    figure = figures.lines({"a": [1.0, 2.0, 3.0]}, x=x, xlabel="x", ylabel="y", alt=ALT, log_x=True, ticks=x)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1", "32", "1,024"]
    assert not len(figure.axes[0].get_xticks(minor=True))


@undrawn
def test_a_curve_behind_another_is_wider_than_it() -> None:
    """Where the two coincide, both are seen."""
    curves = {"a": [1.0, 1.0], "b": [1.0, 1.0]}
    figure = figures.lines(curves, x=[0, 1], xlabel="x", ylabel="y", alt=ALT, behind=["a"])
    wide, narrow = figure.axes[0].get_lines()
    assert wide.get_linewidth() > 2 * narrow.get_linewidth() and wide.get_zorder() < narrow.get_zorder()


def test_large_weights_are_dark_and_at_their_place() -> None:
    """The only dark field of a heatmap is at its row and column, not at the transposed place."""
    names = [" "] * 13  # too many columns for numbers in the fields
    weights = torch.zeros(13, 13)
    weights[1, 10] = 1.0
    dark = darkness(figures.heatmap(weights, rows=names, columns=names, alt=ALT, row_label="", column_label=""))
    rows, columns = torch.nonzero(dark > 0.9, as_tuple=True)
    field = dark[rows.min() : rows.max(), columns.min() : columns.max()]
    block = torch.nonzero(torch.nn.functional.avg_pool2d((dark > 0.9).float()[None, None], 15, 1)[0, 0] > 0.99)
    assert block[:, 0].float().mean() < 0.3 * field.shape[0]
    assert block[:, 1].float().mean() > 0.6 * field.shape[1]


@undrawn
def test_every_number_of_a_heatmap_can_be_read() -> None:
    """The contrast between a number and its field is at least 4.5 to 1 (WCAG 2.2, 1.4.3), whatever the weight."""
    weights = torch.linspace(0, 1, 1200).view(100, 12)
    names = [str(number) for number in range(100)]
    axis = figures.heatmap(weights, rows=names, columns=names[:12], alt=ALT).axes[0]
    fields = axis.images[0].cmap(weights.flatten().numpy())
    for text, field in zip(axis.texts, fields, strict=True):
        assert contrast(to_hex(text.get_color()), to_hex(field[:3])) >= 4.5, text.get_text()


def test_index_lookup_returns_the_symbol_at_the_index() -> None:
    """The answer to each row is the symbol at the place given; the same seed gives the same rows."""
    draw = lambda: data.index_lookup(50, length=7, n_symbols=4, generator=torch.Generator().manual_seed(1))  # noqa: E731
    symbols, index, answer = draw()
    assert symbols.shape == (50, 7) and symbols.min() >= 0 and symbols.max() == 3 and index.max() == 6
    assert all(symbols[row, index[row]] == answer[row] for row in range(50))
    assert all(torch.equal(one, two) for one, two in zip(draw(), (symbols, index, answer), strict=True))


@undrawn
def test_names_of_arrows_do_not_overlap() -> None:
    """Seven hands of a clock, in all directions, have seven names, and no name covers another."""
    hands = {f"place {place}": [math.sin(place), math.cos(place)] for place in range(7)}
    figure = figures.arrows(hands, alt=ALT)
    figure.canvas.draw()
    names = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(names) == 7
    assert not any(one.overlaps(other) for one, other in itertools.combinations(names, 2))


@undrawn
def test_solid_and_striped_parts_are_q_and_solid_and_dotted_parts_are_p() -> None:
    """The bars of a token are the smaller probability and, above it, what is left of the larger one."""
    heights: dict[str | None, list[float]] = {}
    for bar in PICTURES["acceptance"]().axes[0].patches:
        assert isinstance(bar, Rectangle)
        heights.setdefault(bar.get_hatch(), []).append(bar.get_height())
    for hatch, probabilities in (("////", Q), ("...", P)):
        sums = [solid + above for solid, above in zip(heights[None], heights[hatch], strict=True)]
        assert sums == pytest.approx(probabilities)


@undrawn
def test_a_row_of_a_pattern_is_a_query_and_a_column_a_key() -> None:
    """A mark (row, column) is drawn at x = column and y = row, in every pattern."""
    axes = PICTURES["patterns"]().axes
    assert [axis.collections[0].get_offsets().tolist() for axis in axes] == [[[0.0, 1.0]]] * len(axes)
    assert [axis.get_xlabel() for axis in axes] == ["key"] * len(axes) and axes[0].get_ylabel() == "query"


@undrawn
def test_slots_are_named_at_their_middle_and_divided_where_they_end() -> None:
    """A slot of three features has its name at the second, and a line after the third."""
    axis = PICTURES["slots"]().axes[0]
    assert axis.get_xticks().tolist() == [1.0, 3.0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["token", "position"]
    assert [line.get_xdata()[0] for line in axis.lines] == [2.5]


@pytest.mark.slow
def test_a_bar_is_drawn_for_each_height() -> None:
    """More heights leave more ink, and bars that a step adds are darker: they differ without colour."""
    few, many = (tiles.growing_bars([step], names=WORDS, alt=ALT) for step in STEPS)
    taller = tiles.growing_bars([("two", [1.0, 1.0, 1.0, 0.5])], names=WORDS, alt=ALT)
    assert few.alt == many.alt == ALT
    assert darkness(taller).sum() > darkness(many).sum()
    old = [("one", [1.0, 1.0]), ("the same", [1.0, 1.0])]
    came = [("one", []), ("the same", [1.0, 1.0])]
    first, second = (darkness(tiles.growing_bars(steps, names=WORDS, alt=ALT)) for steps in (old, came))
    half = first.shape[1] // 2
    assert second[:, half:].sum() > first[:, half:].sum()


@pytest.mark.slow
def test_two_steps_stand_side_by_side() -> None:
    """Four are no wider than two, so that a phone can show them; a row that is not full ends empty."""
    one, two, three, four = (darkness(tiles.growing_bars((STEPS * 2)[:n], names=WORDS, alt=ALT)) for n in range(1, 5))
    assert two.shape[1] > 1.5 * one.shape[1] and abs(two.shape[0] - one.shape[0]) < 10
    assert abs(four.shape[1] - two.shape[1]) < 10 and four.shape[0] > 1.5 * two.shape[0]
    assert abs(three.shape[1] - two.shape[1]) < 10 and three.sum() < four.sum()


@pytest.mark.slow
def test_a_notebook_computes_in_one_thread() -> None:
    """On tensors as small as the course's, threads would wait for each other; the notebooks import torch first."""
    code = "import torch; torch.set_num_threads(2); from course import figures; print(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANGS)
    assert done.stdout == "1\n"
