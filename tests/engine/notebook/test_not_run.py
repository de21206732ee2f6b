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


IMPORTS = [
    # Nothing above or beside an import stops it: a missing package, magics, errors, text that is no Python.
    *("import math", "%matplotlib inline\n!ls\nimport math\nplot(", "%%time\nimport math"),
    "from math import (\n    sqrt,\n)\nimport math",
    "import no_such_package\nimport math",
    "from math import no_such_name\nfrom no_such_package import x\nimport math, no_such_package",
    "import math\nimport no_such_package, this_neither",
    "x = 1\nraise ValueError\nimport math",
    "import math; math.sqrt(4)",
    "from __future__ import annotations\nimport math",
    "from __future__ import no_such_feature\nimport math",
    "broken(\nimport math",
]
NO_IMPORTS = [
    *("if True:\n    import math", "def f():\n    import math", "'''\nimport math\n'''", "# import math"),
    *("import no_such_package as math", "import math as m", "math = __import__('math')"),
]
KEEPS = "\n\ndef root(x):\n    assert {name} is kept\n    return x**0.5"
OWN = {
    # The cell that is run wins, wherever both stand, and a star import gives the answers no other `sum` or `abs`.
    "class math:\n    sqrt = staticmethod(lambda x: x**0.5)\nkept = math"
    + KEEPS.format(name="math"): "import torch as math",
    "from math import sqrt as root_of\n\ndef math():\n    pass\nkept = math" + KEEPS.format(name="math"): "import math",
    "def sum(x):\n    return x\nkept = sum" + KEEPS.format(name="sum"): "from numpy import sum",
    "from builtins import abs as kept" + KEEPS.format(name="abs"): "from numpy import *\nfrom torch import abs",
    "from builtins import sum as kept" + KEEPS.format(name="sum"): "from numpy import *\nfrom torch import abs",
    # The student's code finds no module that only a hidden test of the source imports.
    "def root(x):\n    assert 'statistics' not in globals()\n    return x**0.5": "pass",
    # einops is installed with the grader: many solutions to such exercises use it.
    "import einops\n\ndef root(x):\n    return einops.rearrange(torch.tensor([x**0.5]), 'l -> 1 l').item()": "pass",
}


@pytest.mark.slow
def test_imports_count_wherever_they_stand_and_nothing_else_of_a_cell_that_is_not_run():
    """In an experiment, in a cell far below the tests, and in cells of ours, whose text the student changed."""
    three = "import torch\nimport math\nimport numpy as np"
    right = [
        *((place, three, USES_NP) for place in ("experiment", "own", "imports", "root-check", "root-test-nine")),
        *(("experiment", source, USES_MATH) for source in IMPORTS),
        *(("experiment", source, own) for own, source in OWN.items()),
    ]
    for place, source, answer_ in right:
        report = graded(edited(place, source, answer_))
        assert report.points == report.max_points, (place, source, answer_)
        assert min(report.outputs) >= 0
    for source in NO_IMPORTS:
        assert graded(edited("experiment", source)).points == 0, source
    # A name that tests ask for is the student's own work.
    for answer_ in ("def root(x)\n    return", "", "raise ValueError"):
        assert graded(edited("experiment", "from math import sqrt as root\nfrom math import *", answer_)).points == 0


def test_an_import_that_ends_the_process_costs_no_other():
    """Each cell's imports run by themselves, and a fresh sandbox goes on with the next."""
    submission = edited("experiment", "import math")
    submission.cells.append(code("from os import _exit as leave\nfrom antigravity import x", "experiment"))
    assert graded(submission).points == 3


@pytest.mark.parametrize(
    "answer_", ["def root(x):\n    return power(x)", "half = power(1)\n\ndef root(x):\n    return power(x)", ""]
)
def test_a_missing_name_is_traced_to_the_cell_that_binds_it(answer_):
    """Of a cell that is not run, nothing but imports counts, and the message says where the name stands.

    So it is with the answer itself, which the test misses.
    """
    name = "power" if answer_ else "root"
    report = graded(edited("experiment", f"import torch\n\ndef {name}(x):\n    return x**0.5", answer_))
    assert report.points == 0
    for result in report.results:
        [found] = result.explanation.not_run
        assert (found.name, found.cell, found.kind) == (name, "cell 5", NotRunKind.EXPERIMENT)
        assert f"`{name}` is bound in cell 5, an experiment, which is not run." in str(found) in result.message


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
