"""Draws how a softmax grows tile by tile.

    a title and the bars so far, for each step  ->  one chart for each step  ->  Picture (PNG and alt text)

Like `figures`, it draws what it is given and computes nothing about attention.
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from course.figures import Picture, picture

OLD: dict[str, Any] = {"color": "#d0d0d0", "edgecolor": "black"}
NEW: dict[str, Any] = {"color": "#8a8a8a", "edgecolor": "black", "hatch": "///"}


def growing_bars(steps: Sequence[tuple[str, Sequence[float]]], *, names: Sequence[str], alt: str) -> Picture:
    """Draw a chart for each step, side by side; bars that it adds are dark and hatched, and each shows its number.

    Args:
        steps: for each, its title and the heights so far, one for each of the first names.
        names: the names of all bars. Those without a height stay empty.
        alt: what a person sees, in words.

    Raises:
        ValueError: a step has more heights than there are names.
    """
    figure = Figure(figsize=(2.6 * len(steps), 2.5), layout="constrained")
    before = 0
    axes = figure.subplots(1, len(steps), sharey=True, squeeze=False)[0]
    for axis, (title, heights) in zip(axes, steps, strict=True):
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
    return picture(figure, alt)
