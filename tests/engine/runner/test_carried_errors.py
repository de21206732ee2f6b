"""A mistake costs points once: later exercises that build on it are judged with our own answer in its place."""

import json

import pytest
from nbformat import NotebookNode

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Fingerprint, Report
from tests.support.notebooks import answer, answered, check, code, helpers, hidden, notebook

SOURCE = notebook(
    helpers("imports", "import torch"),
    answer(
        "half",
        "def half(x):\n    ### BEGIN SOLUTION\n    secret = 'our own answer'\n    return x / 2\n    ### END SOLUTION",
    ),
    check("half-check", "assert half(2) == 1, 'half(2) is 1'"),
    hidden("half-test-odd", "Half of 3 is 1.5.", "assert half(3) == 1.5, 'not 1.5'"),
    answer("quarter", "def quarter(x):\n    ### BEGIN SOLUTION\n    return half(half(x))\n    ### END SOLUTION"),
    check("quarter-check", "assert quarter(4) == 1, f'quarter(4) is 1, not {quarter(4)}'"),
    hidden("quarter-test-odd", "A quarter of 6 is 1.5.", "assert quarter(6) == 1.5, 'not 1.5'"),
    answer("third", "def third(x):\n    return x / 3"),
    check("third-check", "assert third(3) == 1, 'third(3) is 1'"),
    answer("eighth", "def eighth(x):\n    ### BEGIN SOLUTION\n    return quarter(half(x))\n    ### END SOLUTION"),
    hidden("eighth-test-values", "An eighth of 8 is 1.", "assert eighth(8) == 1, 'not 1'"),
)
"""Half, then two exercises that build on it, and between these one that does not."""
WRONG_HALF = "def half(x):\n    return x // 2 + 1"


def report(**answers: str) -> Report:
    """The report on the source with other answers to some exercises."""
    return grade(SOURCE, answered(SOURCE, **answers), Limits(cell_seconds=2))


def points(graded: Report) -> dict[str, float]:
    """The points of each test."""
    return {result.name: result.points for result in graded.results}


def messages(graded: Report) -> dict[str, str]:
    """The message of each test that has one."""
    return {result.name: result.message for result in graded.results if result.message}


EARLIER = pytest.mark.parametrize(
    "half",
    [
        WRONG_HALF,
        "def half(x):\n    raise NotImplementedError",
        "def half(x):\n    while True: pass",
        "def half(x):\n    import os; os._exit(1)",
        "halve = lambda x: x / 2",
        "def half(x) return x",
    ],
    ids=["wrong", "blank", "hangs", "ends the process", "other name", "does not compile"],
)


@pytest.mark.slow
@EARLIER
def test_a_known_mistake_is_named_beside_an_earlier_one(half: str) -> None:
    """The name is that of the answer with our own earlier one, as if this were its only mistake."""
    mistakes = {
        "quarter": "def quarter(x):\n    return half(x) * 1.0",
        "eighth": "def eighth(x):\n    return half(half(half(x))) + 40",
    }
    known = [
        Misconception("quarter", "halves once", "half(half(x))", "half(x)", "Halve twice."),
        Misconception("quarter", "doubles", "half(half(x))", "x * 2", "Do not double."),
        Misconception("eighth", "adds forty", "quarter(half(x))", "quarter(half(x)) + 40", "Add nothing."),
    ]
    alone: Fingerprint | None = None
    for earlier in ({}, {"half": half}):
        graded = grade(SOURCE, answered(SOURCE, **earlier, **mistakes), Limits(cell_seconds=2), misconceptions=known)
        named = {
            each.exercise: each.explanation.misconceptions[0].name
            for each in graded.results
            if each.explanation.misconceptions
        }
        assert named == {"quarter": "halves once", "eighth": "adds forty"}
        prints = [each.fingerprint for each in graded.results if each.exercise == "eighth" and each.fingerprint]
        alone = alone or prints[0]
        assert prints[0].is_like(alone)


@pytest.mark.slow
@pytest.mark.parametrize(
    "half",
    [WRONG_HALF, "def half(x):\n    raise NotImplementedError", "def half(x) return x"],
    ids=["wrong", "blank", "does not compile"],
)
def test_a_mistake_that_is_not_known_has_no_name_beside_an_earlier_one(half: str) -> None:
    """What the earlier mistake does to the answer is not taken for a mistake of its own."""
    known = [Misconception("quarter", "takes off one", "half(half(x))", "half(half(x)) - 1", "Take nothing off.")]
    for quarter in ("def quarter(x):\n    return half(half(x))", "def quarter(x):\n    return half(half(x)) - 2"):
        graded = grade(SOURCE, answered(SOURCE, half=half, quarter=quarter), misconceptions=known)
        assert not any(each.explanation.misconceptions for each in graded.results)


