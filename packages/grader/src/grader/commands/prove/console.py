"""Shows kill matrices: a table of exercises, faults, weak draws, and tests that add nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from rich.console import Group
from rich.table import Table
from rich.text import Text

from grader.commands.prove.matrix import AnswerRow, Kind, Matrix
from grader.commands.prove.sentences.console import lead_complaints, leads_table

FORMAT = 1
"""Version of the JSON form. It increases when a field is removed or changes its meaning."""


def summary(matrices: Sequence[Matrix], *, is_sample: bool) -> Group:
    """Return what a person wants to know about the matrices of some exercises.

    Args:
        matrices: the matrices.
        is_sample: whether they hold only a tenth of the rows, which is too little to judge single tests.
    """
    remarks = [line for matrix in matrices for line in (*_complaints(matrix), *_weak_draws(matrix))]
    if not is_sample:
        remarks += [line for matrix in matrices for line in _advice(matrix)]
    proven = [(matrix, matrix.leads) for matrix in matrices if matrix.leads is not None]
    return Group(
        _table(matrices, is_sample),
        *remarks,
        *([leads_table(proven)] if proven else []),
        *(line for matrix, leads in proven for line in lead_complaints(matrix.exercise, leads)),
        _verdict(matrices),
    )


def as_json(matrices: Sequence[Matrix]) -> dict[str, Any]:
    """Return matrices and what follows from their rows, in types that JSON can hold."""
    return {
        "format": FORMAT,
        "proven": all(matrix.is_proven() for matrix in matrices),
        "exercises": [
            msgspec.to_builtins(matrix)
            | {
                "proven": matrix.is_proven(),
                "thin": matrix.depends_on_one_test() or bool(matrix.surviving(Kind.MUTANT)),
                "kills": matrix.kills(),
                "kills_alone": matrix.kills_alone(),
                "for_nothing": msgspec.to_builtins(matrix.for_nothing),
            }
            for matrix in matrices
        ],
    }


def _table(matrices: Sequence[Matrix], is_sample: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("exercise", overflow="fold")
    for heading in ("tests", "mistakes found", "right answers kept", "mutants found", "explained", "for nothing"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for matrix in matrices:
        right, reasons = matrix.of(Kind.RIGHT), sum(bool(row.reason) for row in matrix.rows)
        kept = len(right) - len(matrix.killed_right_answers)
        mark = Text("ok", "green") if matrix.is_proven() else Text("OPEN", "bold red")
        if matrix.is_proven() and matrix.depends_on_one_test() and not is_sample:
            mark = Text("thin", "yellow")
        table.add_row(
            matrix.exercise, str(len(matrix.tests)), _found(matrix, Kind.MISTAKE), f"{kept} / {len(right)}",
            _found(matrix, Kind.MUTANT), str(reasons or ""), for_nothing_of(matrix), mark,
        )  # fmt: skip
    return table


def for_nothing_of(*matrices: Matrix) -> str:
    """Return the points that trivial answers earn, of those that they could."""
    each = [matrix.for_nothing for matrix in matrices]
    return f"{sum(one.points for one in each):g} / {sum(one.out_of for one in each):g}"


def _found(matrix: Matrix, kind: Kind) -> str:
    rows = matrix.of(kind)
    return f"{sum(bool(row.killed_by) for row in rows)} / {len(rows)}"


def _complaints(matrix: Matrix) -> Iterator[Text]:
    if not matrix.tests:
        yield _headline(matrix, "no test with points belongs to it")
        yield Text(
            "    A test belongs to the last answer above it that defines a name which the test uses, or to the answer "
            "NAME if its cell is called NAME-check or NAME-test-WHAT."
        )
    for row in matrix.killed_right_answers:
        yield _headline(matrix, f"the right answer '{row.name}' loses points in {', '.join(row.killed_by)}")
    for row in matrix.kept_by_luck:
        tests = ", ".join(f"{test} in {_share(matrix, test, row)}" for test in row.other_draws)
        yield _headline(matrix, f"the {row.kind} '{row.name}' keeps its points by luck, and loses those of {tests}")
        if row.edit:
            yield _edit(row.edit)
    for row in matrix.surviving(Kind.MISTAKE):
        yield _headline(matrix, f"no test finds the known mistake '{row.name}'")
        yield _edit(row.edit)
    for row in matrix.surviving(Kind.MUTANT):
        yield _headline(matrix, f"no test finds a mutant that {row.name}")
        yield _edit(row.edit)
    if matrix.for_nothing.is_too_much:
        earned = f"trivial answers earn {for_nothing_of(matrix)} points, and may earn a tenth"
        yield _headline(matrix, earned)
        for test, names in matrix.for_nothing.tests.items():
            yield Text(f"    {test}: {', '.join(names)}")
    for row in matrix.undecided:
        yield _headline(matrix, f"grading the {row.kind} '{row.name}' did not finish: prove it again")
        yield _edit(row.edit)
    for edit in matrix.stale:
        yield _headline(matrix, "the record has an entry for no survivor: remove it")
        yield _edit(edit)


def _weak_draws(matrix: Matrix) -> Iterator[Text]:
    """Yield the tests that would find more with other random numbers."""
    for test, row in matrix.weak_draws:
        share = _share(matrix, test, row)
        yield _remark(matrix, f"weak draw: {test} spares the {row.kind} '{row.name}', and finds it in {share}")
        if row.kind is Kind.MUTANT:
            yield _edit(row.edit)


def _share(matrix: Matrix, test: str, row: AnswerRow) -> str:
    return f"{row.other_draws[test]} of {matrix.draws} other draws"


def _advice(matrix: Matrix) -> Iterator[Text]:
    """Yield the tests that add nothing, and the one that does nearly all."""
    kills, alone, found = matrix.kills(), matrix.kills_alone(), matrix.found()
    nothing = [test for test in matrix.tests if not kills[test]]
    nothing_new = [test for test in matrix.tests if kills[test] and not alone[test]]
    if nothing:
        yield _remark(matrix, f"finds nothing: {', '.join(nothing)}")
    if nothing_new:
        yield _remark(matrix, f"finds only what other tests also find: {', '.join(nothing_new)}")
    for test in matrix.tests:
        if 2 * alone[test] > found:
            yield _remark(matrix, f"{test} alone finds {alone[test]} of {found}: no other test covers what it misses")


def _headline(matrix: Matrix, text: str) -> Text:
    return Text.assemble((f"\n{matrix.exercise}: ", "bold"), (text, "red"))


def _remark(matrix: Matrix, text: str) -> Text:
    return Text.assemble((f"{matrix.exercise}: ", "bold"), text)


def _edit(edit: str) -> Text:
    lines = (Text(f"    {line}", "red" if line.startswith("-") else "green") for line in edit.splitlines())
    return Text("\n").join(lines)


def _verdict(matrices: Sequence[Matrix]) -> Text:
    rows = [row for matrix in matrices for row in matrix.rows]
    unproven = [matrix.exercise for matrix in matrices if not matrix.is_proven()]
    graded = f"\n{len(rows)} answers to {len(matrices)} exercises were graded."
    if unproven:
        return Text(f"{graded} These exercises are open: {', '.join(unproven)}.", "bold red")
    return Text(f"{graded} The tests find all that is wrong, and take no points from what is right.", "bold green")
