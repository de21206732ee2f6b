"""Knows whether a process uses torch: one fact that its parent decides when it starts."""

import importlib.util
import os

WITHOUT_TORCH = "GRADER_WITHOUT_TORCH"
"""Environment variable of processes that grade without torch."""


def is_installed() -> bool:
    """Return whether torch can be imported."""
    return importlib.util.find_spec("torch") is not None


def uses_torch() -> bool:
    """Return whether this process grades with torch."""
    return WITHOUT_TORCH not in os.environ and is_installed()
