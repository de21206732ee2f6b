"""Draws how a softmax grows tile by tile.

    a title and the bars so far, for each step  ->  one chart for each step  ->  Picture (PNG and alt text)

Like `figures`, it draws what it is given and computes nothing about attention.
"""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from course.figures import Picture, picture

OLD: dict[str, Any] = {"color": "#d0d0d0", "edgecolor": "black"}
NEW: dict[str, Any] = {"color": "#8a8a8a", "edgecolor": "black", "hatch": "///"}


def growing_bars(steps: Sequence[tuple[str, Sequence[float]]], *, names: Sequence[str], alt: str) -> Picture:
    """Draw a chart for each step, two in a row; bars that it adds are dark and hatched, and each shows its number.

    Args:
        steps: for each, its title and the heights so far, one for each of the first names.
        names: the names of all bars. Those without a height stay empty.
        alt: what a person sees, in words.

    Raises:
        ValueError: a step has more heights than there are names.
    """
    columns = min(2, len(steps))
    rows = math.ceil(len(steps) / columns)
    figure = Figure(figsize=(2.8 * columns, 2.4 * rows), layout="constrained")
    before = 0
    axes = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for axis, (title, heights) in zip(axes, steps, strict=False):
        if len(heights) > len(names):
            raise ValueError(f"a height for each name at most: expected up to {len(names)}, got {len(heights)}")
        for place, height in enumerate(heights):
            axis.bar(place, height, 0.8, **(OLD if place < before else NEW))
            axis.text(place, height + 0.03, f"{height:.2g}", ha="center", fontsize=8)
        axis.set_xticks(range(len(names)), names, rotation=90, fontsize=9)
        axis.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 1.15))
        axis.set_title(title, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        before = len(heights)
    for axis in axes[len(steps) :]:
        axis.remove()
    return picture(figure, alt)
