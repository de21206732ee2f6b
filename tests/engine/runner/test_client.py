"""A call of student code in the sandbox looks like a call in one process."""

import pytest
import torch

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import ErrorCode, ErrorInfo, Frame
from grader.engine.runner.standins.errors import StudentError


def test_values_come_back_as_they_were(student):
    """Numbers, strings, lists, tuples, dicts, slices, dtypes and None are copied, with their types."""
    remote = student("def echo(x):\n    return x")
    echo = remote["echo"]
    values = [
        *(None, True, False, 0, -(2**70), 1.5, "", "naïve \N{SNOWMAN}", [], (), {}, [1, (2, [3])], (None,)),
        *({"a": [1], 2: (3,), (4, 5): "six", None: True}, slice(1, None, -2), torch.float64, torch.bool),
    ]
    for value in values:
        returned = echo(value)
        assert returned == value and type(returned) is type(value)
    assert str(echo(float("nan"))) == "nan" and echo(float("-inf")) == float("-inf")


def test_an_argument_keeps_its_type(student):
    """In the sandbox True is not 1, and 1 is not 1.0."""
    remote = student("def kinds(*values):\n    return [type(value).__name__ for value in values]")
    assert remote["kinds"](True, 1, 1.0, "1", [1], (1,), {1: 1}, None) == (
        ["bool", "int", "float", "str", "list", "tuple", "dict", "NoneType"]
    )


def test_sizes_and_named_results_are_tuples(student):
    """torch.Size and the result of max(dim) can be unpacked as in one process."""
    remote = student("def size(x):\n    return x.shape\ndef largest(x):\n    return x.max(-1)")
    assert remote["size"](torch.zeros(2, 3)) == (2, 3)
    values, places = remote["largest"](torch.tensor([[1.0, 5.0]]))
    assert values.tolist() == [5.0] and places.tolist() == [1]


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


@pytest.mark.parametrize("ending", ["__import__('sys').exit()", "raise SystemExit(0)", "raise KeyboardInterrupt"])
def test_leaving_is_a_failure_of_the_function(student, ending):
    """A function that exits has failed like any other, and its process goes on."""
    remote = student(f"def leave():\n    {ending}\ndef stay():\n    return 1")
    with pytest.raises(StudentError):
        remote["leave"]()
    assert remote["stay"]() == 1


def test_a_function_of_the_test_can_be_called_from_student_code(student):
    """For example, a beam search takes the model as `step`, a function that the test defines."""
    remote = student(
        "def greedy(step, start):\n    while len(start) < 4:\n        start = [*start, step(start)]\n    return start"
    )
    calls = []

    def step(tokens):
        calls.append(list(tokens))
        return int(torch.tensor(tokens).sum())

    assert remote["greedy"](step, [1]) == [1, 1, 2, 4]
    assert calls == [[1], [1, 1], [1, 1, 2]]


def test_an_exception_of_the_tests_function_reaches_the_test(student):
    """Student code sees an exception of the same class and may catch it; if it does not, the test gets its own back."""
    remote = student(
        "def hand_on(f):\n    return f()\n"
        "def catch(f):\n    try:\n        f()\n    except ValueError as error:\n        return f'caught {error}'"
    )

    def refuse():
        raise ValueError("too long")

    with pytest.raises(ValueError, match="too long"):
        remote["hand_on"](refuse)
    assert remote["catch"](refuse) == "caught too long"


def test_student_objects_can_be_handed_back(student):
    """A state that one function returns can be passed to the next, also inside a list."""
    remote = student(
        "class State:\n    def __init__(self, n):\n        self.n = n\n"
        "def begin():\n    return State(1)\ndef go_on(states):\n    return [State(s.n + 1) for s in states]"
    )
    state = remote["begin"]()
    assert state.n == 1
    later = remote["go_on"]([state, remote["State"](n=5)])
    assert [one.n for one in later] == [2, 6]


def test_student_objects_work_as_in_one_process(student):
    """len, indexing, iteration, isinstance and attributes work on instances of a student's class."""
    remote = student(
        "class Vocabulary:\n"
        "    def __init__(self, words):\n        self.words = words\n"
        "    def __len__(self):\n        return len(self.words)\n"
        "    def __getitem__(self, place):\n        return self.words[place]\n"
        "def batches():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
    )
    vocabulary = remote["Vocabulary"](["she", "sat"])
    assert len(vocabulary) == 2 and vocabulary[1] == "sat" and list(vocabulary) == ["she", "sat"]
    assert isinstance(vocabulary, remote["Vocabulary"]) and not isinstance(1, remote["Vocabulary"])
    vocabulary.words = ["by"]
    assert len(vocabulary) == 1
    endless = remote["batches"]()
    assert [next(endless), next(endless)] == [0, 1]
    assert [n for n, _ in zip(endless, range(3), strict=False)] == [2, 3, 4]
    with pytest.raises(AttributeError):
        vocabulary.missing  # noqa: B018


@pytest.mark.parametrize("many", ["map(int, (1, 2))", "(n for n in (1, 2))", "iter([1, 2])"])
def test_an_iterator_without_a_length_makes_a_list(student, many):
    """list() asks for a length first and goes on without one."""
    f = student(f"def f():\n    return {many}")["f"]
    assert list(f()) == [1, 2] and tuple(f()) == (1, 2) and sorted(f()) == [1, 2]
    with pytest.raises(TypeError, match="len()"):
        len(f())


