"""Shows to which exercise a test belongs: by its name, else by the names that it uses, else by its place."""

import pytest
from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, grade_id, type_of
from grader.engine.notebook.outline import Outline
from grader.engine.notebook.plan import plan
from grader.engine.notebook.repair import repair
from tests.support.notebooks import answer, answered, cell, check, code, helpers, hidden, notebook, text, written

F = "def f(x):\n    return x + 1"
G = "def g(x):\n    return 2 * f(x)"
K = "class K:\n    def f2(self):\n        return g(1)"


def belonging(source: NotebookNode) -> dict[str, str]:
    """Return the exercise of each test."""
    outline = Outline(source)
    return {name: outline.exercise_at[number] for number, name in enumerate(outline.names) if outline.names[number]
            and outline.types[number] is CellType.TEST}  # fmt: skip


CASES = {
    "the name of the cell comes first": (
        [answer("f", F), answer("g", G), check("f-check", "assert g(1)"), check("g-test-x", "assert f(1)")],
        {"f-check": "f", "g-test-x": "g"},
    ),
    "of several, the longest": (
        [
            answer("mask", ""),
            answer("mask-tgt", ""),
            check("mask-tgt-check", ""),
            check("mask-test-all", ""),
            check("t", ""),
        ],
        {"mask-tgt-check": "mask-tgt", "mask-test-all": "mask", "t": "mask-tgt"},
    ),
    "the names that it uses": (
        [answer("a1", F), answer("a2", G), check("t1", "assert f(1) == 2"), check("t2", "assert g(1) == 4")],
        {"t1": "a1", "t2": "a2"},
    ),
    "of several, the last": (
        [answer("a1", F), answer("a2", G), answer("a3", K), check("t", "assert g(1) == 2 * f(1)")],
        {"t": "a2"},
    ),
    "answers above before those below": (
        [answer("a1", F), check("t1", "assert g(f(1))"), answer("a2", G), check("t2", "assert f(1)")],
        {"t1": "a1", "t2": "a1"},
    ),
    "below if nothing above fits": (
        [answer("a1", F), check("t", "assert g(1)"), answer("a2", G), answer("a3", "g = 1")],
        {"t": "a2"},
    ),
    "names in functions and classes of the test count": (
        [answer("a1", F), answer("a2", G), check("t", "def ask():\n    return [f(i) for i in range(3)]\nassert ask()")],
        {"t": "a1"},
    ),
    "its own names do not": (
        [answer("a1", "x = 1\n" + F), answer("a2", "y = 2"), check("t", "x = 3\nassert y == 2 and x")],
        {"t": "a2"},
    ),
    "nor do imports": (
        [answer("a1", F), answer("a2", "import math\nz = math.pi"), check("t", "import math\nassert f(math.e)")],
        {"t": "a1"},
    ),
    "nor does an import that only an answer makes": (
        [answer("a1", F), answer("a2", "import math\nz = math.pi"), check("t", "assert math.isclose(f(1), 2)")],
        {"t": "a1"},
    ),
    "names in magics do": (
        [answer("a1", F), answer("a2", G), check("t", "t = %timeit -o -n1 f(1)\nassert t")],
        {"t": "a1"},
    ),
    "the nearest answer above, if names say nothing": (
        [answer("a1", F), answer("a2", G), code("out = f(g(1))"), check("t", "assert out == 5"), answer("a3", K)],
        {"t": "a2"},
    ),
    "no manual answer owns a test": (
        [answer("a1", F), written("why", "def f"), check("t1", "assert out"), check("t2", "assert f(1)")],
        {"t1": "a1", "t2": "a1"},
    ),
    "hidden tests as well": (
        [answer("a1", F), answer("a2", G), hidden("t", "f holds.", "assert f(1) == 2")],
        {"t": "a1"},
    ),
    "a broken answer binds nothing": (
        [answer("a1", F), answer("a2", "def g(x:"), check("t1", "assert f(1)"), check("t2", "assert g(1)")],
        {"t1": "a1", "t2": "a2"},
    ),
    "without an answer it stands alone": ([helpers("h", "x = 1"), check("t", "assert x")], {"t": "t"}),
    "above all answers, too": ([check("t", "assert 1"), answer("a1", F)], {"t": "t"}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_test_belongs_to(case: str) -> None:
    """The rule is the same for all sources, and a student decides nothing about it.

    A repaired submission has the exercises of its source, by its plan and, later, from the notebook alone.
    """
    cells, expected = CASES[case]
    source = notebook(*cells)
    assert belonging(source) == expected
    answers = [
        each for each in map(grade_id, source.cells) if type_of(cell(source, each)) is CellType.AUTOGRADED_ANSWER
    ]
    for written_answer in ("", "raise NotImplementedError()", "f = g = x = y = z = K = math = 1", "import ("):
        submission = answered(source, **dict.fromkeys(answers, written_answer))
        for each in submission.cells:
            each.metadata["grader_exercise"] = answers[0] if answers else "t"
        repaired = repair(source, submission).notebook
        assert belonging(repaired) == expected
        assert {step.name: step.exercise for step in plan(repaired, source) if step.name in expected} == expected


def test_an_exercise_alone_keeps_what_its_tests_need() -> None:
    """The answer, also below its test, and names that a test of another exercise defines; but no other test."""
    cells = [answer("a1", F), check("t1", "def near(x, y):\n    return x == y\nassert near(f(1), 2)"), check("t2", "f")]
    source = notebook(
        text("# Title"), *cells, check("t3", "assert near(g(1), 4)"), answer("a2", G), check("t4", "f(1)")
    )
    alone = Outline(Outline(source).alone("a2"))
    assert [name for name, kind in zip(alone.names, alone.types, strict=True) if kind is CellType.TEST] == ["t3"]
    assert alone.names == ["a1", "t1", "t3", "a2"] and alone.exercises["a2"].tests == [2]
