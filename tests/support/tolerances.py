"""Measures how near the references come to the tolerances of checks and hidden tests.

    notebook --allclose, isclose, assert_close and "< 1e-5" noted--> Closeness, one for each comparison that held

    python -m tests.support.tolerances NOTEBOOK...

It writes a line of JSON for each. `tests/source/test_tolerances.py` runs it with several kinds of kernels.
"""

import ast
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import torch

from grader.engine.notebook.cells import CellType, grade_id, type_of
from tests.support.claim_run import is_run, run_cell, seeded_module

SMALL = 0.01
"""A limit up to here is one for errors of rounding; a larger one is a statement about numbers that a test drew."""
SEED = 1
"""What a generator of a test gets for a random seed: kernels can be compared only on the same numbers."""
LARGEST_SHARE = 0.1
"""So much of a tolerance a reference may use."""


class _SameEachTime(torch.Generator):
    """A generator whose random seeds are all the same."""

    def seed(self) -> int:
        """Set it, and return it."""
        self.manual_seed(SEED)
        return SEED


class Closeness(msgspec.Struct, frozen=True):
    """The share of a tolerance that one comparison used.

    Args:
        notebook: its assignment and name.
        test: grade_id of the check or hidden test.
        line: of its source, as written there.
        share: the largest error by its limit: 0 is equal, 1 is the limit.
    """

    notebook: str
    test: str
    line: str
    share: float


def closenesses(notebook: nbformat.NotebookNode, called: str = "") -> list[Closeness]:
    """Run a source notebook without its experiments, and return the worst share of each line that compares.

    A comparison that does not hold is left out: the reference fails none, so it stands behind a `not`.

    Args:
        notebook: a source notebook.
        called: its name in the result.
    """
    names = seeded_module()
    noted: dict[tuple[str, int], float] = {}
    place = ""

    def note(share: float) -> None:
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename != place:
            frame = frame.f_back  # type: ignore[assignment]
        key = (place, frame.f_lineno if frame is not None else 0)
        noted[key] = max(noted.get(key, 0.0), share)

    names["__within__"] = lambda value, limit, holds: _within(note, value, limit, holds)
    sources = {}
    for cell in notebook.cells:
        is_test = type_of(cell) is CellType.TEST
        if cell.cell_type != "code" or "experiment" in cell.metadata.get("tags", ()) or not (is_run(cell) or is_test):
            continue
        if not is_test:
            with suppress(NameError):  # it shows what an experiment has defined, and no test needs it
                run_cell(names, ast.parse(cell.source))
            continue
        place = f"<{grade_id(cell)}>"
        sources[place] = cell.source.splitlines()
        with _noting(note):
            run_cell(names, _Limits().visit(ast.parse(cell.source)), place)
    return [
        Closeness(called, name.strip("<>"), sources[name][line - 1].strip() if line else "", share)
        for (name, line), share in noted.items()
    ]


def _within(note: Callable[[float], None], value: Any, limit: float, holds: Any) -> Any:
    """Note how much of a limit a value uses, and return whether it holds."""
    true, values = holds(value, limit), torch.as_tensor(value)
    if values.numel() and bool(torch.as_tensor(true).all()):
        note(float(values.max()) / limit)
    return true


def _share(error: torch.Tensor, limit: torch.Tensor) -> float:
    """Return the largest part of its limit that an error has."""
    shares = torch.where(error == 0, torch.zeros(()), error / limit)
    return float(shares[shares.isfinite()].max()) if shares.isfinite().any() else 0.0


