"""Shows the verdict on each way to fail, and that a failure costs one exercise and no more."""

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Verdict
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook

SOURCE = notebook(
    helpers("imports", "import math\n\nimport torch\nfrom torch import nn"),
    answer("one", "def one(x=1):\n    return x"),
    check("one-check", "assert one() == 1, 'one() is 1'"),
    hidden("one-test-more", "one(x) is x.", "assert one(3) == 3\nassert one(2) == 2"),
    answer("two", "def two():\n    return 2"),
    check("two-check", "assert two() == 2", points=3),
)
QUICK = Limits(cell_seconds=1)
SWALLOWS = "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
"""A hang that gets no exception that it could catch."""


def verdicts(source, submission, limits=QUICK):
    """Return the verdict on each test, by its name."""
    return {result.name: str(result.verdict) for result in grade(source, submission, limits).results}


def wrong(body, **more):
    """Return the verdicts on a submission whose first answer has this body."""
    return verdicts(SOURCE, answered(SOURCE, one=f"def one(x=1):\n    {body}", **more))


def test_a_right_answer_passes():
    """It gets full points, and no message."""
    report = grade(SOURCE, SOURCE)
    assert (report.points, report.max_points) == (5, 5) and report.repairs == []
    assert all(result.verdict is Verdict.PASSED and not result.message for result in report.results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("return 7", "failed"),
        ("raise ValueError('no')", "error"),
        ("raise NotImplementedError", "error"),
        ("return undefined", "error"),
        ("return None + 1", "error"),
        ("return one(x)", "error"),
        ("exit()", "failed"),
        ("raise SystemExit(0)", "error"),
        ("raise KeyboardInterrupt", "error"),
        ("return {1, 2}", "failed"),
        ("while True: pass", "timed out"),
        (SWALLOWS, "timed out"),
        ("import time; time.sleep(60)", "timed out"),
        ("import os; os._exit(0)", "crashed"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("import os; os.abort()", "crashed"),
        ("return bytearray(10**11)", "out of memory"),
        ("return torch.empty(10**11)", "out of memory"),
        ("print('x' * 2**27); return x", "output limit"),
    ],
)
def test_a_failure_has_its_verdict_and_costs_its_exercise(body, verdict):
    """The rest of the notebook is graded as if nothing had happened."""
    assert wrong(body) == {"one-check": verdict, "one-test-more": verdict, "two-check": "passed"}


@pytest.mark.slow
def test_a_test_that_computes_too_long_is_timed_out():
    """Reading and comparing a reply cannot take for ever, whatever it is. The next student is graded as usual."""
    compares = "import time\nend = time.process_time() + 10 * (one() == 7)\nwhile time.process_time() < end: pass"
    source = notebook(SOURCE.cells[1], check("one-check", compares))
    for number, verdict in ((7, "timed out"), (1, "passed")):
        submission = answered(source, one=f"def one(x=1):\n    return {number}")
        assert verdicts(source, submission) == {"one-check": verdict}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["while True: pass", "import os; os._exit(1)", "import os; os.abort()"])
def test_an_answer_cell_that_never_ends_costs_its_exercise(ending):
    """This holds even if the function in it is right: a test that could not run gives no points."""
    lost = verdicts(SOURCE, answered(SOURCE, one=f"def one(x=1):\n    return x\n{ending}"))
    assert lost.pop("two-check") == "passed" and set(lost.values()) <= {"timed out", "crashed"}


@pytest.mark.slow
def test_an_unmarked_cell_that_never_ends_costs_nothing():
    """A student's own experiment is stopped; the cells before and after it count, and their names are still bound."""
    submission = answered(SOURCE, two="def two():\n    return helper + one()")
    submission.cells.insert(2, code("helper = 1"))
    submission.cells.insert(3, code("while True: pass"))
    submission.cells.insert(5, code("import os; os._exit(0)"))
    assert set(verdicts(SOURCE, submission).values()) == {"passed"}


