"""What student code prints during a call goes where the test's own output goes, as in one process."""

import contextlib
import io
import sys

import pytest
from IPython.utils.capture import capture_output

from grader.engine.grading import grade
from grader.engine.rpc.protocol import MAX_PRINTED
from grader.engine.runner.standins.errors import StudentError
from tests.support.notebooks import answer, check, helpers, notebook, with_answer

CODE = """
import logging, sys, contextlib, io

def hello(name):
    print("Hello,", name)
    return len(name)

def fails():
    print("before")
    raise ValueError("no")

def both():
    print("out")
    print("error", file=sys.stderr)
    sys.stdout.write("out again\\n")

def asks(function):
    print("first")
    function()
    print("last", end="")

def own():
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print("mine")
    print("yours")
    return text.getvalue()

def much(n):
    for _ in range(n):
        print("x" * 1023)
"""


def test_a_test_captures_what_student_code_prints(student):
    """In order with its own text, with the result of the call, and whether the call returns or raises."""
    remote = student(CODE)
    remote["hello"]("the world")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print("-")
        assert remote["hello"]("Ada") == 3
        print("-")
        with pytest.raises(StudentError, match="no"):
            remote["fails"]()
        remote["asks"](lambda: print("between"))
    assert text.getvalue() == "-\nHello, Ada\n-\nbefore\nfirst\nbetween\nlast"


@pytest.mark.parametrize("way", ["assigned", "IPython", "patched"])
def test_every_way_of_capturing_works(student, monkeypatch, way):
    """A replaced sys.stdout and IPython's capture_output; stderr is kept apart."""
    remote = student(CODE)
    out, error = io.StringIO(), io.StringIO()
    if way == "IPython":
        with capture_output() as captured:
            remote["both"]()
        assert (captured.stdout, captured.stderr) == ("out\nout again\n", "error\n")
        return
    if way == "assigned":
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, error
        remote["both"]()
        sys.stdout, sys.stderr = streams
    else:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", error)
        remote["both"]()
        monkeypatch.undo()
    assert (out.getvalue(), error.getvalue()) == ("out\nout again\n", "error\n")


def test_student_code_may_capture_its_own_output(student):
    """What it captures does not reach the test, and what it prints later does."""
    remote = student(CODE)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert remote["own"]() == "mine\n"
    assert text.getvalue() == "yours\n"


def test_nothing_is_sent_to_a_test_that_does_not_listen(student, capsys):
    """Neither then nor later."""
    remote = student(CODE)
    remote["hello"]("Ada")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        remote["hello"]("Bob")
    assert text.getvalue() == "Hello, Bob\n" and capsys.readouterr().out == ""


def test_too_much_is_refused_and_the_next_call_works(student):
    """Up to a mebibyte arrives whole; more ends the call."""
    remote = student(CODE)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        remote["much"](MAX_PRINTED // 1024)
        assert len(text.getvalue()) == MAX_PRINTED
        with pytest.raises(StudentError, match="characters were printed"):
            remote["much"](MAX_PRINTED // 1024 + 1)
        assert remote["hello"]("Ada") == 3
    assert text.getvalue().endswith("Hello, Ada\n")


def test_half_a_surrogate_pair_is_replaced(student):
    """It has no encoding."""
    remote = student("def odd():\n    print('\\ud800!')")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        remote["odd"]()
    assert text.getvalue() == "?!\n"


TESTS = """
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()) as text:
    greet("Ada")
assert text.getvalue() == "Hello, Ada\\n", f"You printed {text.getvalue()!r}."
"""


def test_a_notebook_that_prints_is_graded():
    """By what it prints: a function that returns the text instead prints nothing."""
    source = notebook(
        helpers("imports", "import math"), answer("greet", "def greet(x):\n    pass"), check("greet-check", TESTS, 2)
    )
    for body, points, says in (
        ("print(f'Hello, {x}')", 2, ""),
        ("print('Hello,', x, end='\\n')", 2, ""),
        ("return f'Hello, {x}'", 0, "You printed ''."),
        ("print('Hello', x)", 0, "You printed 'Hello Ada"),
        ("raise ValueError('no')", 0, "ValueError: no"),
    ):
        [result] = grade(source, with_answer(source, "greet", f"def greet(x):\n    {body}")).results
        assert result.points == points and says in result.message, body
