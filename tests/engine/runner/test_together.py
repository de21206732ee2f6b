"""Shows that a test with the tag `together` runs as on stock nbgrader, and what a student reads of it."""

from typing import Any

import pytest
from nbformat import NotebookNode

from grader.engine.explanation import Cause, EndingKind
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.plan import plan
from grader.engine.report import Result, Verdict
from grader.engine.runner.together import cells_above
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook

IMPORTS = helpers("imports", "import math\nimport numpy as np\nimport torch")


def together(*cells: NotebookNode) -> NotebookNode:
    """Return a notebook of which each test runs together with the student's code."""
    made = notebook(*cells)
    made.metadata["tags"] = ["together"]
    return made


def graded(source: NotebookNode, **answers: str) -> dict[str, Result]:
    """Return the result of each test of a submission with these answers; the others are our own."""
    return {result.name: result for result in grade(source, answered(source, **answers)).results}


def points(source: NotebookNode, **answers: str) -> list[float]:
    """Return the points of each test."""
    return [result.points for result in graded(source, **answers).values()]


PATTERNS = {
    "an object of the test's own class": (
        "def total(frame):\n    return frame.column('x').sum()",
        ".sum()",
        ".max()",
        "class Frame:\n    def column(self, name):\n        return np.arange(4)\nassert total(Frame()) == 6",
    ),
    "a name of __main__ patched": (
        "def square(x):\n    return x * x\ndef squares(n):\n    return [square(i) for i in range(n)]",
        "square(i)",
        "i * i",
        "from unittest.mock import patch\nwith patch('__main__.square') as fake:\n    squares(3)\n"
        "assert fake.call_count == 3, 'call square'",
    ),
    "a built-in patched": (
        "def ask():\n    name = input('Name? ')\n    print(f'Hello {name}')",
        "Hello",
        "Hi",
        "from unittest.mock import patch\n"
        "with patch('builtins.input', return_value='Ada'), patch('builtins.print') as shown:\n    ask()\n"
        "shown.assert_called_once_with('Hello Ada')",
    ),
    "names by locals and dir": (
        "height = 3\nwidth = 4\narea = height * width",
        "area",
        "space",
        "assert 'area' in locals() and 'area' in dir() and globals()['area'] == 12",
    ),
    "an effect on the module": (
        "calls = []\ndef log(x):\n    calls.append(x)",
        "append(x)",
        "append(1)",
        "before = len(calls)\nlog(7)\nassert calls[before:] == [7] and calls is globals()['calls']",
    ),
    "a number that raises where it is compared": (
        "one = 1.0",
        "one = 1.0",
        "class Lie(float):\n    def __eq__(self, other):\n        raise SystemExit\none = Lie(1)",
        "one",
    ),
    "await": (
        "import asyncio\nasync def later(x):\n    await asyncio.sleep(0)\n    return x + 1",
        "x + 1",
        "x",
        "assert await later(1) == 2",
    ),
    "a doctest": (
        "def twice(x):\n    '''Double.\n\n    >>> twice(2)\n    4\n    '''\n    return 2 * x",
        "2 * x",
        "3 * x",
        "import doctest\nassert doctest.testmod().failed == 0",
    ),
    "a module of torch that is subclassed": (
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x + self.shift()\n"
        "    def shift(self):\n        return 0",
        "x + self.shift()",
        "x",
        "class Shifted(Net):\n    def shift(self):\n        return 2\n"
        "assert torch.equal(Shifted()(torch.zeros(2)), torch.full((2,), 2.0))",
    ),
}
"""A right answer, what a wrong one replaces in it and by what, and a test of it; the census has more, visible ones."""


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("is_hidden", [False, True])
def test_it_runs_in_the_namespace_of_the_student(pattern: str, is_hidden: bool) -> None:
    """The right answer passes, and a wrong one fails, visible and hidden."""
    right, part, other, test = PATTERNS[pattern]
    judged = hidden("one-test-a", "So it is.", test) if is_hidden else check("one-check", test)
    source = together(IMPORTS, answer("one", right), judged)
    assert points(source) == [1], graded(source)
    assert points(source, one=right.replace(part, other)) == [0]


