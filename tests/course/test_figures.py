"""Pictures carry a description and show the numbers that they were given: nbval does not compare images."""

import itertools
import math
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable

import pytest
import torch
from matplotlib.colors import to_rgb

from course import data, figures
from tests.support.pictures import ALT, WORDS, darkness
from tests.support.waiting import HANGS


def size(picture: figures.Picture) -> tuple[int, int]:
    """Return width and height of a PNG, from its header."""
    return struct.unpack(">II", picture.png[16:24])


EYE = torch.eye(6)
PICTURES: dict[str, Callable[[], figures.Picture]] = {
    "heatmap": lambda: figures.heatmap(EYE, rows=WORDS, columns=WORDS, alt=ALT),
    "heatmaps": lambda: figures.heatmaps({"a": EYE, "b": EYE}, rows=WORDS, columns=WORDS, alt=ALT),
    "bars": lambda: figures.bars({"a": EYE[0], "b": EYE[1]}, names=WORDS, alt=ALT),
    "lines": lambda: figures.lines({"a": [1.0, 2.0], "b": [2.0, 1.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT),
    "arrows": lambda: figures.arrows({"river": [2.0, 0.0], "bank": [1.0, 1.0]}, alt=ALT),
    "boxes": lambda: figures.boxes({"a": [["river"], ["bank"]], "b": [["sat"], [""]]}, alt=ALT),
}
"""Draw a picture of each kind, by the name of the function. Nothing is drawn while tests are collected."""


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_carries_its_description(name: str) -> None:
    """As HTML it is an image with alt text; as text it is the alt text."""
    picture = PICTURES[name]()
    assert f'alt="{ALT}"' in picture._repr_html_()
    assert repr(picture) == f"Picture: {ALT}"
    assert picture.png.startswith(b"\x89PNG") and min(size(picture)) > 100


def test_a_description_cannot_break_out_of_its_attribute() -> None:
    """Quotes and angle brackets in alt text are escaped."""
    html = figures.bars({"a": [1.0]}, names=["x"], alt='says "a < b" twice')._repr_html_()
    assert 'alt="says &quot;a &lt; b&quot; twice"' in html


def test_a_picture_without_a_description_is_refused() -> None:
    """Every picture has alt text, which must not be blank."""
    with pytest.raises(ValueError, match="needs alt text"):
        figures.bars({"a": [1.0]}, names=["x"], alt=" ")


@pytest.mark.parametrize("shape", [(6, 5), (5, 6), (6,)])
def test_weights_that_do_not_fit_the_names_are_refused(shape: tuple[int, ...]) -> None:
    """A heatmap needs one weight for each row and column; the error gives the expected shape."""
    with pytest.raises(ValueError, match=r"expected shape \(6, 6\)"):
        figures.heatmap(torch.zeros(shape), rows=WORDS, columns=WORDS, alt=ALT)


def test_a_curve_of_the_wrong_length_is_refused() -> None:
    """A curve needs one number for each position on the x axis; the error gives both lengths."""
    with pytest.raises(ValueError, match="expected 2, got 3"):
        figures.lines({"a": [1.0, 2.0, 3.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT)


def test_heights_can_be_compared_if_the_axis_begins_at_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the vertical axis begins near the smallest number."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
    for from_zero in (True, False):
        figure = figures.lines({"a": [9.0, 8.0]}, x=[0, 1], xlabel="x", ylabel="y", alt=ALT, from_zero=from_zero)
        assert (figure.axes[0].get_ylim()[0] == 0) == from_zero


def test_the_outer_edges_of_boxes_are_drawn_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line on the limit of an axis is cut in half or lost if it is clipped."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
    figure = figures.boxes({"a": [["river"], ["bank"]]}, alt=ALT)
    assert [patch.get_clip_on() for patch in figure.axes[0].patches] == [False, False]


def test_the_axis_names_the_ticks_that_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a logarithmic axis as well, with commas in thousands and without ticks between them."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
    x = [1, 32, 1024]
    figure = figures.lines({"a": [1.0, 2.0, 3.0]}, x=x, xlabel="x", ylabel="y", alt=ALT, log_x=True, ticks=x)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1", "32", "1,024"]
    assert not len(figure.axes[0].get_xticks(minor=True))


def test_a_curve_behind_another_is_wider_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the two coincide, both are seen."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
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


def test_every_number_of_a_heatmap_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contrast between a number and its field is at least 4.5 to 1 (WCAG 2.2, 1.4.3), whatever the weight."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
    weights = torch.linspace(0, 1, 1200).view(100, 12)
    names = [str(number) for number in range(100)]
    axis = figures.heatmap(weights, rows=names, columns=names[:12], alt=ALT).axes[0]
    fields = axis.images[0].cmap(weights.flatten().numpy())
    for text, field in zip(axis.texts, fields, strict=True):
        darker, lighter = sorted(map(luminance, (to_rgb(text.get_color()), field[:3])))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, text.get_text()


def luminance(colour: Iterable[float]) -> float:
    """Return the relative luminance of a colour in sRGB, as WCAG 2.2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_tensor_that_requires_a_gradient_can_be_drawn() -> None:
    """Weights come straight from a model."""
    weights = torch.eye(6, requires_grad=True)
    assert figures.heatmap(weights, rows=WORDS, columns=WORDS, alt=ALT).png


def test_index_lookup_returns_the_symbol_at_the_index() -> None:
    """The answer to each row is the symbol at the place given; the same seed gives the same rows."""
    draw = lambda: data.index_lookup(50, length=7, n_symbols=4, generator=torch.Generator().manual_seed(1))  # noqa: E731
    symbols, index, answer = draw()
    assert symbols.shape == (50, 7) and symbols.min() >= 0 and symbols.max() == 3 and index.max() == 6
    assert all(symbols[row, index[row]] == answer[row] for row in range(50))
    assert all(torch.equal(one, two) for one, two in zip(draw(), (symbols, index, answer), strict=True))


def test_names_of_arrows_do_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven hands of a clock, in all directions, have seven names, and no name covers another."""
    monkeypatch.setattr(figures, "picture", lambda figure, alt: figure)
    hands = {f"place {place}": [math.sin(place), math.cos(place)] for place in range(7)}
    figure = figures.arrows(hands, alt=ALT)
    figure.canvas.draw()
    names = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(names) == 7
    assert not any(one.overlaps(other) for one, other in itertools.combinations(names, 2))


@pytest.mark.slow
def test_a_notebook_computes_in_one_thread() -> None:
    """On tensors as small as the course's, threads would wait for each other; the notebooks import torch first."""
    code = "import torch; torch.set_num_threads(2); from course import figures; print(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANGS)
    assert done.stdout == "1\n"