@contextmanager
def _noting(note: Callable[[float], None]) -> Iterator[None]:
    """Note what torch and math compare, if it is close; a random seed is always the same."""
    allclose, isclose, assert_close = torch.allclose, torch.isclose, torch.testing.assert_close
    tensor_allclose, math_isclose, generator = torch.Tensor.allclose, math.isclose, torch.Generator

    def share(a: Any, b: Any, rtol: float, atol: float) -> None:
        a, b = torch.as_tensor(a).detach(), torch.as_tensor(b).detach()
        if a.numel() and b.numel() and not a.dtype.is_complex:
            a, b = a.double(), b.double()
            note(_share((a - b).abs(), atol + rtol * b.abs()))

    def noted_by(compare: Callable[..., Any]) -> Callable[..., Any]:
        def noted(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
            close = compare(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
            if torch.as_tensor(close).all():
                share(a, b, rtol, atol)
            return close

        return noted

    def noted_assert_close(a: Any, b: Any, **options: Any) -> None:
        assert_close(a, b, **options)
        rtol, atol = (1e-7, 1e-7) if torch.as_tensor(a).dtype == torch.float64 else (1.3e-6, 1e-5)
        given = [options.get("rtol"), options.get("atol")]
        share(a, b, rtol if given[0] is None else given[0], atol if given[1] is None else given[1])

    def noted_math_isclose(a: float, b: float, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
        close = math_isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
        if close and a != b:
            note(abs(a - b) / max(rel_tol * max(abs(a), abs(b)), abs_tol))
        return close

    torch.allclose, torch.isclose, torch.testing.assert_close = (
        noted_by(allclose),
        noted_by(isclose),
        noted_assert_close,
    )
    torch.Tensor.allclose, math.isclose = torch.allclose, noted_math_isclose  # type: ignore[method-assign]
    torch.Generator = _SameEachTime  # type: ignore[misc]
    try:
        yield
    finally:
        torch.allclose, torch.isclose, torch.testing.assert_close = allclose, isclose, assert_close
        torch.Tensor.allclose, math.isclose = tensor_allclose, math_isclose  # type: ignore[method-assign]
        torch.Generator = generator  # type: ignore[misc]


class _Limits(ast.NodeTransformer):
    """Reports comparisons with a small constant: `(a - b).abs().max() < 1e-5`."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802
        """Report one."""
        self.generic_visit(node)
        limit = node.comparators[-1]
        if not (
            len(node.ops) == 1
            and isinstance(node.ops[0], ast.Lt | ast.LtE)
            and isinstance(limit, ast.Constant)
            and isinstance(limit.value, float)
            and 0 < limit.value <= SMALL
        ):
            return node
        a, b = ast.arg("a"), ast.arg("b")
        compared = ast.Compare(ast.Name("a", ast.Load()), node.ops, [ast.Name("b", ast.Load())])
        holds = ast.Lambda(ast.arguments([], [a, b], None, [], [], None, []), compared)
        return ast.copy_location(ast.Call(ast.Name("__within__", ast.Load()), [node.left, limit, holds], []), node)


def fragile(by_capability: Iterable[list[Closeness]]) -> list[str]:
    """Return the comparisons that another machine may fail.

    They use more than a tenth of their limit, and how much depends on the kernels. If it does not, the error is that of
    a number written with a few digits, as in "0.24, 0.55, 1.10": it is the same everywhere.

    Args:
        by_capability: what each capability found for the same notebooks.
    """
    shares: dict[tuple[str, str, str], list[float]] = {}
    for found in by_capability:
        for each in found:
            shares.setdefault((each.notebook, each.test, each.line), []).append(each.share)
    return [
        f"{' '.join(place)}: {max(used):.2g} of its limit"
        for place, used in shares.items()
        if max(used) > LARGEST_SHARE and (max(used) - min(used) > LARGEST_SHARE / 10 or max(used) > 1 - LARGEST_SHARE)
    ]


def main() -> int:
    """Measure the notebooks that the command line names, and print a line of JSON for each comparison."""
    torch.set_num_threads(1)
    for path in map(Path, sys.argv[1:]):
        name = f"{path.parent.name}/{path.stem}"
        for each in closenesses(nbformat.read(path, as_version=4), name):
            print(msgspec.json.encode(each).decode(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
