"""Runs a notebook with other seeds and notes the number behind every claim that it makes of a trained result.

    cells but tests --rewritten--> manual_seed(n + shift), compared(...) --exec--> printed claims, listed claims

`tests.support.claims` starts this as a program, once for each kind of kernels:

    python -m tests.support.claim_run NOTEBOOK CLAIMS.toml SHIFT...

It writes a line of JSON for each shift of the seeds.
"""

import ast
import contextlib
import io
import operator
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import nbformat
import torch

from grader.engine.notebook.cells import CellType, type_of

HOLDS = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
"""What a comparison computes, by the name of its class in `ast`."""
GREATER = ("Gt", "GtE")
TURNED = {"Gt": "Lt", "GtE": "LtE", "Lt": "Gt", "LtE": "GtE"}
"""The comparisons of size, and what they are with their sides exchanged."""


class Measure(msgspec.Struct, frozen=True):
    """What one run found of one claim.

    Args:
        claim: its text: the printed line without True and False, or the text that the list of claims gives.
        holds: whether the comparison is true.
        number: the number compared, the worst where there are several; None if it is no number.
        limit: what it is compared with. If both sides were computed, `number` is their difference and this is 0.
    """

    claim: str
    holds: bool
    number: float | None = None
    limit: float | None = None


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim in prose, alt text or a question, from a list in tests/claims.

    Args:
        text: words of the notebook; they occur in exactly one cell.
        value: an expression of the notebook's names, a number or several, after the cell of `text` or of `after`.
        above: what it stays above.
        below: what it stays below.
        after: words of the code cell that `value` needs, if the text stands above it.
    """

    text: str
    value: str
    above: float | None = None
    below: float | None = None
    after: str = ""


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The listed claims of a notebook."""

    claim: list[Listed] = []


def listed_claims(path: Path) -> list[Listed]:
    """Return the claims in a list, which need not exist."""
    return msgspec.convert(tomllib.loads(path.read_text()), Claims).claim if path.exists() else []


def measures(notebook: nbformat.NotebookNode, listed: list[Listed], shift: int) -> list[Measure]:
    """Run the notebook's cells, but for tests, and return what its claims came to.

    Args:
        notebook: a source notebook.
        listed: claims that it does not print.
        shift: what is added to every seed.
    """
    run, places = _Run(shift), positions(notebook, listed)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and is_run(cell):
            run.execute(cell.source)
        for claim, place in zip(listed, places, strict=True):
            if place == number:
                run.look(claim)
    return run.found


def positions(notebook: nbformat.NotebookNode, listed: list[Listed]) -> list[int]:
    """Return the number of the cell after which each listed claim is looked at.

    Raises:
        ValueError: the words of a claim stand in no cell, or in several.
    """
    places = []
    for claim in listed:
        found = [_only_cell(notebook, each) for each in (claim.text, claim.after) if each]
        places.append(found[-1])
    return places


def _only_cell(notebook: nbformat.NotebookNode, sought: str) -> int:
    found = [number for number, cell in enumerate(notebook.cells) if sought in words(cell.source)]
    found = found or [number for number, cell in enumerate(notebook.cells) if sought in cell.source]
    if len(found) != 1:
        raise ValueError(f"the words of a claim must stand in one cell, and {sought!r} stand in {len(found)}")
    return found[0]


def words(source: str) -> str:
    """Return a cell's text as a reader sees it: strings that Python joins are one, a line break is a space."""
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*f?"', "", source))


def is_run(cell: Any) -> bool:
    """Return whether a code cell is one of those that lead to what the notebook shows."""
    return type_of(cell) is not CellType.TEST and "nbval-skip" not in cell.metadata.get("tags", ())


def seeded_module(seed: int = 0) -> dict[str, Any]:
    """Return the names of a module in which cells of a notebook run, and seed torch."""
    torch.manual_seed(seed)
    # Classes and functions of the notebook find their names there.
    return vars(ModuleType("__main__"))