@pytest.mark.slow
def test_one_cell_has_the_tag_and_the_others_are_as_they_were() -> None:
    """Only the test with the tag is judged together; the report, and nothing else, says so."""
    source = notebook(
        answer("one", "def one():\n    return 1"),
        check("one-check", "assert one() == 1"),
        check("one-check-2", "assert 'one' in one.__globals__"),
        hidden("one-test-a", "One is one.", "assert one() == 1"),
    )
    assert [step.together for step in plan(source)] == [False] * 4
    assert points(source) == [1, 0, 1]
    cell(source, "one-check-2").metadata["tags"] = ["together"]
    results = graded(source)
    assert [result.together for result in results.values()] == [False, True, False]
    assert points(source) == [1, 1, 1]
    assert points(source, one="def one():\n    return 2") == [0, 1, 0]


def test_a_student_cannot_set_the_tag() -> None:
    """Tags of tests and of the notebook come from the source."""
    source = notebook(answer("one", "one = 1"), check("one-check", "assert one == 1"))
    submission = answered(source)
    submission.metadata["tags"] = ["together"]
    cell(submission, "one-check").metadata["tags"] = ["together"]
    assert [result.together for result in grade(source, submission).results] == [False]


@pytest.mark.slow
def test_points_are_those_of_the_last_line() -> None:
    """A number gives a part of the points, clamped; NaN gives none, and anything else all."""
    values = {"0.5": 0.5, "-1": 0, "7": 2, "float('nan')": 0, "-float('inf')": 0, "float('inf')": 2}
    values |= {"'text'": 2, "None": 2, "True": 2, "x = 1": 2, "one": 1, "torch.tensor(0.5)": 2, "np.float64(1)": 1}
    tests = [check(f"one-check-{number}", value, 2) for number, value in enumerate(values)]
    assert points(together(IMPORTS, answer("one", "one = 1"), *tests)) == list(values.values())


@pytest.mark.slow
def test_random_numbers_are_the_same_in_each_run() -> None:
    """Random numbers of a test depend on its name, and neither on cells above nor on luck."""
    draws = "drawn = torch.rand(1).item(), np.random.rand(), random.random()"
    source = together(IMPORTS, answer("one", "import random"), check("one-check", f"{draws}\nassert False, drawn"))
    first, second = (graded(source, one=one)["one-check"].message for one in ("import random", "import random\n1"))
    drawn = graded(source, one="import random\nrandom.random(), torch.rand(3), np.random.rand(5)")["one-check"].message
    assert first == second == drawn and first.startswith("(0.")


# The cells above a test


def names_of(source: NotebookNode, test: str) -> list[str]:
    """Return the names of the cells that run before a test."""
    steps = plan(source)
    return [step.name for step in cells_above(next(step for step in steps if step.name == test), steps)]


def test_cells_run_in_order_and_only_those_above() -> None:
    """A cell below the test has not run, so it can neither help nor harm."""
    source = together(
        helpers("given", "base = 1"),
        answer("one", "one = base + 1"),
        code("one += 1"),
        check("one-check", "assert one == 3 and 'below' not in globals()"),
        code("one = below = 0"),
    )
    assert points(source) == [1]
    assert names_of(source, "one-check") == ["given", "one", "cell 3"]


@pytest.mark.slow
def test_names_of_visible_tests_above_are_there_where_they_are_used() -> None:
    """On stock they are in the kernel. A test that none of these needs does not run."""
    source = together(
        answer("one", "def one(xs):\n    return copy(xs)"),
        check("one-check", "from copy import copy\nexpected = [1]\nassert one([1]) == expected"),
        check("one-check-2", "unused = 5\nassert one([2]) == [2]"),
        code("seen = expected + [2]"),
        check("one-check-3", "assert one(seen) == [1, 2]"),
        hidden("one-test-a", "It copies.", "assert one(expected) == [1]"),
    )
    assert points(source) == [1, 0, 1, 1]  # on its own, the second test lacks what student code needs
    assert names_of(source, "one-check-3") == ["one", "one-check", "cell 4"]
    assert names_of(source, "one-check-2") == ["one"]


