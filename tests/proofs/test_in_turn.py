"""Answers that are tried in turn, in one sandbox, are judged as if each was graded by itself."""

from pathlib import Path

import pytest

from tests.support import judge as judges
from tests.support.judge import Judge
from tests.support.notebooks import answer, helpers, hidden, notebook
from tests.support.proof_cache import ProofCache

pytestmark = pytest.mark.slow

RIGHT = "def area(r):\n    return math.pi * r * r"
WRONG = "def area(r):\n    return math.pi * r"
SOURCE = notebook(
    helpers("imports", "import math"),
    answer("area", RIGHT),
    hidden("area-test-one", "One.", "assert abs(area(1) - 3.14159) < 1e-3"),
    hidden("area-test-two", "Two.", "assert abs(area(2) - 12.56637) < 1e-3"),
)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """A judge with an empty cache, for whom SOURCE is the notebook of every exercise."""
    monkeypatch.setattr(judges, "alone", lambda _: SOURCE)
    monkeypatch.setattr(judges, "reference", lambda _: RIGHT)
    return Judge(ProofCache(tmp_path))


@pytest.mark.parametrize(
    ("between", "its_points"),
    [
        ("def area(r):\n    return 3.14159 * r ** 2", [1, 1]),
        ("math.pi = 2\n" + RIGHT, [0, 0]),
        ("raise NotImplementedError", [0, 0]),
        ("import os\ndef area(r):\n    os._exit(0)", [0, 0]),
        ("import os\nos._exit(0)", [0, 0]),
        ("del math\n" + RIGHT, [0, 0]),
        ("pass", [0, 0]),
        ("def area(r):\n    while True:\n        print(r * 10 ** 6)", [0, 0]),
    ],
    ids=[
        "right",
        "changes a library",
        "blank",
        "ends in a test",
        "ends the sandbox",
        "removes a name",
        "binds nothing",
        "prints too much",
    ],
)
def test_an_answer_costs_no_other_one_a_point(judge: Judge, between: str, its_points: list[float]) -> None:
    """Neither those before it nor those behind it, whatever it leaves in the sandbox."""
    reports = judge.in_turn("area", [WRONG, between, RIGHT, WRONG])
    assert [[result.points for result in each.results] for each in reports] == [[1, 0], its_points, [1, 1], [1, 0]]
