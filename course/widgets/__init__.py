"""Holds the figures that answer back: each is a module of JavaScript beside this file, and a function here."""

from collections.abc import Sequence
from pathlib import Path

from grader_kernel.widget import Widget

FOLDER = Path(__file__).parent
"""Where the modules of the course are."""


def softmax(names: Sequence[str], scores: Sequence[float], *, temperature: float = 1.0) -> Widget:
    """Return a figure in which a temperature turns scores into sharper or flatter weights.

    Args:
        names: the words.
        scores: a score for each word.
        temperature: the first temperature, 0.1 to 5; scores are divided by it.
    """
    return _figure(
        "softmax",
        {"names": list(names), "scores": list(map(float, scores)), "temperature": temperature},
        "A figure with a slider for the temperature: it shows the weights that softmax makes of the scores.",
    )


def _figure(name: str, state: dict[str, object], about: str) -> Widget:
    return Widget(FOLDER / f"{name}.js", state, about)