@pytest.mark.slow
def test_an_object_that_tests_change_is_as_they_left_it() -> None:
    """Tests of classes often go on from each other."""
    source = together(
        IMPORTS,
        answer("one", "class Account:\n    balance = 0\n    def pay(self, n):\n        self.balance += n"),
        check("one-check", "account = Account()\nassert account.balance == 0"),
        check("one-check-2", "account.pay(5)\nnp.testing.assert_equal(account.balance, 5)"),
        check("one-check-3", "assert np.sign(3) == 1"),
        check("one-check-4", "account.rows = [1]\nassert account.balance == 5"),
        check("one-check-5", "account.rows[0] += 1\nassert account.rows == [2]"),
        check("one-check-6", "account.pay(1)\nassert (account.balance, account.rows) == (6, [2])"),
    )
    assert points(source) == [1] * 6
    expected = ["imports", "one", "one-check", "one-check-2", "one-check-4", "one-check-5"]
    assert names_of(source, "one-check-6") == expected


def test_of_a_hidden_test_above_only_the_released_part_runs() -> None:
    """Its visible lines are in the release. Those between the markers run in its own process alone."""
    test = (
        "# The opening.\nlimit = 3\n### BEGIN HIDDEN TESTS\nlimit = 4\nsecret = 5\n### END HIDDEN TESTS\n"
        "after = limit\n    ### BEGIN HIDDEN TESTS\nafter = 0"
    )
    source = together(
        answer("one", "one = 1"),
        check("one-test-a", test.replace("    ###", "###")),
        check("one-check", "assert (limit, after) == (3, 3) and 'secret' not in globals()"),
    )
    assert points(source) == [1, 1]
    above = cells_above(plan(source)[-1], plan(source))
    assert [step.source for step in above if "test" in step.name] == ["# The opening.\nlimit = 3\n\nafter = limit\n"]


def test_imports_of_a_submission_run_first_as_always() -> None:
    """A cell below may import what a cell above uses."""
    source = together(
        answer("one", "import math\ndef one():\n    return math.pi"), check("one-check", "assert one() > 3")
    )
    submission = answered(source, one="def one():\n    return math.pi")
    submission.cells.append(code("import math"))
    assert [result.points for result in grade(source, submission).results] == [1]


@pytest.mark.slow
def test_a_magic_hides_no_failed_assertion() -> None:
    """IPython shows what a cell magic raises, and goes on."""
    source = together(answer("one", "one = 1"), check("one-check", "%%time\nassert one == 1"))
    assert points(source) == [1] and points(source, one="one = 2") == [0]


@pytest.mark.slow
def test_the_author_reads_where_our_own_solution_fails() -> None:
    """The line and the kind of the fault, for a visible and a hidden test, a part of the points, and student code."""
    tests = {
        "undefined": (EndingKind.NAME, "NameError: name 'undefined' is not defined", 1),
        "\nassert one == 2, 'no'": (EndingKind.PROPERTY, "AssertionError: no", 2),
        "len(one)": (EndingKind.ERROR, "TypeError: object of type 'int' has no len()", 1),
        "two()": (EndingKind.RAISED, "ValueError: mine", 1),
        "0.5": (EndingKind.PROPERTY, "it gave 0.5 of 1 point", 0),
    }
    cells = [answer("one", "one = 1\ndef two():\n    raise ValueError('mine')")]
    cells += [check(f"one-check-{number}", test) for number, test in enumerate(tests)]
    endings = [result.ending for result in graded(together(*cells)).values()]
    assert [(each.kind, each.reason, each.line) for each in endings if each] == list(tests.values())


def test_student_code_cannot_say_that_a_test_is_at_fault() -> None:
    """A missing name counts against the test if the test itself uses it."""
    reference = answer("one", "def one():\n    return 1")
    source = together(reference, check("one-check", "assert one() == 1"), check("one-check-2", "typo"))
    lie = "def one():\n    exec(compile('raise NameError(name=\"made_up\")', '<one-check>', 'exec'))"
    assert [result.verdict for result in graded(source, one=lie).values()] == [Verdict.ERROR, Verdict.UNGRADABLE]


