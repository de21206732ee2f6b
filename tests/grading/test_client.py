"""Functions and values across the boundary: a call there looks like a call here."""

import pytest
import torch

from course.grading.client import StudentError
from course.grading.tensors import WireError


def test_values_come_back_as_they_were(student):
    """Tensors, numbers, strings, lists, tuples, dicts, slices, dtypes and None are copied, kinds and all."""
    theirs = student("def echo(x):\n    return x")
    echo = theirs["echo"]
    values = [
        *(None, True, False, 0, -(2**70), 1.5, "", "naïve \N{SNOWMAN}", [], (), {}, [1, (2, [3])], (None,)),
        *({"a": [1], 2: (3,), (4, 5): "six", None: True}, slice(1, None, -2), torch.float64, torch.bool),
    ]
    for value in values:
        got = echo(value)
        assert got == value and type(got) is type(value)
    assert str(echo(float("nan"))) == "nan" and echo(float("-inf")) == float("-inf")


def test_a_number_stays_what_it_is(student):
    """True is not 1 on the other side, and 1 is not 1.0."""
    theirs = student("def kinds(*values):\n    return [type(value).__name__ for value in values]")
    assert theirs["kinds"](True, 1, 1.0, "1", [1], (1,), {1: 1}, None) == (
        ["bool", "int", "float", "str", "list", "tuple", "dict", "NoneType"]
    )


def test_sizes_and_named_results_are_tuples(student):
    """torch.Size and the result of max(dim) can be taken apart as in one process."""
    theirs = student("def size(x):\n    return x.shape\ndef largest(x):\n    return x.max(-1)")
    assert theirs["size"](torch.zeros(2, 3)) == (2, 3)
    values, places = theirs["largest"](torch.tensor([[1.0, 5.0]]))
    assert values.tolist() == [5.0] and places.tolist() == [1]


def test_a_variable_is_copied(student):
    """What a student's name holds is there, tensors in lists too; a name that is not there is left out."""
    theirs = student("weights = {'a': [torch.arange(3)]}\nimport math")
    assert theirs["weights"]["a"][0].tolist() == [0, 1, 2]
    assert theirs.client.look(["weights", "missing", "math"]).keys() == {"weights"}