def test_fields_of_named_tuples_keep_their_names(student):
    """Those of a NamedTuple on both sides, with gradients, and those of torch's own results."""
    remote = student(
        "from collections import namedtuple\n"
        "Attended = namedtuple('Attended', ['context', 'weights'])\n"
        "def attend(x):\n    return Attended(x.sum(), weights=x.softmax(0))\n"
        "def weights(attended):\n    return attended.weights\n"
        "def largest(x):\n    return x.max(0)\n"
        "def bare():\n    return type('Bare', (tuple,), {'_fields': ['a b']})((1,))\n"
    )
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    attended = remote["attend"](x)
    context, weights = attended
    assert attended.context is context and attended.weights is weights and isinstance(attended, tuple)
    context.backward()
    assert x.grad.tolist() == [1, 1] and type(attended).__name__ == "Attended"
    assert torch.equal(remote["weights"](attended), weights)
    assert remote["largest"](x).values == 3 and remote["largest"](x).indices == 1
    assert remote["bare"]() == (1,)


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


@pytest.mark.parametrize(
    "back", ["import numpy; return numpy.ones(1, numpy.longdouble)", "return torch.ones(2).to(torch.float8_e5m2)"]
)
def test_a_result_that_cannot_cross_is_named(student, back):
    """The error has its own code and names the dtype; the next call works."""
    remote = student(f"def odd():\n    {back}\ndef right():\n    return 1")
    with pytest.raises(StudentError, match="float128|float8") as caught:
        remote["odd"]()
    assert caught.value.info.code is ErrorCode.CANNOT_CROSS
    assert remote["right"]() == 1


@pytest.mark.parametrize("back", ["nn.LazyLinear(3).weight", "torch.ones(2).as_subclass(Odd)"])
def test_a_tensor_that_cannot_be_read_is_an_error_of_that_call(student, back):
    """A lazy parameter has no values yet, and a student's tensor class may raise anything; the next call works."""
    odd = "class Odd(torch.Tensor):\n    def is_contiguous(self):\n        raise KeyError('odd')\n"
    remote = student(f"{odd}def odd():\n    return {back}\ndef right():\n    return 1")
    with pytest.raises(StudentError):
        remote["odd"]()
    assert remote["right"]() == 1


def test_too_much_does_not_cross(student):
    """An endless list and an integer of a million digits are refused with a reason, and the process goes on."""
    remote = student("def deep():\n    x = []\n    x.append(x)\n    return x\ndef long():\n    return 10**1_000_000\n")
    with pytest.raises(StudentError, match="levels deep"):
        remote["deep"]()
    with pytest.raises(StudentError, match="bits"):
        remote["long"]()
    with pytest.raises(TypeError, match="to student code, not a object"):
        remote["deep"](object())
    with pytest.raises(StudentError, match="levels deep"):
        remote["deep"]()


def test_a_number_of_numpy_keeps_its_class_on_both_sides(student):
    """Alone and in a list: a test can tell it from Python's numbers and compute with it, as the notebook can."""
    remote = student(
        "import numpy as np\ndef many():\n    return np.int64(3), [np.float32(0.5)], np.bool_(True)\n"
        "def kind(x):\n    return type(x).__name__, x + 1\n"
    )
    whole, [half], yes = remote["many"]()
    assert (whole, half, yes) == (3, 0.5, True)
    assert [type(number).__name__ for number in (whole, half)] == ["int64", "float32"] and type(whole) is not int
    assert remote["kind"](whole) == ("int64", 4)


def test_a_stop_iteration_of_student_code_is_an_error(student):
    """It does not end a loop of the test over calls: such a test would find nothing wrong."""
    remote = student("def stops(x):\n    raise StopIteration\n")
    with pytest.raises(StudentError):
        list(map(remote["stops"], [1, 2]))


def test_a_stop_iteration_of_the_tests_own_function_comes_back_as_it_was(student):
    """Like every other exception of a function that the test hands over."""

    def step():
        raise StopIteration("of the test")

    with pytest.raises(StopIteration, match="of the test"):
        student("def calls(step):\n    return step()\n")["calls"](step)


def test_a_function_of_the_test_may_be_called_from_many_threads(student):
    """Every thread gets the result of its own call."""
    remote = student(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def many(step):\n    with ThreadPoolExecutor(4) as pool:\n        return list(pool.map(step, range(40)))\n"
    )
    assert remote["many"](lambda x: x + 1) == list(range(1, 41))


def test_the_name_of_an_object_carries_no_message(student):
    """A test may show the name to the student, so it must be an identifier and no list of numbers."""
    remote = student("class Odd: pass\nOdd.__name__ = 'seen: 1, 2, 3'\ndef odd():\n    return Odd()\n")
    assert repr(remote["odd"]()) == "<object of the submission>"


@pytest.mark.slow
def test_a_function_under_torch_compile_runs_uncompiled(student):
    """A confined process cannot start a compiler."""
    remote = student("@torch.compile\ndef twice(x):\n    return 2 * x\n")
    assert torch.equal(remote["twice"](torch.ones(2)), torch.full((2,), 2.0))


def test_student_code_can_import_a_file_that_it_wrote(student):
    """From its scratch folder, as in a notebook."""
    remote = student("open('own.py', 'w').write('def one():\\n    return 1\\n')\nfrom own import one\n")
    assert remote["one"]() == 1


def test_files_are_not_locked(student):
    """The sandbox of another student would see which bytes of a file are locked, so a lock could carry a message."""
    done = student("").run("import fcntl, os\nf = open(os.__file__)\nfcntl.lockf(f, fcntl.LOCK_SH, 1)")
    assert done.error.kind in ("OSError", "PermissionError")