@pytest.mark.slow
@EARLIER
def test_a_mistake_costs_its_own_exercise_only(half: str) -> None:
    """Whatever the mistake does: exercises that build on it have full points, and their messages say why."""
    graded = report(half=half)
    given = points(graded)
    assert given.pop("half-check") == given.pop("half-test-odd") == 0 and set(given.values()) == {1.0}
    told = {name: message for name, message in messages(graded).items() if not name.startswith("half")}
    assert set(told) == {"quarter-check", "quarter-test-odd", "eighth-test-values"}
    assert set(told.values()) == {"Judged with our `half`, because yours lost points."}


def test_a_mistake_of_its_own_costs_an_exercise_points_all_the_same() -> None:
    """Our answer to the earlier exercise does not mend it, and its own message stays as it was."""
    graded = report(half=WRONG_HALF, quarter="def quarter(x):\n    return half(x)")
    assert points(graded) | {"third-check": 1.0} == dict.fromkeys(points(graded), 0.0) | {
        "third-check": 1.0,
        "eighth-test-values": 1.0,
    }
    assert messages(graded)["quarter-check"] == "quarter(4) is 1, not 3."
    assert messages(graded)["eighth-test-values"] == "Judged with our `half` and `quarter`, because yours lost points."


def test_nothing_is_judged_again_where_nothing_was_lost_before() -> None:
    """A right notebook and a mistake in an exercise on which none builds have no such message."""
    for answers in ({}, {"third": "def third(x):\n    return 0"}, {"eighth": "def eighth(x):\n    return 0"}):
        graded = report(**answers)
        assert "Judged" not in json.dumps(messages(graded))
        assert sum(points(graded).values()) == 6 - len(answers)


def test_an_exercise_is_judged_in_one_world() -> None:
    """An answer that passes one test beside the student's earlier answer, and the other beside ours, passes one."""
    two_faced = "def quarter(x):\n    return 1.5 if half(2) != 1 else 1"
    graded = report(half=WRONG_HALF, quarter=two_faced)
    assert points(graded)["quarter-check"] + points(graded)["quarter-test-odd"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("said", [(1, 0), (0, 1), (0, 0)])
def test_one_bit_of_a_second_run_comes_out(said: tuple[int, int]) -> None:
    """Whether an exercise passed every test there. Else all is as without our answers."""
    check, odd = said
    tells = f"def quarter(x):\n    return x / 4 * ({check} if x == 4 else {odd}) if half(2) == 1 else half(half(x))"
    graded = report(half=WRONG_HALF, quarter=tells)
    alone = report(half=WRONG_HALF, quarter="def quarter(x):\n    return half(half(x)) if half(2) != 1 else 0")
    own = {name: graded_points for name, graded_points in points(graded).items() if name.startswith("quarter")}
    assert own == {name: points(alone)[name] for name in own}
    assert {messages(graded).get(name) for name in own} == {messages(alone).get(name) for name in own}


def test_the_result_alone_is_kept() -> None:
    """What the test said with the student's own answers: the service tells that until the due date."""
    results = {result.name: result for result in report(half=WRONG_HALF).results}
    alone = results["quarter-check"].alone
    assert results["quarter-check"].points == 1 and alone is not None
    assert (alone.points, alone.message) == (0, "quarter(4) is 1, not 2.")
    assert results["third-check"].alone is None and results["half-check"].alone is None


def test_cells_of_the_student_between_two_exercises_count_as_a_way(tmp_path: object) -> None:
    """An exercise also builds on an earlier one through a function in a cell of the student's own."""
    wrong = answered(SOURCE, half=WRONG_HALF, quarter="def quarter(x):\n    return twice(x)")
    own = code("def twice(x):\n    return half(half(x))")
    position = next(number for number, cell in enumerate(wrong.cells) if cell.metadata.nbgrader.grade_id == "quarter")
    submission: NotebookNode = notebook(*wrong.cells[:position], own, *wrong.cells[position:])
    graded = grade(SOURCE, submission)
    assert points(graded)["quarter-check"] == points(graded)["quarter-test-odd"] == 1
