"""Draws the pictures of the course: every function takes numbers and a description in words, and returns a Picture.

    numbers, alt  ->  one matplotlib Figure (no pyplot, no global state)  ->  Picture (PNG and alt text)

A picture can be read without colour: grey fields show their number, lines differ in dash and marker, bars in hatching.
Functions draw what they are given and compute nothing about attention. Interactive pictures are in `widgets/`.
"""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

DOTS_PER_INCH = 110
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "x")
HATCHES = ("", "///", "...", "xxx", "\\\\\\")
GREYS = ("#1a1a1a", "#5a5a5a", "#8a8a8a", "#b5b5b5")
BEHIND: dict[str, Any] = {"color": "#d0d0d0", "linewidth": 12, "zorder": 1}
DARK = 0.615
"""The fraction of a heatmap's range above which a number in white has more contrast than one in black."""

Numbers = torch.Tensor | Sequence[float]


@dataclass(frozen=True)
class Picture:
    """An image with its description: a notebook shows it, a screen reader reads it, and a test compares it."""

    png: bytes
    alt: str

    def _repr_html_(self) -> str:
        # An image/png output would lose the alt text, because neither JupyterLab nor nbconvert has a place for it.
        data = base64.b64encode(self.png).decode()
        return f'<img alt="{html.escape(self.alt, quote=True)}" src="data:image/png;base64,{data}">'

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"


def picture(figure: Figure, alt: str) -> Picture:
    """Return a figure as a Picture.

    Args:
        figure: what to draw.
        alt: what a person sees there, in one or two sentences.

    Raises:
        ValueError: `alt` is empty.
    """
    if not alt.strip():
        raise ValueError("a picture needs alt text: say in a sentence what a reader sees in it")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight")
    return Picture(buffer.getvalue(), alt)


def heatmap(
    weights: Numbers,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    title: str = "",
    row_label: str = "query",
    column_label: str = "key",
) -> Picture:
    """Draw one matrix of weights in [0, 1]; dark is large.

    Args:
        weights: the matrix, shape (len(rows), len(columns)).
        rows: the names of the rows.
        columns: the names of the columns.
        alt: what a person sees, in words.
        title: the title above the matrix.
        row_label: what the rows are.
        column_label: what the columns are.

    Raises:
        ValueError: the matrix has another shape.
    """
    return heatmaps(
        {title: weights}, rows=rows, columns=columns, alt=alt, row_label=row_label, column_label=column_label
    )


def heatmaps(
    weights: Mapping[str, Numbers],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    row_label: str = "query",
    column_label: str = "key",
    limits: tuple[float, float] = (0.0, 1.0),
) -> Picture:
    """Draw several matrices side by side, with the same names of rows and columns; dark is large.

    Args:
        weights: the matrices by title, each of shape (len(rows), len(columns)).
        rows: the names of the rows.
        columns: the names of the columns.
        alt: what a person sees, in words.
        row_label: what the rows are.
        column_label: what the columns are.
        limits: the numbers that are white and black.

    Raises:
        ValueError: a matrix has another shape.
    """
    width = max(2.2, 0.5 * len(columns) + 1.0)
    height = max(1.2, 0.42 * len(rows) + 1.2)
    figure = Figure(figsize=(width * len(weights), height), layout="constrained")
    axes = figure.subplots(1, len(weights), squeeze=False)[0]
    for position, (axis, (title, values)) in enumerate(zip(axes, weights.items(), strict=True)):
        _draw_heatmap(axis, _matrix(values, len(rows), len(columns)), title, limits)
        axis.set_xticks(range(len(columns)), columns, rotation=45 if _are_long(columns) else 0)
        axis.set_yticks(range(len(rows)), rows if position == 0 else [""] * len(rows))
        axis.set_xlabel(column_label)
        axis.set_ylabel(row_label if position == 0 else "")
    return picture(figure, alt)


