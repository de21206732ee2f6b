"""A layer may have a second name: `self.net = nn.Sequential(self.reduce, nn.ReLU(), self.expand)` adds no parameter.

A test that compares the names of all parameters with a list would take it for one.
"""

import pytest
from exercises import SOURCES, belongs, reference, submit

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


@pytest.mark.parametrize("first", [False, True], ids=["behind the first", "before the first"])
@pytest.mark.parametrize("exercise", LAYERS)
def test_a_second_name_for_the_same_layers_costs_nothing(exercise: str, first: bool) -> None:
    """Whichever name torch comes to first."""
    answer = f"FIRST = {first}\n{SECOND_NAME.replace('ANSWER', reference(exercise))}"
    report = submit(exercise, answer, whole=False)
    results = [result for result in report.results if belongs(result.name, exercise)]
    lost = [result for result in results if result.points < result.max_points]
    assert not lost, lost[0].log