@pytest.mark.parametrize(
    ("raised", "kind"),
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
def test_an_exception_keeps_its_built_in_kind(student, raised, kind):
    """`except ValueError` in a test catches the student's ValueError, and what is derived from it."""
    theirs = student(f"def fail():\n    raise {raised}")
    with pytest.raises(kind) as caught:
        theirs["fail"]()
    assert isinstance(caught.value, StudentError)
    assert caught.value.said["frames"][-1][1:] == [4, f"raise {raised}"]


@pytest.mark.parametrize("ending", ["exit()", "raise SystemExit(0)", "raise KeyboardInterrupt", "quit()"])
def test_leaving_is_a_failure_of_the_function(student, ending):
    """A function that exits has failed like any other; its process goes on."""
    theirs = student(f"def leave():\n    {ending}\ndef stay():\n    return 1")
    with pytest.raises(StudentError):
        theirs["leave"]()
    assert theirs["stay"]() == 1


def test_a_function_of_the_test_can_be_called_from_student_code(student):
    """A beam search takes the model as `step`: a function that the test defines."""
    theirs = student(
        "def greedy(step, start):\n    while len(start) < 4:\n        start = [*start, step(start)]\n    return start"
    )
    asked = []

    def step(tokens):
        asked.append(list(tokens))
        return int(torch.tensor(tokens).sum())

    assert theirs["greedy"](step, [1]) == [1, 1, 2, 4]
    assert asked == [[1], [1, 1], [1, 1, 2]]


def test_what_the_tests_function_raises_reaches_the_test(student):
    """The student's code sees an exception of the same kind, may catch it, and hands on what it does not catch."""
    theirs = student(
        "def hand_on(f):\n    return f()\n"
        "def catch(f):\n    try:\n        f()\n    except ValueError as error:\n        return f'caught {error}'"
    )

    def refuse():
        raise ValueError("too long")

    with pytest.raises(ValueError, match="too long"):
        theirs["hand_on"](refuse)
    assert theirs["catch"](refuse) == "caught too long"


def test_student_objects_can_be_handed_back(student):
    """A state that one function makes is understood by the next, inside lists too."""
    theirs = student(
        "class State:\n    def __init__(self, n):\n        self.n = n\n"
        "def begin():\n    return State(1)\ndef go_on(states):\n    return [State(s.n + 1) for s in states]"
    )
    state = theirs["begin"]()
    assert state.n == 1
    later = theirs["go_on"]([state, theirs["State"](n=5)])
    assert [one.n for one in later] == [2, 6]


def test_student_objects_behave(student):
    """len, indexing, iteration, membership of a class and attributes work on what the student's class makes."""
    theirs = student(
        "class Vocabulary:\n"
        "    def __init__(self, words):\n        self.words = words\n"
        "    def __len__(self):\n        return len(self.words)\n"
        "    def __getitem__(self, place):\n        return self.words[place]\n"
        "def batches():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
    )
    vocabulary = theirs["Vocabulary"](["she", "sat"])
    assert len(vocabulary) == 2 and vocabulary[1] == "sat" and list(vocabulary) == ["she", "sat"]
    assert isinstance(vocabulary, theirs["Vocabulary"]) and not isinstance(1, theirs["Vocabulary"])
    vocabulary.words = ["by"]
    assert len(vocabulary) == 1
    endless = theirs["batches"]()
    assert [next(endless), next(endless)] == [0, 1]
    assert [n for n, _ in zip(endless, range(3), strict=False)] == [2, 3, 4]
    with pytest.raises(AttributeError):
        vocabulary.missing  # noqa: B018


@pytest.mark.parametrize("many", ["map(int, (1, 2))", "(n for n in (1, 2))", "iter([1, 2])"])
def test_what_has_no_length_makes_a_list_all_the_same(student, many):
    """list() asks for a length first, and goes on where there is none."""
    f = student(f"def f():\n    return {many}")["f"]
    assert list(f()) == [1, 2] and tuple(f()) == (1, 2) and sorted(f()) == [1, 2]
    with pytest.raises(TypeError, match="len()"):
        len(f())


def test_fields_of_tuples_have_their_names(student):
    """Those of a NamedTuple, here and there, with gradients; and those of what torch itself returns."""
    theirs = student(
        "from collections import namedtuple\n"
        "Attended = namedtuple('Attended', ['context', 'weights'])\n"
        "def attend(x):\n    return Attended(x.sum(), weights=x.softmax(0))\n"
        "def weights(attended):\n    return attended.weights\n"
        "def largest(x):\n    return x.max(0)\n"
        "def bare():\n    return type('Bare', (tuple,), {'_fields': ['a b']})((1,))\n"
    )
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    attended = theirs["attend"](x)
    context, weights = attended
    assert attended.context is context and attended.weights is weights and isinstance(attended, tuple)
    context.backward()
    assert x.grad.tolist() == [1, 1] and type(attended).__name__ == "Attended"
    assert torch.equal(theirs["weights"](attended), weights)
    assert theirs["largest"](x).values == 3 and theirs["largest"](x).indices == 1
    assert theirs["bare"]() == (1,)


def test_no_field_of_a_tuple_stands_in_for_a_tensors_method(student):
    """`weights.sum(1)` asks a tensor; a layer may be called norm, as in any object."""
    theirs = student(
        "import torch\nfrom collections import namedtuple\n"
        "def fields(name, held):\n    return namedtuple('Weights', [name])(held)\n"
        "def summed():\n    return fields('sum', lambda dim: torch.ones(2))\n"
        "def layers():\n    return fields('norm', torch.nn.LayerNorm(2))\n"
    )
    with pytest.raises(WireError, match="a tensor has a method sum"):
        theirs["summed"]()
    assert theirs["layers"]().norm(torch.ones(2)).tolist() == [0, 0]


@pytest.mark.parametrize("back", ["import numpy; return numpy.ones(2)", "return torch.ones(2).to(torch.float8_e5m2)"])
def test_what_does_not_cross_says_so(student, back):
    """An array of numpy and a dtype that the wire does not know are named, and the next call works."""
    theirs = student(f"def odd():\n    {back}\ndef right():\n    return 1")
    with pytest.raises(StudentError, match="numpy|float8"):
        theirs["odd"]()
    assert theirs["right"]() == 1


@pytest.mark.parametrize("back", ["nn.LazyLinear(3).weight", "torch.ones(2).as_subclass(Odd)"])
def test_a_tensor_that_cannot_be_looked_at_is_an_error_of_that_call(student, back):
    """A lazy parameter has no numbers yet, and a tensor class of one's own may raise anything; the next call works."""
    odd = "class Odd(torch.Tensor):\n    def is_contiguous(self):\n        raise KeyError('odd')\n"
    theirs = student(f"{odd}def odd():\n    return {back}\ndef right():\n    return 1")
    with pytest.raises(StudentError):
        theirs["odd"]()
    assert theirs["right"]() == 1


def test_too_much_does_not_cross(student):
    """An endless list and a number with a million digits are refused in words; the process lives on."""
    theirs = student("def deep():\n    x = []\n    x.append(x)\n    return x\ndef long():\n    return 10**1_000_000\n")
    with pytest.raises(StudentError, match="levels deep"):
        theirs["deep"]()
    with pytest.raises(StudentError, match="digits"):
        theirs["long"]()
    with pytest.raises(TypeError, match="a test hands"):
        theirs["deep"]({1, 2})
    with pytest.raises(StudentError, match="levels deep"):
        theirs["deep"]()


def test_a_number_of_numpy_is_one_on_both_sides(student):
    """Alone and in a list: a test tells it from Python's where the notebook does, and counts with it where it does."""
    theirs = student(
        "import numpy as np\ndef many():\n    return np.int64(3), [np.float32(0.5)], np.bool_(True)\n"
        "def kind(x):\n    return type(x).__name__, x + 1\n"
    )
    whole, [half], yes = theirs["many"]()
    assert (whole, half, yes) == (3, 0.5, True)
    assert [type(number).__name__ for number in (whole, half)] == ["int64", "float32"] and type(whole) is not int
    assert theirs["kind"](whole) == ("int64", 4)


def test_an_end_of_iteration_is_an_error_of_the_students(student):
    """It does not end a loop of the test over calls, which would then have found nothing wrong."""
    theirs = student("def stops(x):\n    raise StopIteration\n")
    with pytest.raises(StudentError):
        list(map(theirs["stops"], [1, 2]))


def test_an_end_of_iteration_of_the_tests_own_comes_back_as_it_was(student):
    """As every error of a function that the test hands over does."""

    def step():
        raise StopIteration("ours")

    with pytest.raises(StopIteration, match="ours"):
        student("def calls(step):\n    return step()\n")["calls"](step)


def test_a_function_of_the_test_may_be_called_from_many_threads(student):
    """Every thread gets the answer to its own question."""
    theirs = student(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def many(step):\n    with ThreadPoolExecutor(4) as pool:\n        return list(pool.map(step, range(40)))\n"
    )
    assert theirs["many"](lambda x: x + 1) == list(range(1, 41))


def test_the_name_of_an_object_says_no_more_than_a_name(student):
    """A test may show it to the student; a list of numbers is no name."""
    theirs = student("class Odd: pass\nOdd.__name__ = 'seen: 1, 2, 3'\ndef odd():\n    return Odd()\n")
    assert repr(theirs["odd"]()) == "<object of the submission>"


def test_what_is_marked_to_be_compiled_runs_as_it_is_written(student):
    """A confined process starts no compiler."""
    theirs = student("@torch.compile\ndef twice(x):\n    return 2 * x\n")
    assert torch.equal(theirs["twice"](torch.ones(2)), torch.full((2,), 2.0))


def test_a_file_of_its_own_can_be_imported(student):
    """From the folder it may write to, as in a notebook."""
    theirs = student("open('mine.py', 'w').write('def one():\\n    return 1\\n')\nfrom mine import one\n")
    assert theirs["one"]() == 1


def test_files_are_not_locked(student):
    """Another student's process would see which bytes of a file are locked: a way to tell it something."""
    told = student("").run("import fcntl, os\nf = open(os.__file__)\nfcntl.lockf(f, fcntl.LOCK_SH, 1)")
    assert told["raised"]["kind"] in ("OSError", "PermissionError")
