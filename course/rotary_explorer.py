"""Lets a reader move a query and a key through a text, and watch how rotary position embedding rotates them.

    apply_rotary, two positions  ->  the arrows of two pairs of features, and the score  ->  Picture

Where widgets do not run, it shows a still picture.
"""

import math
from collections.abc import Callable

import ipywidgets
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course import figures
from course.explorer import Explorer

ApplyRotary = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]

BASE = 100.0
"""In 4 dimensions it rotates the pairs by 1 and by 0.1 radians per position: both can be seen to move."""
PAIRS = ("fast pair", "slow pair")
POSITIONS = 13


class RotaryExplorer(Explorer):
    """Sliders for the positions of a query and a key of two pairs of features, each of which starts as (1, 0).

    In a notebook it displays its picture with the sliders; where widgets do not run, only the picture.
    """

    def __init__(self, apply_rotary: ApplyRotary, *, query: int, key: int) -> None:
        """Make the sliders.

        Args:
            apply_rotary: rotates vectors (..., L, D) by their positions (L,), for a base.
            query: the query's initial position, 0 to 12.
            key: the key's initial position, 0 to 12.
        """
        self.apply_rotary = apply_rotary
        self.query, self.key = (
            ipywidgets.IntSlider(position, min=0, max=POSITIONS - 1, description=f"{name} at")
            for name, position in (("query", query), ("key", key))
        )
        super().__init__(self.query, self.key)
        self._curve = self._score_by_distance()

    def arrows(self, position: float) -> list[list[float]]:
        """Return the rotated vector at a position: the two features of the fast pair, then those of the slow one."""
        vector, positions = torch.tensor([[1.0, 0.0, 1.0, 0.0]]), torch.tensor([position])
        rotated = self.apply_rotary(vector, positions, BASE)  # (L, D) = (1, 4)
        pairs: list[list[float]] = rotated.view(2, 2).tolist()
        return pairs

    def scores(self, query: float, key: float) -> list[float]:
        """Return the part of each pair in the score of a query and a key at these positions."""
        pairs = zip(self.arrows(query), self.arrows(key), strict=True)
        return [sum(a * b for a, b in zip(one, other, strict=True)) for one, other in pairs]

    def picture(self, query: int, key: int) -> figures.Picture:
        """Return a picture with the arrows of both pairs, and the score against the distance of query and key.

        Args:
            query: the query's position.
            key: the key's position.
        """
        scores = self.scores(query, key)
        figure = Figure(figsize=(8.6, 3.0), layout="constrained")
        *planes, chart = figure.subplots(1, 3, width_ratios=(1, 1, 1.3))
        for axis, name, q, k, score in zip(planes, PAIRS, self.arrows(query), self.arrows(key), scores, strict=True):
            _draw_pair(axis, q, k)
            axis.set_title(f"{name}: {score:.2f}", fontsize=10)
        distance = query - key
        chart.plot(*self._curve, color="#8a8a8a")
        chart.plot([distance], [sum(scores)], "o", color="black", markersize=9)
        chart.set(xlabel="query position \N{MINUS SIGN} key position", ylim=(-2.2, 2.2))
        chart.set_title(f"score: {sum(scores):.2f}", fontsize=10)
        chart.spines[["top", "right"]].set_visible(False)
        degrees = [round(math.degrees(distance / BASE ** (pair / 2))) for pair in range(2)]
        parts = ", ".join(
            f"the {name} {angle} degrees apart, {score:.2f}"
            for name, angle, score in zip(PAIRS, degrees, scores, strict=True)
        )
        return figures.picture(
            figure, f"A query at position {query} and a key at position {key}: {parts}. The score is {sum(scores):.2f}."
        )

    def _score_by_distance(self) -> tuple[list[float], list[float]]:
        """Compute a smooth curve, so including fractions of a position."""
        distances = [step / 4 for step in range(4 - 4 * POSITIONS, 4 * POSITIONS - 3)]
        return distances, [sum(self.scores(distance, 0)) for distance in distances]


def _draw_pair(axis: Axes, query: list[float], key: list[float]) -> None:
    """Draw the query thick and the key thin, on the circle that they move on; a dashed arrow shows where both start."""
    turn = [2 * math.pi * step / 60 for step in range(61)]
    axis.plot([math.cos(angle) for angle in turn], [math.sin(angle) for angle in turn], color="#d0d0d0", lw=0.8)
    axis.plot([0, 1], [0, 0], color="#8a8a8a", lw=0.9, ls="--")
    # The names are beyond the tips, and a little apart from each other where the arrows meet.
    key_is_ahead = query[0] * key[1] - query[1] * key[0] > 0
    for name, tip, width, ahead in (("query", query, 2.8, not key_is_ahead), ("key", key, 1.1, key_is_ahead)):
        axis.annotate(
            "", (tip[0], tip[1]), (0, 0), arrowprops={"arrowstyle": "-|>", "lw": width, "color": "black", "shrinkB": 0}
        )
        angle = math.atan2(tip[1], tip[0]) + (0.2 if ahead else -0.2)
        axis.text(1.35 * math.cos(angle), 1.35 * math.sin(angle), name, ha="center", va="center", fontsize=9)
    axis.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal", xticks=[], yticks=[])
