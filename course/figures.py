"""The pictures of the course. Every function takes numbers and a description in words, and returns a Picture.

    numbers, alt  ->  one matplotlib Figure (no pyplot, no global state)  ->  Picture (PNG and alt text)

A picture reads without colour: grey values carry their number, lines differ in dash and marker, bars in
hatching. A function draws what it is given and computes nothing about attention; `explorer.py` moves things.
"""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

Numbers = torch.Tensor | Sequence[float]


@dataclass(frozen=True)
class Picture:
    """An image that carries its description: what a notebook shows, a screen reader reads and a test compares."""

    png: bytes
    alt: str

    def _repr_html_(self) -> str:
        # An image/png output would lose the alt text: neither JupyterLab nor nbconvert has a place for it.
        data = base64.b64encode(self.png).decode()
        return f'<img alt="{html.escape(self.alt, quote=True)}" src="data:image/png;base64,{data}">'

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"


def picture(figure: Figure, alt: str) -> Picture:
    """`figure` as a Picture; `alt` says in one or two sentences what a person sees there."""
    if not alt.strip():
        raise ValueError("a picture needs alt text: say in a sentence what a reader sees who looks at it")
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
    """One matrix of weights in [0, 1], shape (len(rows), len(columns)); dark is large."""
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
    """Several matrices side by side under their titles, with the same names; `limits` are white and black."""
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
    """One group of bars for each name, one bar in it for each entry of `heights`, told apart by hatching."""
    figure = Figure(figsize=(max(4.0, 0.9 * len(names)), 2.8), layout="constrained")
    axis = figure.subplots()
    width = 0.8 / len(heights)
    for index, (label, values) in enumerate(heights.items()):
        places = [place - 0.4 + width * (index + 0.5) for place in range(len(names))]
        style = {"color": GREYS[-1 - index % len(GREYS)], "edgecolor": "black", "hatch": HATCHES[index % len(HATCHES)]}
        axis.bar(places, _vector(values, len(names)), width, label=label, **style)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel(ylabel)
    axis.set_title(title, fontsize=10)
    if len(heights) > 1:
        # Above the axes, where no bar is.
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
) -> Picture:
    """One line for each entry of `curves` over the same `x`, told apart by dash and marker, named in a legend."""
    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axis = figure.subplots()
    at = _vector(x)
    for index, (label, values) in enumerate(curves.items()):
        axis.plot(
            at,
            _vector(values, len(at)),
            color=GREYS[index % 3],
            linestyle=DASHES[index % len(DASHES)],
            marker=MARKERS[index % len(MARKERS)],
            markevery=max(1, len(at) // 12),
            label=label,
        )
    axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
    axis.set_title(title, fontsize=10)
    if not log_x and all(float(place).is_integer() for place in at):
        # There is no half layer and no half step.
        axis.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    if len(curves) > 1:
        axis.legend(frameon=False, fontsize=9)
    _bare(axis)
    return picture(figure, alt)


def arrows(vectors: Mapping[str, Numbers], *, alt: str, title: str = "", strong: Sequence[str] = ()) -> Picture:
    """Named vectors of two numbers, drawn from the origin; the names in `strong` are drawn thick."""
    figure = Figure(figsize=(3.6, 3.6), layout="constrained")
    axis = figure.subplots()
    points = {name: _vector(value, 2) for name, value in vectors.items()}
    reach = 1.25 * max([1.0, *(abs(number) for point in points.values() for number in point)])
    for name, (right, up) in points.items():
        style = {
            "arrowstyle": "-|>",
            "lw": 2.6 if name in strong else 1.1,
            "color": "black",
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axis.annotate("", (right, up), (0, 0), arrowprops=style)
        # Beyond the tip, where no arrow passes; never centred over an arrow that points straight up.
        place = {"xytext": (4 if right >= 0 else 0, 4 if up >= 0 else -4), "textcoords": "offset points"}
        sides = {"ha": "left" if right >= 0 else "center", "va": "baseline" if up >= 0 else "top"}
        axis.annotate(name, (right, up), **place, **sides, fontsize=10)
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axis.axhline(0, color="#c0c0c0", lw=0.8, zorder=0)
    axis.axvline(0, color="#c0c0c0", lw=0.8, zorder=0)
    axis.set_title(title, fontsize=10)
    _bare(axis)
    return picture(figure, alt)


def boxes(grids: Mapping[str, Sequence[Sequence[str]]], *, alt: str) -> Picture:
    """Grids of words side by side under their titles, a row for each sentence; an empty word is padding, hatched."""
    columns = [max(map(len, rows)) for rows in grids.values()]
    height = 0.45 * max(map(len, grids.values())) + 0.5
    figure = Figure(figsize=(0.62 * sum(columns) + 0.3, height), layout="constrained")
    axes = figure.subplots(1, len(grids), squeeze=False, width_ratios=columns)[0]
    for axis, width, (title, rows) in zip(axes, columns, grids.items(), strict=True):
        for down, row in enumerate(rows):
            for right, word in enumerate(row):
                style = {"facecolor": "white"} if word else {"facecolor": "#e4e4e4", "hatch": "////"}
                axis.add_patch(Rectangle((right, down), 1, 1, edgecolor="#5a5a5a", lw=0.8, **style))
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
                ink = "white" if number > (low + high) / 2 else "black"
                axis.text(column, row, f"{number:.2f}", ha="center", va="center", color=ink, fontsize=8)


def _are_long(names: Sequence[str]) -> bool:
    return max(map(len, names)) > 5


def _bare(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)


def _vector(values: Numbers, length: int | None = None) -> list[float]:
    numbers = torch.as_tensor(values, dtype=torch.float64).detach().flatten().tolist()
    if length is not None and len(numbers) != length:
        raise ValueError(f"one number for each place: expected {length}, got {len(numbers)}")
    return numbers


def _matrix(values: Numbers, rows: int, columns: int) -> list[list[float]]:
    matrix = torch.as_tensor(values, dtype=torch.float64).detach()
    if tuple(matrix.shape) != (rows, columns):
        raise ValueError(
            f"one weight for each row and column: expected shape ({rows}, {columns}), got {tuple(matrix.shape)}"
        )
    return matrix.tolist()