# What ends a test


SOURCE = together(
    answer("one", "def one(x=1):\n    return x"),
    check("one-check", "assert one() == 1, 'one() is 1'"),
    hidden("one-test-more", "one(x) is x.", "assert one(3) == 3, 'the secret 7331'\nassert one(2) == 2"),
    answer("two", "def two():\n    return 2"),
    check("two-check", "assert two() == 2"),
)
QUICK = Limits(cell_seconds=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "verdict", "message"),
    [
        ("return 7", "failed", "one() is 1."),
        ("raise ValueError('no')", "error", "Your code raised ValueError: no (in one, line 2: raise ValueError('no'))"),
        ("return undefined", "error", "Your code raised NameError: name 'undefined' is not defined (in one, line 2"),
        ("raise NotImplementedError", "error", "Not written yet (in one, line 2: raise NotImplementedError)."),
        ("raise SystemExit(0)", "error", "Your code raised SystemExit: 0"),
        ("raise KeyboardInterrupt", "error", "Your code raised KeyboardInterrupt"),
        ("assert False, 'mine'", "error", "Your code raised AssertionError: mine"),
        ("while True: pass", "timed out", "Your code was stopped: it took longer than 1 s."),
        ("import os; os._exit(0)", "crashed", "Your code was stopped: the process ended itself."),
        ("import ctypes; ctypes.string_at(0)", "crashed", "Your code was stopped: the process was ended by SIGSEGV."),
        ("return bytearray(10**11)", "out of memory", "Your code raised MemoryError"),
        ("print('x' * 2**27); return x", "output limit", "Your code printed too much"),
    ],
)
def test_a_failure_has_its_verdict_and_costs_its_exercise(body: str, verdict: str, message: str) -> None:
    """The verdict and, of a visible test, the message are those of any other test."""
    submission = answered(SOURCE, one=f"def one(x=1):\n    {body}")
    [visible, hid, other] = grade(SOURCE, submission, QUICK).results
    assert [str(each.verdict) for each in (visible, hid, other)] == [verdict, verdict, "passed"]
    assert message in visible.message and hid.not_written == (body == "raise NotImplementedError")
    apart = notebook(*SOURCE.cells)
    [as_always, *_] = grade(apart, submission, QUICK).results
    assert (visible.verdict, visible.message) == (as_always.verdict, as_always.message)


@pytest.mark.slow
def test_an_error_of_a_visible_test_itself_has_its_text() -> None:
    """A name that no cell defines, None in place of a result, a comparison of two dtypes."""
    sentences = {
        "undefined": "undefined is not defined: the cell that should define it is missing",
        "one.shape": "AttributeError: 'NoneType' object has no attribute 'shape'. The test got None",
        "assert torch.allclose(torch.ones(1), torch.ones(1).double())": "dtype",
        "exec('raise KeyError(3)')": "KeyError: 3.",
    }
    tests = [check(f"one-check-{number}", test) for number, test in enumerate(sentences)]
    results = graded(together(IMPORTS, answer("one", "one = None"), *tests))
    for result, sentence in zip(results.values(), sentences.values(), strict=True):
        assert sentence in result.message and not result.points


@pytest.mark.slow
def test_the_time_of_all_such_tests_is_bounded() -> None:
    """They have the time of a whole notebook; those that have not run in it have timed out."""
    cells = [each for n in range(5) for each in (answer(f"f{n}", f"f{n} = 1"), check(f"f{n}-check", f"slow(f{n})"))]
    slow = helpers("slow", "import time\ndef slow(n):\n    time.sleep(0.8 * n)")
    report = grade(together(slow, *cells), together(slow, *cells), Limits(cell_seconds=1, notebook_seconds=3))
    verdicts = [result.verdict for result in report.results]
    assert verdicts[0] is Verdict.PASSED and verdicts[-1] is Verdict.TIMED_OUT
    assert report.results[-1].explanation.cause is Cause.OUT_OF_TIME


