"""What the notebooks say of trained results was measured with other kernels, threads and seeds, and holds by a margin.

`make claims` measures; here the tables that it wrote are held against the notebooks.
"""

import ast
from pathlib import Path

import pytest
import torch
from nbformat import NotebookNode

from tests.support.claim_run import Listed, listed_claims, measures, positions
from tests.support.claims import Row, list_of, read, rows
from tests.support.exercises import NOTEBOOKS, each_notebook
from tests.support.notebooks import check, code, notebook, text
from tests.support.paths import REPOSITORY


def table_of(path: Path) -> list[Row]:
    """The table that was measured for a notebook; empty if it makes no claim."""
    table = list_of(path).with_suffix(".csv")
    return read(table) if table.exists() else []


def printed(source: NotebookNode) -> list[str]:
    """The constant words beside each comparison that a cell prints."""
    found = []
    for cell in source.cells:
        if cell.cell_type == "code":
            for call in ast.walk(ast.parse(cell.source)):
                is_print = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"
                if is_print and any(isinstance(part, ast.Compare) for part in claims_in(call)):
                    parts = [
                        part for arg in call.args for part in (arg.values if isinstance(arg, ast.JoinedStr) else [arg])
                    ]
                    words = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
                    found += [" ".join(each.split()) for each in words if len(each) > 8]
    return found


def claims_in(node: ast.AST) -> list[ast.AST]:
    """The parts of a printed line, but for what only selects."""
    parts = [node]
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.comprehension | ast.Lambda | ast.Subscript):
            parts += claims_in(part)
    return parts


@each_notebook
def test_every_claim_was_measured_and_holds_by_a_margin(path: Path) -> None:
    """In each run, three standard deviations from its limit. Run `make claims` after you changed one."""
    table = table_of(path)
    assert [row for row in table if not row.is_robust] == []
    measured = "\n".join(row.claim for row in table)
    source, listed = NOTEBOOKS[path], listed_claims(list_of(path))
    positions(source, listed)
    assert [words for words in printed(source) if words not in measured] == []
    assert [claim.text for claim in listed if claim.text not in measured] == []


def test_every_table_belongs_to_a_notebook() -> None:
    """No list and no table is left over from a notebook that is gone."""
    files = {path.with_suffix("") for path in (REPOSITORY / "tests" / "claims").glob("*/*")}
    assert files <= {list_of(path).with_suffix("") for path in NOTEBOOKS}


LUCKY = notebook(
    code("import torch\ntorch.manual_seed(3)\nx = torch.rand(2)\nlevels = (x - x, x + 1)"),
    code("print('never below zero:', bool((x - x >= 0).all()))\nprint(f'between {0} and 2: {0 < x[0] + 1 < 2}')"),
    check("x-check", "raise AssertionError"),
    text("It is larger\nthan a half."),
    code("print('above one half:', bool(x[0] > 0.5), sum(n for n in range(3) if n > 1))"),
)


def test_the_numbers_behind_printed_and_listed_claims_are_found() -> None:
    """The worst of several, and the limit; tests are not run, and the condition of a comprehension claims nothing."""
    listed = [Listed("larger than a half", "x.tolist()", above=0.5), Listed("above one half", "levels[1]", below=2.0)]
    found = measures(LUCKY, listed, 0)
    claims = ["never below zero:", "between 0 and 2: [1]", "between 0 and 2: [2]", "larger than a half",
              "above one half: 2", "above one half"]  # fmt: skip
    assert [measure.claim for measure in found] == claims
    first, low, high, listed_one, _, upper = found
    assert first.number is not None and upper.number is not None and listed_one.number is not None
    assert first.limit == 0.0 and upper.limit == 2.0 and upper.number == pytest.approx(1 + max(measure_x(0)))
    assert listed_one.number == pytest.approx(min(measure_x(0))) and listed_one.holds == (min(measure_x(0)) > 0.5)
    assert (low.limit, high.limit) == (0.0, 2.0) and low.number == high.number


def measure_x(shift: int) -> list[float]:
    """Return the numbers in x with a shifted seed."""
    return torch.rand(2, generator=torch.Generator().manual_seed(3 + shift)).tolist()


def test_a_claim_that_rests_on_its_seed_is_found() -> None:
    """In ten runs the lucky one fails now and then; what no seed can change has no spread."""
    table = {row.claim: row for row in rows([measures(LUCKY, [], 1000 * number) for number in range(10)])}
    lucky, certain = table["above one half: 2"], table["never below zero:"]
    assert not lucky.is_robust and lucky.holds < lucky.runs == 10
    assert certain.is_robust and certain.holds == 10


@pytest.mark.parametrize("words", ["said nowhere", "x"])
def test_a_listed_claim_stands_in_one_cell(words: str) -> None:
    """A text that was reworded, or that is too short, is named."""
    with pytest.raises(ValueError, match="must stand in one cell"):
        measures(LUCKY, [Listed(words, "x")], 0)
