"""Shows what forging the memory of a call gains: any number is believed, and anything else costs the exercise.

The measurement is made in the student's process, so an honest number cannot be told from a forged one. The values are
judged in the runner all the same.
"""

import pytest

from grader.engine.grading import grade
from grader.engine.report import Report
from tests.attacks.build import on_channel
from tests.support.notebooks import answer, check, helpers, hidden, notebook, with_answer

LEAN = """
def doubled(x):
    return 2 * x
"""
WASTEFUL = """
def doubled(x):
    return (x[:, None] + x).diagonal()
"""
WRONG = """
def doubled(x):
    return 3 * x
"""
SOURCE = notebook(
    helpers("imports", "import torch"),
    answer("doubled", f"### BEGIN SOLUTION{LEAN}### END SOLUTION"),
    hidden(
        "doubled-test-memory",
        "No table of all pairs.",
        "from grader_kernel.peak_memory import peak_memory\n"
        "x = torch.arange(100.0)\nresult, peak = peak_memory(doubled, x)\n"
        "assert torch.equal(result, 2 * x), 'the values are not right'\n"
        "assert peak <= 2 * x.nbytes, f'{peak} bytes for {x.nbytes} bytes of numbers'",
    ),
    answer("other", "### BEGIN SOLUTION\none = 1\n### END SOLUTION"),
    check("other-check", "assert one == 1"),
)
FORGED = """
    honest = server.answer

    def answer(request, decoded):
        reply, tensors = honest(request, decoded)
        if getattr(request, "measure", ""):
            reply.measured = {}
        return reply, tensors

    answer_by(answer)
"""


def judged(code: str) -> Report:
    """Return the report on this answer to the first exercise, beside a right answer to the second."""
    return grade(SOURCE, with_answer(SOURCE, "doubled", code))


def points(report: Report) -> list[float]:
    """Return the points of each test."""
    return [result.points for result in report.results]


@pytest.mark.slow
def test_honest_code_is_measured() -> None:
    """The lean answer passes, the wasteful one fails with its bytes, and so do wrong values."""
    assert points(judged(LEAN)) == [1, 1]
    wasteful = judged(WASTEFUL)
    assert points(wasteful) == [0, 1] and "40000 bytes for 400 bytes of numbers" in wasteful.results[0].message
    assert points(judged(WRONG)) == [0, 1]


REFUSED = ("-1", "None", "True", "0.5", "float('inf')", "'0'", "[0]", "10**5_000", "2**15_000")
"""Numbers of no bytes, which are refused on arrival."""
ABSURD = ("10**400", "2**63")
"""Whole numbers that are too large for any test."""


@pytest.mark.parametrize(
    ("code", "claim", "earned"),
    [*((LEAN, claim, 0) for claim in REFUSED + ABSURD), (WASTEFUL, "0", 1), (WRONG, "0", 0)],
)
def test_a_forged_number_hides_waste_and_nothing_else(code: str, claim: str, earned: float) -> None:
    """As threat-model.md says, it can have the points of a test of memory. Another claim costs its exercise only."""
    report = judged(code + on_channel(FORGED.format(claim)))
    assert points(report) == [earned, 1]
    assert claim not in ABSURD or "bytes for 400 bytes" in report.results[0].message