def test_only_the_test_that_exits_fails():
    """A function that fails for one input keeps the points of the tests that do not use this input."""
    assert wrong("return x if x != 3 else __import__('sys').exit()") == {
        "one-check": "passed",
        "one-test-more": "error",
        "two-check": "passed",
    }


@pytest.mark.slow
def test_the_next_exercise_has_the_resources_that_one_used_up():
    """After a limit of output or memory was reached, counting starts again."""
    assert wrong("print('x' * 2**27)", two="def two():\n    print('hello')\n    return 2")["two-check"] == "passed"
    body = "global kept\n    kept = [bytearray(2**26)] + globals().get('kept', [])\n    return one(x)"
    submission = answered(SOURCE, one=f"def one(x=1):\n    {body}", two="def two():\n    return bytearray(2**27) and 2")
    expected = {"one-check": "out of memory", "one-test-more": "out of memory", "two-check": "passed"}
    assert verdicts(SOURCE, submission, Limits(memory_mb=256)) == expected


@pytest.mark.slow
def test_the_time_of_a_whole_notebook_is_bounded():
    """When it is used up, all further tests have timed out."""
    source = notebook(*(cell for n in range(4) for cell in (answer(f"f{n}", "pass"), check(f"f{n}-check", f"f{n}()"))))
    slow = answered(source, **{f"f{n}": f"import time\ndef f{n}():\n    time.sleep(0.7)" for n in range(4)})
    verdict = verdicts(source, slow, Limits(cell_seconds=1, notebook_seconds=3))
    assert verdict["f0-check"] == "passed" and verdict["f3-check"] == "timed out"


def test_more_threads_than_processors_cost_no_time():
    """Two threads of torch are as fast as one: a thread that waits for the other yields the processor."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("grow", "def grow(x):\n    for _ in range(2000):\n        x = x + 1\n    return x"),
        hidden("grow-test-value", "It grows.", "assert (grow(torch.zeros(100_000)) == 2000).all()"),
    )
    eager = answered(source, grow="torch.set_num_threads(2)\n" + cell(source, "grow").source)
    assert verdicts(source, eager, Limits(cell_seconds=5)) == {"grow-test-value": "passed"}


@pytest.mark.slow
def test_a_runner_that_dies_costs_no_points():
    """Earlier notebooks may have left it in a bad state, so a fresh one grades it; after the second, it is given up."""
    worn_out = "import os, sys\nsys.graded = getattr(sys, 'graded', 0) + 1\nif sys.graded > 1:\n    os._exit(1)"
    source = notebook(answer("one", "def one():\n    return 1"), check("one-check", f"assert one()\n{worn_out}"))
    others = [answered(source, one=f"def one():\n    return {number}") for number in (1, 2, 3)]
    assert [verdicts(source, other, Limits()) for other in others] == [{"one-check": "passed"}] * 3
    source = notebook(answer("one", "def one():\n    return 1"), check("one-check", "import os\nos._exit(1)"))
    report = grade(source, source)
    [result] = report.results
    assert (result.verdict, result.message) == (Verdict.TIMED_OUT, "Grading did not finish.")
    assert report.given_up


def test_without_confinement_nothing_is_graded():
    """If the kernel refuses a limit, the sandbox is not confined, so no student code runs and no test gives points."""
    report = grade(SOURCE, SOURCE, Limits(file_mb=2**50))
    assert {str(result.verdict) for result in report.results} == {"not confined"} and report.points == 0
    assert grade(SOURCE, SOURCE, Limits(file_mb=2**50), sandbox=False).points == 5


@pytest.mark.parametrize(
    ("last", "points", "verdict"),
    [
        ("two()", 2, "failed"),
        ("two() + 0.5", 2.5, "failed"),
        ("two() + 1", 3, "passed"),
        ("100", 3, "passed"),
        ("-1", 0, "failed"),
        ("0", 0, "failed"),
        ("float('nan')", 0, "failed"),
        ("None", 3, "passed"),
        ("True", 3, "passed"),
    ],
)
def test_a_test_whose_last_line_is_a_number_gives_partial_credit(last, points, verdict):
    """As in nbgrader, the number counts between zero and the points of the test."""
    source = notebook(answer("two", "def two():\n    return 2"), check("two-check", last, points=3))
    (result,) = grade(source, source).results
    assert (result.points, result.verdict) == (points, verdict)


@pytest.mark.slow
def test_no_output_earns_points():
    """Numbers that student code prints or displays give no points, with or without an early exit."""
    for body in ("print(3)", "display(3)", "print('3'); exit()", "import sys; sys.exit(0)"):
        assert grade(SOURCE, answered(SOURCE, two=f"def two():\n    {body}\n3")).points == 2


def test_output_costs_no_points():
    """No page shows that of a test, so its limit is far above that of a cell; a warning is no failure."""
    assert wrong("for _ in range(9): print('x' * 2**20)\n    return x")["one-check"] == "passed"
    two = (
        "import sys, warnings\ndef two():\n    warnings.warn('w')\n    print('e', file=sys.stderr)\n    return 2\ntwo()"
    )
    assert grade(SOURCE, answered(SOURCE, two=two)).points == 5


def test_tests_do_not_see_each_others_student_names():
    """A name that a test binds stays in the runner; a student's name is looked up again for each test."""
    source = notebook(
        answer("one", "state = 1"),
        check("one-check", "mine = 5\nassert state == 1"),
        answer("two", "state = 2"),
        check("two-check", "assert state == 2 and mine == 5"),
    )
    assert grade(source, source).points == 2
    assert grade(source, answered(source, two="mine = state = 2")).points == 2


