"""Shows that what a notebook accepts is accepted in tests and read-only cells, and that no magic makes a test pass."""

import pytest

from grader.engine.grading import grade
from grader.engine.notebook.magics import as_python, syntax_error, without_magics
from grader.engine.notebook.names import names_bound, names_used
from tests.support.notebooks import answer, answered, check, helpers, notebook

PYTHON = [
    "x = 1\nassert f(x)",
    's = """\n%time f(1)\n!ls\n%%bash\n"""',
    "x = (7\n%2)",
    "# %matplotlib inline\nf(1)",
    "await f(1)",
    "x = y % z; a = not b != c",
    "",
]
MAGICS = {
    "t = %timeit -o -n 10 -r3 f(1)": ({"t"}, {"f"}),
    "names = !ls": ({"names"}, set()),
    "a, b = %sx ls": ({"a", "b"}, set()),
    "%time x = f(1)\nassert x": ({"x"}, {"f"}),
    "%%time\nx = f(1)\nassert x == y": ({"x"}, {"f", "y"}),
    "if g:\n    %time x = f(1)": ({"x"}, {"f", "g"}),
    "%%capture out\nprint(f(1))": ({"out"}, {"f", "print"}),
    "f?\n%timeit f(2)": (set(), {"f"}),
    's = """\n%time h()\n"""\n%time f()': ({"s"}, {"f"}),
    "%matplotlib inline\nimport math": ({"math"}, set()),
    "  x = f(1)\n  y = 2": ({"x", "y"}, {"f"}),
}


def test_python_is_not_taken_for_a_magic():
    """What Python can read stays as it is, whatever stands in its strings."""
    for source in PYTHON:
        assert as_python(source) == without_magics(source) == source
        assert syntax_error(source) is None


@pytest.mark.parametrize("source", MAGICS)
def test_names_in_magics_count(source):
    """A name that a magic reads is asked of the student, and one that it binds is there for later tests.

    A student's magics are read line by line, which costs no more than the text is long and finds what a line binds.
    """
    bound, used = MAGICS[source]
    assert syntax_error(source) is None
    python = as_python(source)
    assert names_bound(python) == bound
    assert used <= set(names_used(python))
    if not source.startswith("  "):
        found = {name for name in bound if f"\n{name} = " in f"\n{source}" or f"import {name}" in source}
        assert found <= names_bound(without_magics(source)) <= bound


def test_a_syntax_error_is_one():
    """It is found before a class is graded, also where IPython, the parser or only the compiler finds it."""
    for source in ("assert f(1) == 2 2", "return f(1)", "%time f(1)\nassert (", "x = \0", "(" * 500):
        assert isinstance(syntax_error(source), SyntaxError), source


PASS = {
    "timeit": "t = %timeit -o -n1 -r1 f(1)\nassert t.best < 60",
    "time": "%%time\nassert f(1) == 2\nkept = f(2)",
    "kept": "assert kept == 3",
    "shell": "!pip install nothing\nx = !ls\nassert f(1) == 2",
    "capture": "%%capture out\nprint(f(1))",
    "captured": "assert out.stdout.strip() == '2'",
    "await": "import asyncio\nawait asyncio.sleep(0)\nassert f(2) == 3",
    "help": "f?\n%time z = f(1)\nassert z == 2",
    "text": 'assert f(1) == 2\ns = """\n%time\n!x\n"""\nassert s.count("%") == 1',
}
FAIL = {
    "time-fails": "%%time\nassert f(1) == 3",
    "capture-fails": "%%capture out\nassert f(1) == 3",
    "run-fails": "%run no_such_file.py",
    "no-such-magic": "%no_such_magic f(1)",
    "bash": "%%bash\ntest 1 = 2",
    "broken": "assert f(1) == 2 2",
    "return": "return f(1)",
    "last": "assert f(1) == 3",
}


@pytest.mark.slow
def test_legal_ipython_is_graded_and_a_broken_test_costs_only_itself():
    """A magic hides no failed assertion, and all that a test needs of the student goes through magics, too."""
    imports = helpers("imports", "%matplotlib inline\n%load_ext autoreload\n!pip install nothing\n%cd ..\nimport math")
    tests = [check(f"cell-{name}", source) for name, source in (PASS | FAIL).items()]
    source = notebook(imports, answer("f", "def f(x):\n    return x + 1"), *tests)
    report = grade(source, source)
    assert {result.name for result in report.results if result.points} == {f"cell-{name}" for name in PASS}
    blank = grade(source, answered(source, f="def f(x):\n    raise NotImplementedError()"))
    assert blank.points == 0 and not blank.given_up
