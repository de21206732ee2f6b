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


def outcomes(body: str, before: str = "") -> list[tuple[str, str]]:
    """Verdict and message of the visible check and of the hidden test, for an f with this body."""
    results = grade(SOURCE, answered(SOURCE, f=f"{before}def f(x):\n    {body}")).results
    return [(str(result.verdict), result.message) for result in results]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "verdict", "explanation"),
    [
        ("print('x' * 2**27)", "output limit", "Your code printed too much"),
        ("return torch.empty(10**15)", "out of memory", "Your code raised RuntimeError"),
        ("return bytearray(10**15)", "out of memory", "Your code raised MemoryError"),
        ("return F.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2))", "error", "Your code hands its work to a library"),
        (
            "import numpy; return numpy.ones(2, numpy.longdouble)",
            "error",
            "Your code returned something that no test can use",
        ),
    ],
    ids=["printed", "torch", "Python", "forbidden", "numpy"],
)
def test_the_real_thing_gets_its_verdict(body, verdict, explanation):
    """Too much output, a failed allocation, a forbidden function, a value that cannot cross."""
    for seen, message in outcomes(body):
        assert seen == verdict and explanation in message


@pytest.mark.parametrize(
    ("name", "base"),
    [
        *(("OutputLimit", "Exception"), ("OutputLimit", "BaseException"), ("ProtocolError", "Exception")),
        *(("ForbiddenFunction", "RuntimeError"), ("MemoryError", "Exception"), ("OutOfMemoryError", "RuntimeError")),
        *(("StudentError", "Exception"), ("ConnectionClosed", "BaseException"), ("NotImplemented", "ValueError")),
    ],
)
def test_a_students_class_by_the_name_of_one_of_the_graders_is_an_ordinary_error(name, base):
    """The student reads the name and message in the visible check, and the built-in class in the hidden test."""
    body = f"raise {name}({ALLOCATION!r})"
    visible, secret = outcomes(body, f"class {name}({base}): pass\n")
    assert visible[0] == secret[0] == "error"
    assert visible[1].startswith(f"Your code raised {name}: {ALLOCATION}")
    assert secret[1].startswith(f"f gives back what it gets. Your code raised {base} (in f, line 3: ")


@pytest.mark.parametrize("kind", ["RuntimeError", "ValueError", "Exception"])
@pytest.mark.parametrize("message", ["not enough memory", ALLOCATION])
def test_a_students_own_words_decide_nothing(kind, message):
    """torch reports a failed allocation in these words, but not with a `raise` statement."""
    for verdict, explanation in outcomes(f"raise {kind}({message!r})"):
        assert verdict == "error" and f"Your code raised {kind}" in explanation


@pytest.mark.parametrize("again", ["raise", "raise error"])
def test_a_failed_allocation_that_is_raised_again_is_one(again):
    """An answer may catch the error to print something first."""
    body = f"try:\n        torch.empty(10**15)\n    except RuntimeError as error:\n        {again}"
    assert [verdict for verdict, _ in outcomes(body)] == ["out of memory"] * 2


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
