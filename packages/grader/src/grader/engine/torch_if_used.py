"""Gives the engine torch, or `no_torch` in a process that grades without it: torch alone takes a second to load."""

from typing import TYPE_CHECKING

from grader.engine.torch_use import uses_torch

USES_TORCH = uses_torch()
"""Whether `torch` below is torch."""

if TYPE_CHECKING or USES_TORCH:
    import torch
    from torch import Generator, nn
else:
    from grader.engine import no_torch as torch
    from grader.engine.no_torch import Generator, nn

__all__ = ["USES_TORCH", "Generator", "nn", "torch"]
