"""A verdict follows from a code that the grader sets, and never from a name or a message that student code chooses."""

import pytest

from grader.engine.grading import grade
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

SOURCE = notebook(
    helpers("imports", "import torch\nfrom torch.nn import functional as F"),
    answer("f", "def f(x):\n    return x", "without:conv"),
    check("f-check", "assert f(41) == 41, 'not 41'"),
    hidden("f-test-value", "f gives back what it gets.", "assert f(42) == 42, 'not 42'"),
)
ALLOCATION = "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried ..."


def outcomes(body: str) -> list[tuple[str, str]]:
    """Verdict and message of the visible check and of the hidden test, for an f with this body."""
    results = grade(SOURCE, answered(SOURCE, f=f"def f(x):\n    {body}")).results
    return [(str(result.verdict), result.message) for result in results]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "verdict", "explanation"),
    [
        ("print('x' * 2**27)", "output limit", "Your code printed too much"),
        ("return torch.empty(10**15)", "out of memory", "Your code raised RuntimeError"),
        ("return bytearray(10**15)", "out of memory", "Your code raised MemoryError"),
        (f"raise RuntimeError({ALLOCATION!r})", "error", "Your code raised RuntimeError"),
        ("return F.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2))", "error", "Your code hands its work to a library"),
        (
            "import numpy; return numpy.ones(2, numpy.longdouble)",
            "error",
            "Your code returned something that no test can use",
        ),
    ],
    ids=["printed", "torch", "Python", "words", "forbidden", "numpy"],
)
def test_the_real_thing_gets_its_verdict(body, verdict, explanation):
    """Too much output, a failed allocation and not its words alone, a forbidden function, a value that cannot cross."""
    for seen, message in outcomes(body):
        assert seen == verdict and explanation in message


def test_a_cell_that_raises_such_an_error_costs_nothing():
    """Outside of tests, too: only real output beyond the limit ends the sandbox and loses the cell."""
    submission = answered(SOURCE)
    submission.cells[2:2] = [code("kept = 1\nclass OutputLimit(Exception): pass\nraise OutputLimit('too much')")]
    submission.cells[3:3] = [code("print(kept)")]
    report = grade(SOURCE, submission)
    assert [str(result.verdict) for result in report.results] == ["passed", "passed"]
    assert report.outputs[2][-1]["ename"] == "OutputLimit" and report.outputs[3][0]["text"] == "1\n"


def test_an_allocation_that_fails_in_the_test_itself_is_out_of_memory():
    """A test that raises an error in the same words has failed in its own way."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("n", "n = 2**55"),
        check("n-check", "torch.empty(n)"),
        check("n-test", "raise RuntimeError('not enough memory')"),
    )
    assert [str(result.verdict) for result in grade(source, source).results] == ["out of memory", "error"]
