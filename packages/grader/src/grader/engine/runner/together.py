"""Judges tests together with the student's code: in the sandbox, in the namespace of the cells.

    cells above the test, and what a release shows of the tests above --fresh sandbox--> names --RunTest--> EndOfTest

Each of these tests has a sandbox of its own, and code in it can read the test and replace what the test calls. So the
text of a hidden test never reaches a process in which something else is judged or shown, and of a hidden test nothing
that the sandbox says reaches the student but the verdict and the points.
"""

import ast
import re
import secrets
import symtable
import zlib
from collections.abc import Callable, Collection
from dataclasses import replace

from msgspec import structs

from grader.engine.explanation import Cause, Ending, EndingKind, Explanation
from grader.engine.notebook.cells import HIDDEN
from grader.engine.notebook.names import names_bound, names_used
from grader.engine.notebook.plan import BLANK, Role, Step
from grader.engine.report import Verdict, partial
from grader.engine.rpc.channel import MessageChannel
from grader.engine.rpc.exceptions import verdict_on
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import EndOfTest, ErrorInfo, RunTest
from grader.engine.runner.outcome import MAX_LOG, TestOutcome, ending_in_sandbox, truth_of
from grader.engine.sandbox.shell import compiled_bytes
from grader.text import plural, printable
from grader_kernel.unfit import compared_dtypes

HIDDEN_PART = re.compile(rf"^.*{HIDDEN}[\s\S]*?(?:{HIDDEN.replace('BEGIN', 'END')}.*$|\Z)", re.MULTILINE)

KINDS = {"AssertionError": EndingKind.PROPERTY, "SyntaxError": EndingKind.SYNTAX}
"""The kinds of endings by the exceptions of a test; for all others it is `error`."""
PARTS = 2520
"""A hidden test gives a number of such parts of its points, and so all fractions down to tenths."""


def cells_above(test: Step, steps: list[Step]) -> list[Step]:
    """Return the cells to run before a test: all cells above it, and visible parts of tests that they depend on.

    In a notebook, all tests above have run as well. Of these count the ones that bind a name which a later cell or the
    test uses, or change an object under such a name.

    Args:
        test: the test.
        steps: the steps of the submission.
    """
    above = steps[: steps.index(test)]
    imported = set().union(*(_of(_names_imported, step.source) for step in above))
    wanted, needed = _of(names_used, test.source), list[Step]()
    for step in reversed(above):
        if step.role is Role.TEST:
            step = replace(step, source=HIDDEN_PART.sub("", step.source))
            changed = _of(names_bound, step.source) | _of(_names_changed, step.source) - imported
            if not wanted & changed:
                continue
        wanted |= _of(names_used, step.source)
        needed.append(step)
    return needed[::-1]


def judge_together(step: Step, channel: MessageChannel, cells: dict[str, str]) -> TestOutcome:
    """Return the outcome of a test in the sandbox, in which the cells above it have run.

    Args:
        step: the test.
        channel: the channel to the sandbox.
        cells: the sources of the submission's cells by name.

    Raises:
        ProtocolError: the reply is not the end of this test.
    """
    request = RunTest(
        source=step.source,
        name=step.name,
        code=compiled_bytes(step.source, step.name),
        nonce=secrets.token_hex(16),
        points=step.points,
        seed=zlib.crc32(step.name.encode()),
    )
    channel.send(request, [])
    end, _ = channel.receive()
    if not isinstance(end, EndOfTest) or end.nonce != request.nonce:
        raise ProtocolError("the reply to a test repeats its nonce; this one does not")
    if end.points is not None:
        points = _points(step, end.points)
        if points == step.points:
            return TestOutcome(step.result(Verdict.PASSED, points=points))
        part = Ending(EndingKind.PROPERTY, f"it gave {points:g} of {plural(step.points, 'point')}")
        return TestOutcome(structs.replace(step.result(Verdict.FAILED, points=points), ending=part))
    if end.error is None:
        raise ProtocolError("a test ends with points or with an error; this one ends with neither")
    # Lines of libraries and of code that a test compiles are between those of cells.
    frames = [frame for frame in end.error.frames if frame.cell.strip("<>") in {step.name, *cells}]
    error = structs.replace(end.error, frames=frames)
    is_the_tests = not frames or frames[-1].cell.strip("<>") == step.name
    verdict = Verdict.FAILED if is_the_tests and error.kind == "AssertionError" else verdict_on(error)
    # The test itself asked for this name; the sandbox might say any.
    missing = end.missing if is_the_tests and end.missing in names_used(step.source) else ""
    kind = EndingKind.NAME if missing else KINDS.get(error.kind, EndingKind.ERROR)
    kind = kind if is_the_tests else EndingKind.RAISED
    log = printable("\n".join((*map(str, frames), f"{error.name}: {error.message}")), MAX_LOG)
    result = structs.replace(step.result(verdict, log=log), ending=ending_in_sandbox(step, error, kind))
    if step.is_hidden:
        return TestOutcome(structs.replace(result, explanation=_explain_hidden(step, verdict, cells)))
    if not is_the_tests:
        return TestOutcome(result, error)
    return TestOutcome(structs.replace(result, explanation=_explain_visible(error, missing)))


