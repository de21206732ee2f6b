"""What student code prints during a call goes where the test's own output goes, as in one process."""

import contextlib
import io
import textwrap

import pytest

from grader.engine.rpc.protocol import MAX_PRINTED
from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same

HELLO = "def hello(name):\n    print('Hello,', name)\n    return len(name)\n"
BOTH = "import sys\nprint('out')\nprint('error', file=sys.stderr)\nsys.stdout.write('out again\\n')"
OWN = """import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as text:
    print("mine")
print("yours")
x.append(text.getvalue())
"""
USES = {
    "in order": """
        do("print('Hello,', x)", "the world")
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print("-")
            length = get("print('Hello,', x) or len(x)", "Ada")
            print("-")
            with pytest.raises(ValueError, match="no"):
                do("print('first')\\nx()\\nprint('last', end='')\\nraise ValueError('no')", lambda: print("between"))
        shown = text.getvalue()
        assert shown == "-\\nHello, Ada\\n-\\nfirst\\nbetween\\nlast"
    """,
    "assigned streams": f"""
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, error = io.StringIO(), io.StringIO()
        do({BOTH!r})
        sys.stdout, sys.stderr = streams
        shown, streams = (out.getvalue(), error.getvalue()), None
        assert shown == ("out\\nout again\\n", "error\\n")
    """,
    "patched streams": f"""
        with patch("sys.stdout", io.StringIO()) as out, patch("sys.stderr", io.StringIO()) as error:
            do({BOTH!r})
        shown = out.getvalue(), error.getvalue()
    """,
    "IPython": f"""
        with capture_output() as captured:
            do({BOTH!r})
        shown = captured.stdout, captured.stderr
    """,
    "what student code captures itself": f"""
        returned = []
        with contextlib.redirect_stdout(io.StringIO()) as text:
            do({OWN!r}, returned)
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
    assert_same(student, "", IMPORTS + textwrap.dedent(test))


def test_nothing_is_sent_to_a_test_that_does_not_listen(student, capsys):
    """Neither then nor later."""
    remote = student(HELLO)
    remote["hello"]("Ada")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        remote["hello"]("Bob")
    assert text.getvalue() == "Hello, Bob\n" and capsys.readouterr().out == ""


def test_too_much_is_refused_and_the_next_call_works(student):
    """Up to a mebibyte arrives whole; more ends the call."""
    remote = student(f"{HELLO}def much(n):\n    print(*['x' * 1023] * n, sep='\\n')")
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
