"""Lets a reader turn a query and watch its weights move; where widgets do not run, it shows a still picture."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import torch
from IPython.display import DisplayHandle, display
from matplotlib.figure import Figure

from course import figures


class Explorer:
    """A picture that follows sliders. In a notebook it displays itself with them; without widgets, only the picture."""

    picture: Callable[..., figures.Picture]
    """Returns the picture for the values of the sliders, in their order."""

    def __init__(self, *sliders: ipywidgets.Widget) -> None:
        """Follow sliders, whose values are the arguments of `picture`."""
        self._sliders = sliders
        for slider in sliders:
            slider.observe(self._redraw, names="value")
        self._screen: DisplayHandle | None = None

    def _ipython_display_(self) -> None:
        # There are two outputs, because a page without a kernel keeps the picture and drops the sliders.
        self._screen = display(self._picture_now(), display_id=True)
        display(ipywidgets.HBox(list(self._sliders)))

    def _redraw(self, _change: object) -> None:
        if self._screen is not None:
            self._screen.update(self._picture_now())

    def _picture_now(self) -> figures.Picture:
        return self.picture(*(slider.value for slider in self._sliders))


class QueryExplorer(Explorer):
    """Sliders that turn and stretch a query in the plane, over keys of two numbers each.

    In a notebook it displays its picture with the sliders; where widgets do not run, only the picture.
    """

    def __init__(self, keys: Mapping[str, Sequence[float]], *, angle: float = 45.0, length: float = 2.0) -> None:
        """Make the sliders.

        Args:
            keys: token -> (x, y).
            angle: the query's first angle, in degrees from the x axis.
            length: the query's first length; a longer query has sharper weights.
        """
        self.keys = {name: tuple(map(float, key)) for name, key in keys.items()}
        self.turn = ipywidgets.FloatSlider(angle, min=0.0, max=360.0, step=5.0, description="angle °")
        self.stretch = ipywidgets.FloatSlider(length, min=0.0, max=8.0, step=0.25, description="length")
        super().__init__(self.turn, self.stretch)

    def weights(self, angle: float, length: float) -> list[float]:
        """Return the attention weights of the keys, in their order.

        Args:
            angle: the query's angle, in degrees from the x axis.
            length: the query's length.
        """
        query = torch.tensor([math.cos(math.radians(angle)), math.sin(math.radians(angle))]) * length  # (D,)
        scores = torch.tensor(list(self.keys.values())) @ query  # (L,)
        return scores.softmax(0).tolist()

    def picture(self, angle: float, length: float) -> figures.Picture:
        """Return a picture with the keys and the query as arrows (left) and the weight of each key as a bar (right).

        Args:
            angle: the query's angle, in degrees from the x axis.
            length: the query's length.
        """
        weights = self.weights(angle, length)
        figure = Figure(figsize=(7.6, 3.4), layout="constrained")
        plane, chart = figure.subplots(1, 2, width_ratios=(1, 1.2))
        query = (length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle)))
        reach = 1.5 * max(2.0, length, *(abs(number) for key in self.keys.values() for number in key))
        for point, name in [*_names_by_place(self.keys).items(), (query, "query")]:
            style: dict[str, Any] = {
                "arrowstyle": "-|>",
                "lw": 2.8 if point is query else 1.1,
                "color": "black",
                "shrinkA": 0,
            }
            plane.annotate("", point, (0, 0), arrowprops={**style, "shrinkB": 0})
            plane.annotate(name, point, xytext=(4, -11 if point is query else 4), textcoords="offset points")
        plane.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title="keys and query")
        bars = chart.bar(list(self.keys), weights, color="#b5b5b5", edgecolor="black")
        chart.bar_label(bars, fmt="%.2f")
        chart.set(ylim=(0, 1.1), title="weights")
        alt = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(self.keys, weights, strict=True))
        return figures.picture(figure, f"A query {length:g} long at {angle:g} degrees. Weights of the keys: {alt}.")


def _names_by_place(keys: Mapping[str, tuple[float, ...]]) -> dict[tuple[float, ...], str]:
    """One label for each place: words with the same key would be printed over one another."""
    places: dict[tuple[float, ...], str] = {}
    for name, key in keys.items():
        places[key] = f"{places[key]}, {name}" if key in places else name
    return places