def _points(step: Step, claimed: float) -> float:
    """Return the points of a test that ran to its end. Those of a hidden one are rounded: digits could say its text."""
    last = ast.parse(step.source).body[-1:]
    if not last or not isinstance(last[0], ast.Expr):
        return step.points
    points = partial(claimed, step.points)
    return round(points / step.points * PARTS) * step.points / PARTS if step.is_hidden and step.points else points


def _explain_visible(error: ErrorInfo, missing: str) -> Explanation:
    """Return what the student reads of an exception that a visible test itself raised, as beside every other test."""
    text = printable(error.message).strip()
    if missing:
        return Explanation(cause=Cause.UNDEFINED, missing=missing)
    if error.kind == "AssertionError":
        return Explanation("", Cause.PROPERTY, text)
    if sentence := compared_dtypes(text):
        return Explanation("", Cause.PROPERTY, sentence)
    got_none = error.kind in ("AttributeError", "TypeError") and "NoneType" in text
    return Explanation("", Cause.TEST_ERROR, text, printable(error.name), got_none=got_none)


def _explain_hidden(step: Step, verdict: Verdict, cells: dict[str, str]) -> Explanation:
    """Return an explanation of fixed sentences: what the sandbox says could be the text of the test."""
    if verdict is not Verdict.FAILED and BLANK in cells.get(step.exercise, ""):
        return Explanation(cause=Cause.NOT_WRITTEN)
    if verdict is Verdict.OUTPUT_LIMIT:
        return Explanation(truth_of(step), Cause.PRINTED)
    if verdict is Verdict.OUT_OF_MEMORY:
        return Explanation(truth_of(step), Cause.RAISED, error=MemoryError.__name__)
    return Explanation(truth_of(step), Cause.PROPERTY)


def _of(find: Callable[[str], Collection[str]], source: str) -> set[str]:
    try:
        return set(find(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()  # a student's cell that Python cannot parse


def _names_imported(source: str) -> list[str]:
    symbols = symtable.symtable(source, "<cell>", "exec").get_symbols()
    return [symbol.get_name() for symbol in symbols if symbol.is_imported()]


def _names_changed(source: str) -> set[str]:
    """Return the names through which a test may change an object: `rows[0] = 1`, `account.deposit(5)`."""
    changed = set[str]()
    for node in ast.walk(ast.parse(source)):
        part = node.func if isinstance(node, ast.Call) else node
        if isinstance(part, ast.Attribute | ast.Subscript) and (part is not node or not isinstance(part.ctx, ast.Load)):
            while isinstance(part, ast.Attribute | ast.Subscript | ast.Call):
                part = part.func if isinstance(part, ast.Call) else part.value
            if isinstance(part, ast.Name):
                changed.add(part.id)
    return changed
