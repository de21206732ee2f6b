"""An attack of each kind, in one class with three honest students. tests/attacks tries all of them."""

import pytest

from tests.attacks.aftermath import ATTACKS, HONEST, LOOT, Aftermath, graded
from tests.attacks.build import REACHED
from tests.support.draw import some

KINDS = {
    "values that lie": "01 02 03 06",
    "functions of the tests replaced": "04 05 09 13 20",
    "inputs of the tests": "07 08 35 63",
    "source text rewritten": "11 12 15",
    "modules of its own": "10 25 38",
    "output forged": "14 16 61 68",
    "messages forged": "17 33 66",
    "ends before the asserts": "18 19 21 22 23",
    "tags and types of cells": "24 59 70",
    "objects of the process": "26 27 28 29 72",
    "files of others": "30 34 37 39 40 69",
    "network": "31",
    "secrets": "32 71",
    "pickle": "36",
    "processes": "41 47 48",
    "memory": "42",
    "disk": "43",
    "floods": "44",
    "time": "45 46 50 53",
    "crashes and signals": "49 51 52",
    "files that are no notebook": "54",
    "cells moved or removed": "55 56 57 58 60",
    "ways out": "62 67",
    "work of torch": "64 65",
}
"""The kinds of attacks, by the numbers that names in the corpus begin with."""


def kind_of(attack: str) -> str:
    """The kind of an attack."""
    return next(kind for kind, numbers in KINDS.items() if attack[:2] in numbers.split())


DRAWN = [some([name for name in ATTACKS if kind_of(name) == kind], 1)[0] for kind in KINDS]


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    """What is found after the class was graded."""
    return graded(tmp_path_factory.mktemp("attacks"), attacks={name: ATTACKS[name] for name in DRAWN})


def test_no_attack_gains_learns_or_leaves_anything(aftermath: Aftermath) -> None:
    """Points are those of the honest part; nothing forbidden had an effect, nothing secret is shown, none is left."""
    scores = aftermath.scores()
    earned = {name: sum(score or 0 for (student, _), score in scores.items() if student == name) for name in DRAWN}
    assert earned == {name: float(getattr(ATTACKS[name], "EARNS", 0)) for name in DRAWN}
    shown = {name: aftermath.shown(name) for name in DRAWN}
    assert [name for name, text in shown.items() if REACHED in text] == []
    assert [(name, loot) for name, text in shown.items() for loot in LOOT if loot in text] == []
    assert aftermath.changed == [] and not any(aftermath.left.values()), (aftermath.changed, aftermath.left)


@pytest.mark.parametrize("student", HONEST)
def test_honest_students_keep_their_points(aftermath: Aftermath, student: str) -> None:
    """Attackers are graded beside them."""
    assert sum(score or 0 for (name, _), score in aftermath.scores().items() if name == student) == HONEST[student][1]
