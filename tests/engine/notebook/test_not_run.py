"""Imports count wherever they stand in a submission, and a missing name is traced to the cell that binds it in vain."""

import copy

import pytest
from nbformat import NotebookNode

from grader.engine.explanation import NotRunKind
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook

SOURCE = notebook(
    helpers("imports", "import torch"),
    answer("root", "import math\n\ndef root(x):\n    return math.sqrt(x)"),
    check("root-check", "seen = root(4)\nassert seen == 2"),
    hidden("root-test-nine", "root(9) is 3.", "import statistics\nassert root(9) == 3", 2),
    code("print('a picture')", "experiment"),
)
USES_MATH = "def root(x):\n    return math.sqrt(x)"
USES_NP = "SCALE = np.float64(1.0)\n\ndef root(x):\n    return np.sqrt(x) * SCALE"


def edited(place: str, source: str, answer_: str = USES_MATH) -> NotebookNode:
    """The submission with this answer and with `source` in the experiment, a cell of ours, or a cell of its own."""
    submission = answered(SOURCE, root=answer_)
    if place == "experiment":
        submission.cells[-1].source = source
    elif place == "own":
        submission.cells.append(code(source))
    else:
        cell(submission, place).source = source
    return submission


def graded(submission: NotebookNode, source: NotebookNode = SOURCE) -> Report:
    """The report on a submission."""
    return grade(source, submission, Limits(cell_seconds=3))


PLACES = ("experiment", "own", "imports", "root-check", "root-test-nine")


@pytest.mark.parametrize("place", PLACES)
def test_an_import_counts_wherever_it_stands(place):
    """In an experiment, in a cell far below the tests, and in cells of ours, whose text the student changed."""
    report = graded(edited(place, "import torch\nimport math\nimport numpy as np", USES_NP))
    assert report.points == report.max_points
    assert min(report.outputs) >= 0


@pytest.mark.parametrize(
    "source",
    [
        "import math",
        "%matplotlib inline\n!ls\nimport math\nplot(",
        "%%time\nimport math",
        "from math import (\n    sqrt,\n)\nimport math",
        "import no_such_package\nimport math",
        "from math import no_such_name\nfrom no_such_package import x\nimport math, no_such_package",
        "import math\nimport no_such_package, this_neither",
        "x = 1\nraise ValueError\nimport math",
        "import math; math.sqrt(4)",
        "from __future__ import annotations\nimport math",
        "from __future__ import no_such_feature\nimport math",
        "broken(\nimport math",
    ],
)
def test_each_import_runs_by_itself(source):
    """Nothing above or beside it stops it: a package that is missing, magics, errors, text that is no Python."""
    report = graded(edited("experiment", source))
    assert report.points == report.max_points


@pytest.mark.parametrize(
    "source",
    [
        "if True:\n    import math",
        "def f():\n    import math",
        "'''\nimport math\n'''",
        "# import math",
        "import no_such_package as math",
        "import math as m",
        "math = __import__('math')",
    ],
)
def test_nothing_else_of_such_a_cell_runs(source):
    """Only imports at its top level count."""
    assert graded(edited("experiment", source)).points == 0


@pytest.mark.parametrize(
    ("own", "source"),
    [
        ("class math:\n    sqrt = staticmethod(lambda x: x**0.5)", "import torch as math"),
        ("from math import sqrt as root_of\n\ndef math():\n    pass", "import math"),
        ("def sum(x):\n    return x", "from numpy import sum"),
    ],
)
def test_an_import_replaces_no_name_that_a_cell_binds(own, source):
    """The cell that is run wins, wherever both stand."""
    name = {"class": "math", "from": "math", "def": "sum"}[own.split()[0]]
    shown = f"{own}\nkept = {name}\n\ndef root(x):\n    assert {name} is kept\n    return x**0.5"
    report = graded(edited("experiment", source, shown))
    assert report.points == report.max_points


def test_an_import_replaces_no_name_of_python():
    """A star import in a picture cell does not give the answers another `sum` or `abs`."""
    shown = "import builtins\n\ndef root(x):\n    assert abs is builtins.abs and sum is builtins.sum\n    return x**0.5"
    report = graded(edited("experiment", "from numpy import *\nfrom torch import abs", shown))
    assert report.points == report.max_points


@pytest.mark.parametrize("answer_", ["def root(x)\n    return", "", "raise ValueError"])
def test_no_import_answers_an_exercise(answer_):
    """A name that tests ask for is the student's own work."""
    report = graded(edited("experiment", "from math import sqrt as root\nfrom math import *", answer_))
    assert report.points == 0


def test_einops_is_installed_with_the_grader():
    """Many solutions to such exercises use it."""
    shown = (
        "from einops import rearrange\n\ndef root(x):\n    return rearrange(torch.tensor([x**0.5]), 'l -> 1 l').item()"
    )
    report = graded(edited("experiment", "pass", shown))
    assert report.points == report.max_points


def test_imports_of_our_tests_stay_with_us():
    """The student's code finds no module that only a hidden test of the source imports."""
    report = graded(
        edited("experiment", "pass", "def root(x):\n    assert 'statistics' not in globals()\n    return x**0.5")
    )
    assert report.points == report.max_points


def test_an_import_that_ends_the_process_costs_no_other():
    """Each cell's imports run by themselves, and a fresh sandbox goes on with the next."""
    submission = edited("experiment", "import math")
    submission.cells.append(code("from os import _exit as leave\nfrom antigravity import x", "experiment"))
    assert graded(submission).points == 3


@pytest.mark.parametrize(
    ("place", "kind", "name"),
    [
        ("experiment", NotRunKind.EXPERIMENT, "cell 5"),
    ],
)
@pytest.mark.parametrize(
    "answer_", ["def root(x):\n    return power(x)", "half = power(1)\n\ndef root(x):\n    return power(x)"]
)
def test_a_missing_name_is_traced_to_the_cell_that_binds_it(place, kind, name, answer_):
    """Of a cell that is not run, nothing but imports counts, and the message says where the name stands."""
    submission = edited(place, "import torch\n\ndef power(x):\n    return x**0.5", answer_)
    report = graded(submission)
    assert report.points == 0
    for result in report.results:
        [found] = result.explanation.not_run
        assert (found.name, found.cell, found.kind) == ("power", name, kind)
        assert str(found) in result.message


def test_an_answer_in_a_cell_that_is_not_run_is_named():
    """The test itself misses it."""
    submission = edited("experiment", "def root(x):\n    return x**0.5", "")
    report = graded(submission)
    for result in report.results:
        assert "`root` is bound in cell 5, an experiment, which is not run." in result.message


@pytest.mark.parametrize(
    "answer_",
    [
        "def root(x):\n    raise NameError(\"name 'power' is not defined\")",
        "def root(x):\n    return other(x)",
        "def root(x):\n    return x",
        "power = 2\n\ndef root(x):\n    return power(x) + other",
    ],
)
def test_no_other_failure_is_traced_to_it(answer_):
    """An error that only claims to miss the name, another name, a wrong value, a name that is bound."""
    source = "def power(x):\n    return x**0.5" if "raise" not in answer_ else "def strength(x):\n    return x"
    report = graded(edited("experiment", source, answer_))
    assert report.points == 0
    assert not any(result.explanation.not_run for result in report.results)


def test_a_submission_as_released_runs_nothing_more():
    """Its cells that are not run import nothing that the others lack."""
    submission = copy.deepcopy(SOURCE)
    report = graded(submission)
    assert report.points == report.max_points
    assert not any(result.explanation.not_run for result in report.results)
