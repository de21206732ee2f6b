"""Typical tests of NumPy courses give the same points as in one process, to right answers and to wrong ones.

Results, writes, linear algebra, seeds and functions as arguments are in tests/foreign/census/arrays.txt.
"""

import pytest

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.grading import grade
from tests.support.notebooks import answer, check, helpers, notebook, with_answer

SOLUTION = """
import numpy as np
def stats(x): return {"mean": x.mean(), "rows": x.sum(1), "n": len(x), "range": (x.min(), x.max())}
def above(x): return x > 2
def add_to(a, b, out): np.add(a, b, out=out)
def names(): return np.array(["ann", "bob"])
def solve(A, b): return np.linalg.solve(A, b)
def draw(rng, n): return rng.integers(0, 10, n)
def roots(c): return np.roots(c)
def unique(x): return set(np.unique(x).tolist())
def scalar(x): return np.array(3.0)
def parts(x): return [np.array([1, 2]), np.array([3.0])]
def kind(x): return x.dtype
def rows(x):
    for row in x: yield row * 2
polynomial = np.poly1d([1, 2])
plus_one = np.vectorize(lambda v: v + 1)
NUMBERS = np.arange(3)
TABLE = {"a": np.zeros(2)}
"""
TESTS = {
    "stats": "s = stats(np.arange(6).reshape(2, 3))\nassert s['mean'] == 2.5 and s['n'] == 2 and s['range'] == (0, 5)\n"
    "np.testing.assert_array_equal(s['rows'], [3, 12])",
    "approx": "import pytest\nassert stats(np.eye(2))['mean'] == pytest.approx(0.5)\n"
    "assert stats(np.eye(2))['mean'].round(1) == 0.5",
    "mask": "m = above(np.arange(5))\nassert m.dtype == bool and isinstance(m, np.ndarray)\n"
    "assert (np.arange(5)[m] == [3, 4]).all()",
    "out": "out = np.zeros((2, 3))\nadd_to(np.ones((2, 1)), np.arange(3), out=out[:, ::-1])\n"
    "assert out.tolist() == [[3, 2, 1]] * 2",
    "text": "assert names().shape == (2,) and list(names()) == ['ann', 'bob'] and names()[0].upper() == 'ANN'",
    "singular": "with np.testing.assert_raises(np.linalg.LinAlgError):\n    solve(np.zeros((2, 2)), np.zeros(2))",
    "generator": "r, q = np.random.default_rng(3), np.random.default_rng(3)\n"
    "assert (draw(r, 5) == q.integers(0, 10, 5)).all() and (draw(r, 3) == q.integers(0, 10, 3)).all()",
    "complex": "r = roots([1, 0, 1])\n"
    "assert np.iscomplexobj(r) and np.allclose(sorted(r, key=lambda z: z.imag), [-1j, 1j])",
    "set": "assert unique(np.array([1, 1, 2])) == {1, 2}",
    "0-d": "assert scalar(1).shape == () and scalar(1) == 3.0 and type(scalar(1)) is np.ndarray",
    "list": "a, b = parts(1)\nassert a.dtype.kind == 'i' and b.dtype == np.float64",
    "dtype": "assert kind(np.zeros(2, np.float32)) == np.float32 and kind(np.arange(2)) is np.dtype('int64')",
    "iteration": "assert [list(r) for r in rows(np.eye(2))] == [[2, 0], [0, 2]]",
    "objects of numpy": "assert polynomial(2) == 4 and plus_one(np.arange(2)).tolist() == [1, 2]",
    "values": "assert (NUMBERS == [0, 1, 2]).all() and TABLE['a'].size == 2 and repr(NUMBERS) == 'array([0, 1, 2])'",
}
SOURCE = notebook(
    helpers("imports", "import numpy as np"),
    answer("a", f"### BEGIN SOLUTION{SOLUTION}### END SOLUTION"),
    *(check(f"a-check-{number}", test) for number, test in enumerate(TESTS.values())),
)
MISTAKES = {
    "another error": ("return np.linalg.solve(A, b)", "raise ValueError('singular')"),
    "out": ("out=out)", "out=out.copy())"),
    "mask": ("x > 2", "(x > 2) * 1"),
    "list": ("np.array([3.0])]", "[3.0]]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [("", ""), *MISTAKES.values()], ids=["none", *MISTAKES])
def test_a_mistake_loses_points_in_one_process_and_here(mistake):
    """In the same tests; our own solution keeps all its points."""
    code = SOLUTION.replace(*mistake)
    stock = {}
    for name, test in TESTS.items():
        try:
            exec(f"{code}\n{test}", {})
            stock[name] = 1
        except Exception:
            stock[name] = 0
    results = grade(SOURCE, with_answer(SOURCE, "a", code)).results
    assert {name: result.points for name, result in zip(TESTS, results, strict=True)} == stock
    assert (0 in stock.values()) is (mistake in MISTAKES.values())


ROLLING = "def smooth(x):\n    return np.array([x[max(0, i - 1) : i + 2].mean() for i in range(len(x))])"
KNOWN = [
    Misconception("smooth", name, find, replace, f"Look at it: {name}.")
    for name, find, replace in (
        ("leaves the next one out", "i + 2", "i + 1"),
        ("computes in float32", "range(len(x))])", "range(len(x))], dtype=np.float32)"),
        ("answers with a list", "np.array([x[max(0, i - 1) : i + 2].mean() for i in range(len(x))])",
         "[x[max(0, i - 1) : i + 2].mean() for i in range(len(x))]"),
        ("writes into x", "    return", "    x[0] = 0\n    return"),
    )
]  # fmt: skip
SMOOTH = notebook(
    helpers("imports", "import numpy as np"),
    answer("smooth", f"### BEGIN SOLUTION\n{ROLLING}\n### END SOLUTION"),
    check(
        "smooth-check",
        "x = np.arange(1, 6.0) ** 2\ny = smooth(x)\nassert isinstance(y, np.ndarray) and y.dtype == float\n"
        "assert np.allclose(y, [2.5, 14 / 3, 29 / 3, 50 / 3, 20.5]) and (x == np.arange(1, 6.0) ** 2).all()",
    ),
)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_a_mistake_with_arrays_is_named(known):
    """Answers that are arrays are compared like tensors: numbers within a tolerance, dtypes and types exactly."""
    # In another order, so that the last digits differ.
    wrong = known.apply(ROLLING).replace(".mean()", "[::-1].mean() * 3 / 3")
    [result] = grade(SMOOTH, with_answer(SMOOTH, "smooth", wrong), misconceptions=KNOWN).results
    assert result.points == 0 and result.explanation.causes == [known.name]
