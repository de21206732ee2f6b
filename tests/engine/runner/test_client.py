"""A call of student code in the sandbox looks like a call in one process."""

import pytest
import torch

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import ErrorCode, ErrorInfo, Frame
from grader.engine.runner.standins.errors import StudentError
from tests.support.both_worlds import assert_same

ANSWER = """
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

Attended = namedtuple("Attended", ["context", "weights"])

class State:
    def __init__(self, n):
        self.n = n

def attend(x):
    return Attended(x.sum(), weights=x.softmax(0))

def catch(f):
    try:
        f()
    except ValueError as error:
        return f"caught {error}"

def many(step):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(step, range(40)))
"""
USES = {
    "sizes and named results": """
        size, (values, places) = get("x.shape", torch.zeros(2, 3)), get("x.max(-1)", torch.tensor([[1.0, 5.0]]))
        fields = [(get("x.max(0)", x).values, get("x.max(0)", x).indices) for x in (torch.tensor([1.0, 3.0]),)]
    """,
    "a named tuple": """
        x = torch.tensor([1.0, 3.0], requires_grad=True)
        attended = attend(x)
        context, weights = attended
        assert attended.context is context and attended.weights is weights and isinstance(attended, tuple)
        context.backward()
        same = torch.equal(get("x.weights", attended), weights), type(attended).__name__
        bare = get("type('Bare', (tuple,), {'_fields': ['a b']})((1,))") == (1,)
    """,
    "an exception of the test's function": """
        def refuse():
            raise ValueError("too long")
        caught = catch(refuse)
        get("x()", refuse)
    """,
    "the end of an iterator of the test's function": """
        caught = 1
        def step():
            raise StopIteration("of the test")
        get("x()", step)
    """,
    "objects that are handed back": """
        state = get("State(1)")
        later = get("[State(s.n + 1) for s in x]", [state, State(n=5)])
        numbers = state.n, [each.n for each in later]
    """,
    "calls from many threads": "found = many(lambda x: x + 1)",
} | {
    f"{many} without a length": f"""
        found = list(get("{many}")), tuple(get("{many}")), sorted(get("{many}"))
        with pytest.raises(TypeError, match="len()"):
            len(get("{many}"))
    """
    for many in ("map(int, (1, 2))", "(n for n in (1, 2))", "iter([1, 2])")
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_a_call_is_that_of_one_process(student, use):
    """In its results and their fields, its objects and its exceptions."""
    assert_same(student, ANSWER, USES[use], ends="the test's function" in use)


def test_a_variable_is_copied(student):
    """With the tensors in it. Unbound names and modules of Python are left out."""
    remote = student("weights = {'a': [torch.arange(3)]}\nimport math")
    assert remote["weights"]["a"][0].tolist() == [0, 1, 2]
    assert remote.client.fetch_names(["weights", "missing", "math"]).keys() == {"weights"}


@pytest.mark.parametrize(
    ("raised", "caught_as"),
    [
        ("ValueError('no')", ValueError),
        ("KeyError('no')", KeyError),
        ("IndexError('no')", LookupError),
        ("AssertionError('no')", AssertionError),
        ("NotImplementedError()", RuntimeError),
        ("type('Own', (TypeError,), {})('no')", TypeError),
        ("UnicodeDecodeError('utf-8', b'', 0, 1, 'no')", UnicodeError),
        ("ExceptionGroup('no', [ValueError()])", Exception),
    ],
)
def test_an_exception_keeps_its_built_in_class(student, raised, caught_as):
    """`except ValueError` in a test catches the student's ValueError, and exceptions derived from it."""
    remote = student(f"def fail():\n    raise {raised}")
    with pytest.raises(caught_as) as caught:
        remote["fail"]()
    assert isinstance(caught.value, StudentError)
    error = caught.value.info
    assert isinstance(error, ErrorInfo) and error.code is ErrorCode.RAISED
    assert error.frames[-1] == Frame(cell="<answer>", line=4, text=f"raise {raised}")


FAILURES = {
    "leaves by exit()": ("__import__('sys').exit()", None, ErrorCode.RAISED),
    "leaves by SystemExit": ("raise SystemExit(0)", None, ErrorCode.RAISED),
    "leaves by KeyboardInterrupt": ("raise KeyboardInterrupt", None, ErrorCode.RAISED),
    "ends a loop of the test": ("raise StopIteration", None, ErrorCode.RAISED),
    "array that cannot cross": ("import numpy; return numpy.ones(1, numpy.longdouble)", "float128",
                                ErrorCode.CANNOT_CROSS),
    "tensor that cannot cross": ("return torch.ones(2).to(torch.float8_e5m2)", "float8", ErrorCode.CANNOT_CROSS),
    "lazy parameter": ("return nn.LazyLinear(3).weight", "uninitialized parameter", ErrorCode.RAISED),
    "tensor class that raises": ("return torch.ones(2).as_subclass(Odd)", "odd", ErrorCode.RAISED),
    "endless list": ("x = []; x.append(x); return x", "levels deep", ErrorCode.CANNOT_CROSS),
    "long integer": ("return 10**1_000_000", "bits", ErrorCode.CANNOT_CROSS),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason", "code"), FAILURES.values(), ids=FAILURES)
def test_a_failure_of_a_call_is_an_error_of_that_call(student, body, reason, code):
    """The error has a code and a reason, and the process goes on: the next call works."""
    odd = "class Odd(torch.Tensor):\n    def is_contiguous(self):\n        raise KeyError('odd')\n"
    remote = student(f"{odd}def fail(x=0):\n    {body}\ndef right():\n    return 1")
    with pytest.raises(StudentError, match=reason) as caught:
        list(map(remote["fail"], [1]))
    assert caught.value.info.code is code
    with pytest.raises(TypeError, match="to student code, not a object"):
        remote["fail"](object())
    assert remote["right"]() == 1


def test_no_field_of_a_tuple_replaces_a_method_of_tensors(student):
    """`weights.sum(1)` must call a tensor's method; a layer may be called `norm`, as in any object."""
    remote = student(
        "import torch\nfrom collections import namedtuple\n"
        "def fields(name, held):\n    return namedtuple('Weights', [name])(held)\n"
        "def summed():\n    return fields('sum', lambda dim: torch.ones(2))\n"
        "def layers():\n    return fields('norm', torch.nn.LayerNorm(2))\n"
    )
    with pytest.raises(ProtocolError, match="the field sum .* a tensor has a method sum"):
        remote["summed"]()
    assert remote["layers"]().norm(torch.ones(2)).tolist() == [0, 0]


def test_the_name_of_an_object_carries_no_message(student):
    """A test may show the name to the student, so it must be an identifier and no list of numbers."""
    remote = student("class Odd: pass\nOdd.__name__ = 'seen: 1, 2, 3'\ndef odd():\n    return Odd()\n")
    assert repr(remote["odd"]()) == "<object of the submission>"


@pytest.mark.slow
def test_a_function_under_torch_compile_runs_uncompiled(student):
    """A confined process cannot start a compiler."""
    remote = student("@torch.compile\ndef twice(x):\n    return 2 * x\n")
    assert torch.equal(remote["twice"](torch.ones(2)), torch.full((2,), 2.0))


def test_student_code_imports_a_file_of_its_own_and_locks_none(student):
    """From its scratch folder; the sandbox of another student would see a lock, so that one could carry a message."""
    remote = student("open('own.py', 'w').write('def one():\\n    return 1\\n')\nfrom own import one\n")
    assert remote["one"]() == 1
    done = remote.run("import fcntl, os\nf = open(os.__file__)\nfcntl.lockf(f, fcntl.LOCK_SH, 1)")
    assert done.error.kind in ("OSError", "PermissionError")
