"""Shows what student code gains by undoing what a test sets or forbids: as much as on stock, for one call, and no more.

The setting is applied in the student's process, before each call. What student code does to it there has no way into
the process of the test, and what it sends to the recorder of warnings is no more than a warning.
"""

import pytest

from grader.engine.grading import grade
from grader.engine.report import Report
from tests.support.notebooks import answer, check, helpers, hidden, notebook, with_answer

RIGHT = "def root(x):\n    return x**0.5"
SOURCE = notebook(
    helpers("imports", "import math\nimport warnings"),
    answer("root", f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION"),
    hidden(
        "root-test-own",
        "It does not call math.sqrt.",
        "def no(x):\n    raise AssertionError('forbidden')\nmath.sqrt = no\n"
        "assert root(4) == 2\nassert root(9) == 3\nassert math.sqrt is no",
    ),
    hidden(
        "root-test-quiet",
        "It warns of nothing.",
        "with warnings.catch_warnings(record=True) as log:\n    warnings.simplefilter('always')\n"
        "    assert root(4) == 2\n    assert root(9) == 3\nassert not log and isinstance(log, list)",
    ),
    answer("other", "### BEGIN SOLUTION\none = 1\n### END SOLUTION"),
    check("other-check", "assert one == 1 and math.sqrt(4) == 2"),
)
KEPT = "import math\nmine = math.sqrt\n"
NOISY = "def root(x):\n    import warnings\n    {}\n    return x**0.5"
ANSWERS = {
    RIGHT: [1, 1, 1],
    "import math\ndef root(x):\n    return math.sqrt(x)": [0, 1, 1],
    # On stock nbgrader, too.
    f"{KEPT}def root(x):\n    return mine(x)": [1, 1, 1],
    f"{KEPT}def root(x):\n    math.sqrt = mine\n    return math.sqrt(x)": [1, 1, 1],
    # Once only: the next call finds the setting again.
    f"{KEPT}calls = []\ndef root(x):\n    calls.append(x)\n    if len(calls) == 1:\n        math.sqrt = mine\n"
    "    return math.sqrt(x)": [0, 1, 1],
    # Whatever reaches the recorder, the test that finds it there ends without points, and only that one.
    NOISY.format("warnings.warn('x')"): [1, 0, 1],
    NOISY.format("warnings.warn_explicit(UserWarning('x' * 10_000), None, '<x>', 1)"): [1, 0, 1],
    NOISY.format("getattr(warnings._showwarnmsg_impl, '__closure__')[0].cell_contents('print', object())"): [
        None,
        0,
        1,
    ],
    NOISY.format("getattr(warnings._showwarnmsg_impl, '__closure__')[0].cell_contents([1], 2, 3)"): [None, 0, 1],
}


def points(report: Report) -> list[float]:
    return [result.points for result in report.results]


@pytest.mark.parametrize("text", ANSWERS)
def test_undoing_a_setting_gains_one_call(text):
    """None stands for either outcome: without a recorder, there is nothing to call."""
    got = points(grade(SOURCE, with_answer(SOURCE, "root", text)))
    assert [None if want is None else given for want, given in zip(ANSWERS[text], got, strict=True)] == ANSWERS[text]


def test_the_environment_of_the_grader_stays_where_it_is(monkeypatch):
    """Student code gets what the test itself puts into the environment, and nothing else."""
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "x")
    source = notebook(
        helpers("imports", "import os"),
        answer("seen", "### BEGIN SOLUTION\ndef seen():\n    return sorted(os.environ)\n### END SOLUTION"),
        check(
            "seen-check",
            "before = seen()\nos.environ['OURS'] = 'a'\n"
            "assert seen() == sorted([*before, 'OURS']) and 'SECRET_OF_THE_GRADER' not in seen()",
        ),
    )
    assert points(grade(source, source)) == [1]
