"""An exception becomes data with a code that the grader's own code sets: student code chooses names and messages."""

from itertools import product

import pytest
import torch

from grader.engine.report import Verdict
from grader.engine.rpc.exceptions import ForbiddenFunction, OutputLimit, to_data, verdict_on
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import MAX_FRAMES, MAX_LINE, ErrorCode
from grader.text import MAX_MESSAGE

ALLOCATION = "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried ..."


def described(source: str, **names):
    """The description of what a cell raises that reads so."""
    try:
        exec(compile(source, "<answer>", "exec"), {"torch": torch} | names)
    except BaseException as error:
        return to_data(error)
    raise AssertionError("the cell raises nothing")


GRADERS = {"OutputLimit": OutputLimit, "ForbiddenFunction": ForbiddenFunction, "ProtocolError": ProtocolError}
OUT_OF_MEMORY = [
    *("bytearray(2**60)", "[0] * 2**58", "torch.empty(2**55)", "torch.zeros(1).expand(2**55) + 1"),
    "try:\n    torch.empty(2**55)\nexcept RuntimeError:\n    raise",
    "try:\n    torch.empty(2**55)\nfinally:\n    x = 1",
    "try:\n    torch.empty(2**55)\nexcept RuntimeError as error:\n    raise error",
    "with torch.no_grad():\n    torch.empty(2**55)",
]


@pytest.mark.parametrize(
    ("source", "code", "verdict"),
    [
        ("raise OutputLimit('more')", ErrorCode.OUTPUT_LIMIT, Verdict.OUTPUT_LIMIT),
        ("raise ForbiddenFunction('conv1d')", ErrorCode.FORBIDDEN_FUNCTION, Verdict.ERROR),
        ("raise ProtocolError('a numpy ndarray')", ErrorCode.CANNOT_CROSS, Verdict.ERROR),
        *((source, ErrorCode.OUT_OF_MEMORY, Verdict.OUT_OF_MEMORY) for source in OUT_OF_MEMORY),
        ("torch.ones(2) @ torch.ones(3)", ErrorCode.RAISED, Verdict.ERROR),
        ("1 / 0", ErrorCode.RAISED, Verdict.ERROR),
        # Only the grader raises the class itself.
        ("class Mine(OutputLimit): pass\nraise Mine('more')", ErrorCode.RAISED, Verdict.ERROR),
    ],
)
def test_the_real_thing_gets_its_code(source, code, verdict):
    """The grader's own exceptions, and failed allocations of Python and torch, also where they are raised again."""
    error = described(source, **GRADERS)
    assert error.code is code and verdict_on(error) is verdict


def test_a_class_of_the_students_by_such_a_name_is_an_ordinary_error():
    """A student may call an exception whatever they like."""
    for name, base in product([*GRADERS, "MemoryError", "OutOfMemoryError"], ["RuntimeError", "BaseException"]):
        error = described(f"class {name}({base}): pass\nraise {name}({ALLOCATION!r})")
        assert (error.name, error.kind, error.code) == (name, base, ErrorCode.RAISED)
        assert verdict_on(error) is Verdict.ERROR


def test_words_of_the_students_decide_nothing():
    """torch reports a failed allocation as a RuntimeError with such words, but not with a `raise` statement."""
    messages = ["not enough memory", ALLOCATION, "more than 100 characters were printed"]
    for kind, message in product(["RuntimeError", "ValueError", "Exception", "OSError"], messages):
        for source in (
            f"raise {kind}({message!r})",
            f"try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise {kind}({message!r}) from error",
            f"error = {kind}({message!r})\ndef f():\n    raise error\ntry:\n    f()\nfinally:\n    x = 1",
            f"error = {kind}({message!r})\ntry:\n    raise error\nexcept {kind}:\n    raise",
        ):
            error = described(source)
            assert error.code is ErrorCode.RAISED and verdict_on(error) is Verdict.ERROR


def test_an_exception_keeps_its_built_in_class_and_its_lines():
    """The nearest class that every Python has, and the lines of cells only."""
    error = described(
        "import json\nclass Own(TypeError): pass\ndef f(x):\n    raise Own('no')\njson.loads('1', parse_int=f)"
    )
    assert (error.kind, error.name, error.message) == ("TypeError", "Own", "no")
    assert [(frame.cell, frame.line) for frame in error.frames] == [("<answer>", 5), ("<answer>", 4)]


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('x' * 10**6)",
        "raise ValueError('\\ud800')",
        "raise type('x' * 10**6, (ValueError,), {})('no')",
        "raise type('\\ud800', (ValueError,), {})('no')",
        "class Odd(Exception):\n    def __str__(self): raise KeyError\nraise Odd",
        "class Odd(Exception):\n    def __str__(self): return 5\nraise Odd",
        "def f(n): return f(n - 1) if n else 1 / 0\nf(50)",
        "exec(compile('1 / 0', '<' + 'x' * 10**6 + '>', 'exec'))",
        "exec(compile('1 / 0', '<\\ud800>', 'exec'))",
    ],
)
def test_a_description_fits_its_message(source):
    """However long and odd the exception is: what does not fit, the runner would refuse."""
    error = described(source)
    assert len(error.message) <= MAX_MESSAGE and len(error.name) <= MAX_LINE and len(error.frames) <= MAX_FRAMES
    assert all(len(frame.cell) <= MAX_LINE and len(frame.text) <= MAX_LINE for frame in error.frames)
    assert repr(error).encode()


def test_a_forged_traceback_breaks_nothing():
    """Student code may raise an exception whose traceback names an instruction that does not exist."""
    source = """
import sys, types
frame = sys._getframe()
error = RuntimeError("not enough memory").with_traceback(types.TracebackType(None, frame, offset, 1))
"""
    for offset in (-1, 0, 10**6):
        names = {"offset": offset}
        exec(compile(source, "<answer>", "exec"), names)
        assert to_data(names["error"]).message == "not enough memory"
    assert to_data(RuntimeError("not enough memory")).message == "not enough memory"