def bars(
    heights: Mapping[str, Numbers], *, names: Sequence[str], alt: str, ylabel: str = "weight", title: str = ""
) -> Picture:
    """Draw a group of bars for each name, with a bar in it for each entry of `heights`; they differ in hatching.

    Args:
        heights: one number for each name, by the label of the bars.
        names: the names of the groups.
        alt: what a person sees, in words.
        ylabel: what the heights are.
        title: the title above the bars.

    Raises:
        ValueError: there is not one number for each name.
    """
    figure = Figure(figsize=(max(4.0, 0.9 * len(names)), 2.8), layout="constrained")
    axis = figure.subplots()
    width = 0.8 / len(heights)
    for index, (label, values) in enumerate(heights.items()):
        places = [place - 0.4 + width * (index + 0.5) for place in range(len(names))]
        grey, hatch = GREYS[-1 - index % len(GREYS)], HATCHES[index % len(HATCHES)]
        style: dict[str, Any] = {"color": grey, "edgecolor": "black", "hatch": hatch}
        axis.bar(places, _vector(values, len(names)), width, label=label, **style)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel(ylabel)
    axis.set_title(title, fontsize=10)
    if len(heights) > 1:
        # The legend is above the axes, where it covers no bar.
        figure.legend(loc="outside upper center", ncols=len(heights), frameon=False, fontsize=9)
    _bare(axis)
    return picture(figure, alt)