@pytest.mark.slow
def test_a_visible_test_that_hangs_is_not_run_again_for_others() -> None:
    """It costs its exercise, and the tests below that need a name of it only the time that it took once."""
    source = together(
        answer("one", "def one():\n    return 1"),
        check("one-check", "base = one()"),
        answer("two", "two = 2"),
        check("two-check", "base = globals().get('base', 0)\nassert two == 2"),
        check("two-check-2", "assert two == 2 and globals().get('base', 0) + base * 0 == 0"),
    )
    results = graded(source, one="def one():\n    while True: pass")
    assert [str(result.verdict) for result in results.values()][:2] == ["timed out", "passed"]


# What a student reads of a hidden test


def leaking(how: str) -> dict[str, Any]:
    """Return an answer that reads the test from its frames and says its text in some way."""
    find = (
        "import sys, linecache\ndef text():\n    frame = sys._getframe()\n    while frame:\n"
        "        name = frame.f_code.co_filename\n        if name.startswith('<one-'):\n"
        "            return ''.join(linecache.getlines(name))\n        frame = frame.f_back\n"
    )
    return {"one": f"{find}def one(x=1):\n    said = text()\n    {how}\n    return 1"}


LEAKS = {
    "an error": "raise ValueError(said)",
    "an error of its own class": "raise type(said, (Exception,), {})(said)",
    "an error of the test's kind": "raise AssertionError(said)",
    "a name that is missing": "raise NameError(said, name=''.join(filter(str.isidentifier, said)))",
    "output": "print(said)",
    "a picture": "from IPython.display import display; display(said)",
    "a blank": "raise NotImplementedError",
    "a line of its own": "exec(compile('1 / 0', '<' + said + '>', 'exec'))",
    "a line that does not exist": "exec(compile('\\n' * 7330 + '1 / 0', '<one>', 'exec'))",
    "a file": "open('said.txt', 'w').write(said); raise ValueError",
    "memory": "raise MemoryError(said)",
    "the end": "import os; os._exit(len(said) % 100)",
}


@pytest.mark.slow
@pytest.mark.parametrize("leak", LEAKS)
def test_nothing_of_a_hidden_test_reaches_the_student(leak: str) -> None:
    """Its explanation consists of its opening comment and fixed sentences, and no cell shows what it printed."""
    submission = answered(SOURCE, **leaking(LEAKS[leak]))
    submission.cells.append(code("from pathlib import Path\nprint(Path('said.txt').exists())"))
    report = grade(SOURCE, submission, QUICK)
    [_, hid, _] = report.results
    assert not hid.points and hid.explanation.where is None and not hid.explanation.missing
    assert "7331" not in repr((report.as_json(), report.outputs)) and "7330" not in repr(report.as_json())
    told = hid.message.removeprefix("one(x) is x. ")
    assert told in (
        "This does not hold for your code.", "Your code raised MemoryError.", "Your code printed too much.",
        "Your code was stopped: the process ended itself.", "Not written yet.",
    )  # fmt: skip
    assert "False" in report.outputs[len(submission.cells) - 1][0]["text"]


def test_the_instructor_reads_what_ended_a_hidden_test() -> None:
    """The log has the lines of the cells and the error, and a bounded length."""
    log = graded(SOURCE, one="def one(x=1):\n    raise ValueError('x' * 10**6)")["one-test-more"].log
    assert "assert one(3) == 3" in log and "ValueError: xxx" in log and len(log) < 10_000


# What does not apply


@pytest.mark.slow
def test_no_second_run_with_our_answers() -> None:
    """Our answer would stand beside the test: an exercise with such a test is judged once."""
    source = notebook(
        answer("one", "def one():\n    return 1"),
        check("one-check", "assert one() == 1"),
        answer("two", "def two():\n    return one() + 1"),
        check("two-check", "assert two() == 2"),
        answer("three", "def three():\n    return one() + 2"),
        check("three-check", "assert three() == 3"),
    )
    wrong = {"one": "def one():\n    return 5"}
    assert points(source, **wrong) == [0, 1, 1]
    cell(source, "two-check").metadata["tags"] = ["together"]
    assert points(source, **wrong) == [0, 0, 1]
