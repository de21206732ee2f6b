"""What student code prints during a call goes where the test's own output goes, as in one process."""

import contextlib
import io
import textwrap

import pytest

from grader.engine.rpc.protocol import MAX_PRINTED
from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same

CODE = """
import contextlib, io, sys

def hello(name):
    print("Hello,", name)
    return len(name)

def asks(function):
    print("first")
    function()
    print("last", end="")
    raise ValueError("no")

def both():
    print("out")
    print("error", file=sys.stderr)
    sys.stdout.write("out again\\n")

def own():
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print("mine")
    print("yours")
    return text.getvalue()
"""
USES = {
    "in order": """
        hello("the world")
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print("-")
            length = hello("Ada")
            print("-")
            with pytest.raises(ValueError, match="no"):
                asks(lambda: print("between"))
        shown = text.getvalue()
        assert shown == "-\\nHello, Ada\\n-\\nfirst\\nbetween\\nlast"
    """,
    "assigned streams": """
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, error = io.StringIO(), io.StringIO()
        both()
        sys.stdout, sys.stderr = streams
        shown, streams = (out.getvalue(), error.getvalue()), None
        assert shown == ("out\\nout again\\n", "error\\n")
    """,
    "patched streams": """
        with patch("sys.stdout", io.StringIO()) as out, patch("sys.stderr", io.StringIO()) as error:
            both()
        shown = out.getvalue(), error.getvalue()
    """,
    "IPython": """
        with capture_output() as captured:
            both()
        shown = captured.stdout, captured.stderr
    """,
    "what student code captures itself": """
        with contextlib.redirect_stdout(io.StringIO()) as text:
            returned = own()
        shown = text.getvalue()
    """,
}
IMPORTS = """import contextlib, io, sys
from unittest.mock import patch
from IPython.utils.capture import capture_output
"""


@pytest.mark.parametrize("test", USES.values(), ids=USES)
def test_a_test_captures_what_student_code_prints(student, test):
    """In order with its own text, whether the call returns or raises, and in every way; stderr is kept apart."""
    assert_same(student, CODE, IMPORTS + textwrap.dedent(test))


def test_nothing_is_sent_to_a_test_that_does_not_listen(student, capsys):
    """Neither then nor later."""
    remote = student(CODE)
    remote["hello"]("Ada")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        remote["hello"]("Bob")
    assert text.getvalue() == "Hello, Bob\n" and capsys.readouterr().out == ""


def test_too_much_is_refused_and_the_next_call_works(student):
    """Up to a mebibyte arrives whole; more ends the call."""
    remote = student(f"{CODE}def much(n):\n    print(*['x' * 1023] * n, sep='\\n')")
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
