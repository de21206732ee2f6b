"""A test finds the names that its source imports in cells which the runner does not run, and no import of a student."""

import pytest
from nbformat import NotebookNode

from grader.engine.explanation import Cause
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

pytestmark = pytest.mark.slow

ROOT = "def root(x):\n    return x**0.5"
BLANK = "raise NotImplementedError"


def graded(source: NotebookNode, submission: NotebookNode | None = None) -> Report:
    """The report on a submission, by default the source itself."""
    return grade(source, submission or source, Limits(cell_seconds=5))


def points(source: NotebookNode, submission: NotebookNode | None = None) -> float:
    """The points of a submission, by default of the source itself."""
    return graded(source, submission).points


STATEMENTS = [
    ("import math", "math.isclose(root(4), 2)"),
    ("import math as m, cmath", "m.isclose(root(4), 2) and cmath.sqrt(4) == root(4)"),
    ("from math import isclose, pi as PI", "isclose(root(4), 2) and PI > 3"),
    ("from math import *", "isclose(root(4), 2) and tau > 6"),
    ("import os.path", "os.path.join('a', 'b') == 'a/b' and root(4) == 2"),
    ("import xml.dom\nimport xml.dom.minidom", "xml.dom.minidom.parseString('<a/>') and root(4) == 2"),
    ("import xml.dom.minidom as dom", "dom.parseString('<a/>') and root(4) == 2"),
    ("%matplotlib inline\nimport math\n!ls", "math.isclose(root(4), 2)"),
    ("%%time\nimport math", "math.isclose(root(4), 2)"),
    ("try:\n    import no_such_package as math\nexcept ImportError:\n    import math", "math.isclose(root(4), 2)"),
    ("try:\n    import math\nexcept ImportError:\n    import cmath as math", "math.floor(root(4)) == 2"),
    ("if True:\n    import math\nelse:\n    import cmath as math", "math.floor(root(4)) == 2"),
    ("import no_such_package\nimport math", "math.isclose(root(4), 2)"),
    ("from math import no_such_name\nfrom math import isclose", "isclose(root(4), 2)"),
    ("from math import pow", "type(pow(2, 1)) is float and root(4) == 2"),
    ("from math import *", "type(pow(2, 1)) is float and root(4) == 2"),
    ("import cmath as m\nimport math as m", "m.floor(root(4)) == 2"),
    ("import math\nx = (", "math.isclose(root(4), 2)"),
    ("import numpy as np", "np.isclose(root(4), 2)"),
]


PLACES = ("unmarked", "answer", "experiment", "sandbox-only")


@pytest.mark.parametrize(
    ("statement", "test", "place"),
    [(*each, PLACES[number % len(PLACES)]) for number, each in enumerate(STATEMENTS)],
)
def test_an_import_of_the_source_reaches_its_tests(statement, test, place):
    """In whichever cell it stands, and however it is written; the tests see the runner's own module."""
    cell_of = {
        "unmarked": code(statement),
        "answer": answer("other", statement),
        "experiment": code(statement, "experiment"),
        "sandbox-only": helpers("prepared", statement),
    }[place]
    if place == "sandbox-only":
        cell_of.metadata["tags"] = ["sandbox-only"]
    assert points(notebook(cell_of, answer("root", ROOT), check("root-check", f"assert {test}"))) == 1


@pytest.mark.parametrize("statement", ["import math", "from math import *\nimport math"])
def test_an_import_earns_nothing(statement):
    """It is there for our test, not for the student: only a right answer passes, with or without the import."""
    source = notebook(answer("root", f"{statement}\n\n{ROOT}"), check("root-check", "assert math.isclose(root(4), 2)"))
    assert points(source, answered(source, root=ROOT)) == 1
    assert points(source, answered(source, root="def root(x):\n    return 7.5")) == 0
    assert points(source, answered(source, root=BLANK)) == 0


@pytest.mark.parametrize(
    ("ours", "test", "wrong"),
    [
        ("import math", "assert math.floor(2.5) == 2", "import cmath as math"),
        ("import math as m", "assert m.floor(2.5) == 2", "import math"),
        ("from math import sqrt", "assert sqrt(4) == 2", "from math import exp as sqrt"),
        ("from math import pi", "assert 3 < pi < 4", "pi = 5"),
        ("from math import *", "assert sqrt(4) == 2", "pass"),
    ],
)
def test_a_test_of_an_import_alone_judges_the_students(ours, test, wrong):
    """Where a test uses nothing else of the student's, a blank or another import gives no points, as in one process."""
    source = notebook(answer("import", ours), check("import-check", test))
    assert points(source) == 1
    assert points(source, answered(source, **{"import": wrong})) == 0
    assert points(source, answered(source, **{"import": BLANK})) == 0


def test_no_import_of_a_submission_reaches_a_test():
    """A student's own import, in a cell of the source or a new one, binds nothing in the runner."""
    source = notebook(answer("f", "def f():\n    return 1"), check("f-check", "assert f() == 1 and math.pi > 3"))
    submission = answered(source, f="import math\n\ndef f():\n    return 1")
    submission.cells.insert(0, code("import math"))
    report = graded(source, submission)
    assert report.points == 0
    [result] = report.results
    assert result.explanation.cause is Cause.UNGRADABLE


IN_A_TEST = [
    ("from copy import copy", "copy([1])"),
    ("import copy as c", "c.copy([1])"),
    ("def f():\n    pass\n\nimport copy", "copy.copy([1])"),
]


@pytest.mark.parametrize(("statement", "use"), IN_A_TEST)
def test_cells_below_a_visible_test_see_what_it_imported(statement, use):
    """As in one process, and nothing else that it binds; a hidden test gives nothing away."""
    statement, use = f"{statement}\nsecret = 7", f"{use} if 'secret' not in globals() else 7"
    cells = answer("one", "def one():\n    return 1"), answer("two", f"def two():\n    return {use}")
    last = check("two-check", "assert two() == [1]")
    source = notebook(cells[0], check("one-check", f"{statement}\nassert one() == 1"), cells[1], last)
    assert points(source) == 2
    own = answered(source, two=BLANK)
    own.cells.insert(3, code(f"def two():\n    return {use}"))
    assert points(source, own) == 2
    secret = notebook(cells[0], hidden("one-test-one", "It is 1.", f"{statement}\nassert one() == 1"), cells[1], last)
    assert points(secret) == 1


@pytest.mark.parametrize("first", [check, lambda name, text: hidden(name, "It holds.", text)])
@pytest.mark.parametrize("second", [check, lambda name, text: hidden(name, "It holds.", text)])
def test_a_test_uses_what_one_above_it_imports(first, second):
    """As in one kernel; a test above the import does not have it."""
    source = notebook(
        answer("f", "def f():\n    return 3.0"),
        first("f-test-one", "from math import isclose\nassert isclose(f(), 3)"),
        second("f-test-two", "assert isclose(f(), 3.0)"),
    )
    assert [each.points for each in graded(source).results] == [1, 1]
    source.cells[1], source.cells[2] = source.cells[2], source.cells[1]
    assert [each.points for each in graded(source).results] == [0, 1]