def test_an_instructors_training_loop_runs_beside_the_model():
    """A test hands the model to it in one call, and judges the model afterwards: a replaced loop is no help."""
    loop = """def train(model):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(50):
        optimiser.zero_grad()
        (model(torch.ones(1)) - 3).square().backward()
        optimiser.step()
    return model"""
    right = "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    right += "        self.w = torch.nn.Parameter(torch.zeros(1))\n    def forward(self, x):\n        return self.w * x"
    test = "m = Model()\nassert train(m) is m\nassert abs(m.w.item() - 3) < 1e-3\n"
    test += "assert abs(m(torch.ones(1)).item() - 3) < 1e-3"
    cells = helpers("imports", "import torch"), helpers("loop", loop), answer("model", right)
    cells[1].metadata.tags = ["candidate"]
    source = notebook(*cells, hidden("model-test-learns", "It learns.", test))
    assert grade(source, source).points == 1
    wrong = right.replace("zeros(1)", "ones(1)").replace("self.w * x", "self.w + 0 * x")
    anything = "class Any:\n    def __getattr__(self, name): return self\n    def __eq__(self, other): return True"
    for model in (
        right.replace("self.w * x", "self.w.detach() * x"),
        f"{wrong}\ntrain = lambda model: model",
        f"{wrong}\n{anything}\ntrain = lambda model: Any()",
    ):
        assert grade(source, answered(source, model=model)).points == 0


def test_settings_of_torch_are_those_of_read_only_cells():
    """A setting of a read-only cell holds in every test, whatever an earlier test sets, and in no other notebook."""
    sets = "import torch\ntorch.set_default_dtype(torch.float64)"
    is_double = "assert torch.zeros(1).dtype == torch.float64 and f() == 1"
    source = notebook(
        helpers("imports", sets),
        answer("f", "def f():\n    return 1"),
        check("f-check", f"{is_double}\ntorch.set_default_dtype(torch.float32)"),
        hidden("f-test-double", "Double.", is_double),
        hidden(
            "f-test-grad",
            "Gradients are on.",
            f"{is_double}\nassert torch.is_grad_enabled()\ntorch.set_grad_enabled(False)",
        ),
        hidden("f-test-still", "Still on.", f"{is_double}\nassert torch.is_grad_enabled()"),
    )
    other = notebook(helpers("imports", "import torch"), check("plain", "assert torch.zeros(1).dtype == torch.float32"))
    for each in (source, other, source):
        assert not [result.message for result in grade(each, each).results if result.message]