def run_cell(names: dict[str, Any], tree: ast.AST, place: str = "<cell>") -> None:
    """Run a cell that was parsed, and print nothing."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.fix_missing_locations(tree), place, "exec"), names)  # type: ignore[arg-type]


class _Run:
    """One run of a notebook.

    Args:
        shift: what is added to every seed.
    """

    def __init__(self, shift: int) -> None:
        self.found: list[Measure] = []
        self._pending: list[Measure] = []
        self._rewrite = _Rewrite(shift)
        self._names = seeded_module(shift) | {"print": self._print, "__compared__": self._compared}

    def execute(self, source: str) -> None:
        """Run a cell."""
        run_cell(self._names, self._rewrite.visit(ast.parse(source)))

    def look(self, claim: Listed) -> None:
        """Note what a listed claim came to."""
        values = eval(claim.value, self._names)
        for limit, kind in ((claim.above, "Gt"), (claim.below, "Lt")):
            if limit is not None:
                self.found.append(_measure(claim.text, values, kind, limit))

    def _print(self, *values: object, **_: object) -> None:
        text = " ".join(" ".join(re.sub(r"\b(True|False)\b", "", str(value)) for value in values).split())
        several = len(self._pending) > 1
        for number, measure in enumerate(self._pending, 1):
            self.found.append(msgspec.structs.replace(measure, claim=f"{text} [{number}]" if several else text))
        self._pending.clear()

    def _compared(self, kinds: tuple[str, ...], is_limit: tuple[bool, ...], *values: Any) -> Any:
        """Return what a comparison returns, and note its numbers for the line that is being printed."""
        result: Any = True
        for kind, turned, left, right in zip(kinds, is_limit, values, values[1:], strict=False):
            sides = (right, TURNED[kind], left) if turned and kind in TURNED else (left, kind, right)
            self._pending.append(_measure("", *sides))
            holds = HOLDS[kind](left, right)
            result = holds if len(kinds) == 1 else result and bool(holds)
        return result


def _numbers(value: Any) -> torch.Tensor | None:
    """Return a number, or several, as a tensor."""
    try:
        return torch.as_tensor(value, dtype=torch.float64).flatten()
    except (TypeError, ValueError, RuntimeError):
        return None


def _measure(claim: str, left: Any, kind: str, right: Any) -> Measure:
    holds, numbers, limits = HOLDS[kind], _numbers(left), _numbers(right)
    if kind not in TURNED or numbers is None or limits is None or not numbers.numel():
        result = holds(left, right)
        return Measure(claim, bool(result if isinstance(result, bool) else torch.as_tensor(result).all()))
    if limits.numel() == 1 and (numbers.numel() > 1 or isinstance(right, int | float)):
        limit = float(limits[0])
    else:
        numbers, limit = numbers - limits, 0.0
    number = float(numbers.min() if kind in GREATER else numbers.max())
    return Measure(claim, bool(holds(number, limit)), number, limit)


class _Rewrite(ast.NodeTransformer):
    """Shifts seeds, and reports the comparisons inside of calls of print."""

    def __init__(self, shift: int) -> None:
        self._shift = shift
        self._printing = False

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """Shift the seed of manual_seed; look into print."""
        before = self._printing
        self._printing = before or isinstance(node.func, ast.Name) and node.func.id == "print"
        self.generic_visit(node)
        self._printing = before
        if isinstance(node.func, ast.Attribute) and node.func.attr == "manual_seed" and len(node.args) == 1:
            node.args = [ast.BinOp(node.args[0], ast.Add(), ast.Constant(self._shift))]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802
        """Report a comparison."""
        self.generic_visit(node)
        if not self._printing:
            return node
        values = [node.left, *node.comparators]
        kinds = ast.Tuple([ast.Constant(type(each).__name__) for each in node.ops], ast.Load())
        limits = ast.Tuple([ast.Constant(isinstance(each, ast.Constant)) for each in values[:-1]], ast.Load())
        return ast.Call(ast.Name("__compared__", ast.Load()), [kinds, limits, *values], [])

    def _stay(self, node: ast.AST) -> ast.AST:
        """Leave what selects: the condition of a comprehension and an index claim nothing."""
        before, self._printing = self._printing, False
        self.generic_visit(node)
        self._printing = before
        return node

    visit_comprehension = visit_Lambda = visit_Subscript = _stay  # noqa: N815


def main(notebook: str, claims: str, *shifts: str) -> None:
    """Print what the claims of a notebook come to with each shift."""
    source, listed = nbformat.read(notebook, as_version=4), listed_claims(Path(claims))
    for shift in shifts:
        print(msgspec.json.encode(measures(source, listed, int(shift))).decode(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
