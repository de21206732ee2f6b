"""A layer may have a second name: `self.net = nn.Sequential(self.reduce, nn.ReLU(), self.expand)` adds no parameter.

A test that compares the names of all parameters with a list would take it for one.
"""

import pytest

from grader.engine.grading import grade
from grader.engine.report import Verdict
from tests.support.exercises import SOURCES, lost, reference
from tests.support.judge import Judge
from tests.support.notebooks import answer, helpers, hidden, notebook, with_answer
from tests.support.schedule import grouped

pytestmark = pytest.mark.slow

SECOND_NAME = """
BEFORE = {item for item in globals().values() if isinstance(item, type)}
ANSWER

def with_second_name(init):
    def __init__(self, *arguments, **named):
        init(self, *arguments, **named)
        if type(self).__init__ is __init__ and list(self.children()):
            again = nn.ModuleList(list(self.children()))
            names = {"net": again, **self._modules} if FIRST else {**self._modules, "net": again}
            self._modules.clear()
            self._modules.update(names)
    return __init__

for item in list(globals().values()):
    if isinstance(item, type) and issubclass(item, nn.Module) and item.__module__ == __name__ and item not in BEFORE:
        item.__init__ = with_second_name(item.__init__)
"""
NAMED_BY_TORCH = {"decoder-layer"}
"""Here the state_dict is to have the names of torch's layer and no others, so that weights can be carried over."""
LAYERS = [exercise for exercise in SOURCES if "(nn.Module)" in reference(exercise) and exercise not in NAMED_BY_TORCH]


def second_names(right: str, *, first: bool) -> str:
    """The answer `right` with a second name for each layer, which torch comes to before the first or behind it."""
    return f"FIRST = {first}\n" + SECOND_NAME.replace("ANSWER", right)


@pytest.mark.parametrize("first", [False, True], ids=["behind the first", "before the first"])
@grouped("exercise", LAYERS, group=str)
def test_a_second_name_for_the_same_layers_costs_nothing(judge: Judge, exercise: str, first: bool) -> None:
    """Whichever name torch comes to first."""
    reports = judge.in_turn(exercise, [second_names(reference(exercise), first=each) for each in (False, True)])
    failed = lost(reports[first], exercise)
    assert not failed, failed[0].log


@pytest.mark.parametrize("first", [False, True], ids=["behind the first", "before the first"])
def test_a_test_that_lists_all_names_is_found(first: bool) -> None:
    """It fails right answers: the proof above can fail."""
    right = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)"
    )
    source = notebook(
        helpers("imports", "import torch\nfrom torch import nn"),
        answer("net", right),
        hidden("net-test-state", "A state.", "assert sorted(Net().state_dict()) == ['fc.bias', 'fc.weight']"),
        hidden("net-test-layer", "A layer.", "assert 'fc.weight' in Net().state_dict()"),
    )
    results = grade(source, with_answer(source, "net", second_names(right, first=first))).results
    assert [result.verdict for result in results] == [Verdict.FAILED, Verdict.PASSED]
