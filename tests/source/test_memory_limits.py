"""Limits on memory leave room for the formulas of the text, written line by line."""

from collections import defaultdict
from typing import Any

import pytest
import torch
from nbformat import NotebookNode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.engine.notebook.plan import Role, plan
from grader_kernel.peak_memory import peak_memory
from tests.support.exercises import NOTEBOOKS
from tests.support.notebooks import answer, check, helpers, hidden, notebook

ROOM = 12
"""So many tensors of the largest size that our answer makes must fit below a limit."""


class Growth(float):
    """A multiple of a measured number of bytes, which limits how memory grows and not how much there is."""


class Measured(float):
    """The most bytes of a call whose largest tensor has `largest`; it notes the limits with which it is compared."""

    def __new__(cls, number: float, largest: int, noted: list[float]) -> "Measured":
        """Return the number with the two."""
        measured = super().__new__(cls, number)
        measured.largest, measured.noted = largest, noted
        return measured

    def __lt__(self, limit: Any) -> bool:
        if not isinstance(limit, Growth):
            self.noted.append(float(limit) / self.largest)
        return float(self) < float(limit)

    def __rmul__(self, factor: float) -> Growth:
        return Growth(factor * float(self))


class Largest(TorchDispatchMode):
    """Notes the bytes of the largest tensor that an operation makes; a view makes none."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self.bytes = 1
        self._given = {part.untyped_storage().data_ptr() for part in given if isinstance(part, torch.Tensor)}

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() not in self._given:
            self.bytes = max(self.bytes, result.nbytes)
        return result


def rooms(source: NotebookNode) -> dict[str, tuple[list[float], list[float]]]:
    """Return how many of the reference's largest tensors fit below each limit, of visible and of hidden tests."""
    found: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    names: dict[str, Any] = {}
    for step in plan(source):
        if step.role is Role.TEST and "peak_memory(" in step.source:
            noted = found[step.exercise][step.is_hidden]

            def measure(function: Any, *args: Any, noted: list[float] = noted) -> tuple[Any, Measured]:
                with Largest(args) as largest:
                    function(*args)
                result, most = peak_memory(function, *args)
                return result, Measured(most, largest.bytes, noted)

            names["peak_memory"] = measure
        if step.role is not Role.TEST or "peak_memory(" in step.source:
            exec(compile(step.source, f"<{step.name}>", "exec"), names)
    return dict(found)


def too_strict(found: dict[str, tuple[list[float], list[float]]]) -> list[str]:
    """Return the exercises with a limit below ROOM tensors, or with a hidden limit below the visible ones."""
    return [
        exercise
        for exercise, (visible, secret) in found.items()
        if min([*visible, *secret]) < ROOM or min(secret, default=ROOM) < min(visible, default=ROOM) - 1e-9
    ]


@pytest.mark.slow
def test_every_limit_leaves_room():
    """For twelve tensors as large as our answer's largest; and a hidden test asks for no less than the check."""
    found = {}
    for source in NOTEBOOKS.values():
        if any("peak_memory(" in step.source for step in plan(source) if step.role is Role.TEST):
            found |= rooms(source)
    assert found and all(visible for visible, _ in found.values())
    assert too_strict(found) == []


@pytest.mark.parametrize(
    ("seen", "unseen", "is_strict"), [(12, 12, False), (13, 12, True), (11, 11, True), (12, 11, True), (20, 40, False)]
)
def test_a_limit_that_is_too_strict_is_found(seen, unseen, is_strict):
    """The reference makes one tensor as large as its argument; a bound on growth is no limit."""
    growth = "assert peak_memory(f, torch.ones(200))[1] < 2.5 * peak_memory(f, torch.ones(100))[1]"
    limit = "x = torch.ones(100)\nassert peak_memory(f, x)[1] < {} * x.nbytes\n" + growth
    source = notebook(
        helpers("imports", "import torch"),
        answer("f", "def f(x):\n    return x.view(10, -1) + 1"),
        check("f-check", limit.format(seen)),
        hidden("f-test-memory", "It takes little.", limit.format(unseen).replace("x.nbytes", "x.nbytes / 1")),
    )
    assert too_strict(rooms(source)) == (["f"] if is_strict else [])
