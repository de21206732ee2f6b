"""Helps to compare the numbers of figures with torch's."""

import json
import math
from collections.abc import Callable
from typing import Any

import torch

from course import widgets
from grader_kernel.widget import module
from tests.support.paths import REPOSITORY

State = dict[str, Any]
Compute = Callable[[str, list[State]], list[dict[str, Any]]]
"""Computes with the module of a name what it would draw in each of some states."""
BOTH = {"rtol": 1e-9, "atol": 1e-9, "equal_nan": True}


def text_of(name: str) -> str:
    return module(widgets.FOLDER / f"{name}.js")


def solution(notebook: str, *grade_ids: str) -> dict[str, Any]:
    """Return the names that the course's own answers define."""
    found: dict[str, Any] = {"torch": torch, "math": math}
    for cell in json.loads((REPOSITORY / "source" / notebook).read_text())["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in grade_ids:
            exec("".join(cell["source"]), found)
    return found


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(48)


def whole(least: int, most: int, g: torch.Generator) -> int:
    return int(torch.randint(least, most + 1, (), generator=g))


def reals(*shape: int, g: torch.Generator, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(*shape, generator=g, dtype=torch.float64)


def same(got: object, wanted: torch.Tensor) -> bool:
    return torch.allclose(torch.tensor(got, dtype=torch.float64), wanted, **BOTH)
