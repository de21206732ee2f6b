"""Holds what the functions of all figures need."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader_kernel.widget import Widget


def check(name: str, number: float, least: float, most: float) -> None:
    """Check an argument; ValueError names it if it is not from `least` to `most`."""
    if not least <= number <= most:
        raise ValueError(f"{name} should be {least} to {most}, not {number}")


def figure(name: str, state: Mapping[str, Any], about: str) -> Widget:
    """Return the figure that a module beside this file draws.

    Args:
        name: the name of the module, without `.js`.
        state: the first state.
        about: what one can do with the figure, shown where widgets do not run.
    """
    return Widget(Path(__file__).parent / f"{name}.js", state, about)