def lines(
    curves: Mapping[str, Numbers],
    *,
    x: Numbers,
    xlabel: str,
    ylabel: str,
    alt: str,
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
    from_zero: bool = False,
    ticks: Sequence[float] = (),
    behind: Sequence[str] = (),
) -> Picture:
    """Draw a line for each entry of `curves`; they differ in dash and marker, and a legend names them.

    Args:
        curves: one number for each number in `x`, by the name of the line.
        x: the numbers on the horizontal axis.
        xlabel: what these are.
        ylabel: what the numbers of the curves are.
        alt: what a person sees, in words.
        title: the title above the lines.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is logarithmic.
        from_zero: whether the vertical axis begins at 0, so that heights can be compared.
        ticks: the numbers that the horizontal axis names, such as powers of two; none: matplotlib chooses them.
        behind: curves that are drawn wide and light, so that one that coincides with another is seen behind it.

    Raises:
        ValueError: a curve and `x` have different lengths.
    """
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axis = figure.subplots()
    at = _vector(x)
    for index, (label, values) in enumerate(curves.items()):
        own: dict[str, Any] = {
            "color": GREYS[index % 3],
            "linestyle": DASHES[index % len(DASHES)],
            "marker": MARKERS[index % len(MARKERS)],
            "markevery": max(1, len(at) // 12),
        }
        axis.plot(at, _vector(values, len(at)), label=label, **(BEHIND if label in behind else own))
    axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
    if from_zero:
        axis.set_ylim(bottom=0)
    axis.set_title(title, fontsize=10)
    if not log_x and all(float(place).is_integer() for place in at):
        # Whole numbers count layers or steps, so the axis shows no halves.
        axis.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    if len(ticks):
        axis.set_xticks(ticks, [f"{tick:,.10g}" for tick in ticks])
        axis.set_xticks([], minor=True)
    if len(curves) > 1:
        axis.legend(frameon=False, fontsize=9)
    _bare(axis)
    return picture(figure, alt)


def arrows(vectors: Mapping[str, Numbers], *, alt: str, title: str = "", strong: Sequence[str] = ()) -> Picture:
    """Draw named vectors of two numbers as arrows from the origin.

    Args:
        vectors: the vectors by name.
        alt: what a person sees, in words.
        title: the title above the arrows.
        strong: the names of the vectors that are drawn thick.

    Raises:
        ValueError: a vector does not have two numbers.
    """
    figure = Figure(figsize=(3.6, 3.6), layout="constrained")
    axis = figure.subplots()
    points = {name: _vector(value, 2) for name, value in vectors.items()}
    reach = 1.25 * max([1.0, *(abs(number) for point in points.values() for number in point)])
    for name, (right, up) in points.items():
        style: dict[str, Any] = {
            "arrowstyle": "-|>",
            "lw": 2.6 if name in strong else 1.1,
            "color": "black",
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axis.annotate("", (right, up), (0, 0), arrowprops=style)
        # Names are beyond the tip, where no arrow passes, and never centred over an arrow that points straight up.
        place: dict[str, Any] = {
            "xytext": (4 if right >= 0 else 0, 4 if up >= 0 else -4),
            "textcoords": "offset points",
        }
        sides: dict[str, Any] = {"ha": "left" if right >= 0 else "center", "va": "baseline" if up >= 0 else "top"}
        axis.annotate(name, (right, up), **place, **sides, fontsize=10)
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axis.axhline(0, color="#c0c0c0", lw=0.8, zorder=0)
    axis.axvline(0, color="#c0c0c0", lw=0.8, zorder=0)
    axis.set_title(title, fontsize=10)
    _bare(axis)
    return picture(figure, alt)


def boxes(grids: Mapping[str, Sequence[Sequence[str]]], *, alt: str) -> Picture:
    """Draw grids of words side by side, with a row for each sentence; an empty word is padding and is hatched.

    Args:
        grids: the rows of words by title.
        alt: what a person sees, in words.
    """
    columns = [max(map(len, rows)) for rows in grids.values()]
    height = 0.45 * max(map(len, grids.values())) + 0.5
    figure = Figure(figsize=(0.62 * sum(columns) + 0.3, height), layout="constrained")
    axes = figure.subplots(1, len(grids), squeeze=False, width_ratios=columns)[0]
    for axis, width, (title, rows) in zip(axes, columns, grids.items(), strict=True):
        for down, row in enumerate(rows):
            for right, word in enumerate(row):
                style: dict[str, Any] = {"facecolor": "white"} if word else {"facecolor": "#e4e4e4", "hatch": "////"}
                axis.add_patch(Rectangle((right, down), 1, 1, edgecolor="#5a5a5a", lw=0.8, clip_on=False, **style))
                axis.text(right + 0.5, down + 0.5, word, ha="center", va="center", fontsize=8)
        axis.set(xlim=(0, width), ylim=(len(rows), 0))
        axis.set_title(title, fontsize=10)
        axis.axis("off")
    return picture(figure, alt)


def _draw_heatmap(axis: Axes, values: list[list[float]], title: str, limits: tuple[float, float]) -> None:
    low, high = limits
    axis.imshow(values, cmap="Greys", vmin=low, vmax=high, aspect="auto")
    axis.set_title(title, fontsize=10)
    if len(values[0]) <= 12:
        for row, numbers in enumerate(values):
            for column, number in enumerate(numbers):
                ink = "white" if number > low + DARK * (high - low) else "black"
                axis.text(column, row, f"{number:.2f}", ha="center", va="center", color=ink, fontsize=8)


def _are_long(names: Sequence[str]) -> bool:
    return max(map(len, names)) > 5


def _bare(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)


def _vector(values: Numbers, length: int | None = None) -> list[float]:
    numbers = torch.as_tensor(values, dtype=torch.float64).detach().flatten().tolist()
    if length is not None and len(numbers) != length:
        raise ValueError(f"one number for each position: expected {length}, got {len(numbers)}")
    return numbers


def _matrix(values: Numbers, rows: int, columns: int) -> list[list[float]]:
    matrix = torch.as_tensor(values, dtype=torch.float64).detach()
    if tuple(matrix.shape) != (rows, columns):
        raise ValueError(
            f"one weight for each row and column: expected shape ({rows}, {columns}), got {tuple(matrix.shape)}"
        )
    return matrix.tolist()
