"""aliases counts what a function hands back of its arguments, in one process and through the grader."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader_kernel.aliases import aliases

CODE = """
def itself(value):
    return value

def copied(value):
    return [part for part in value]

def doubled(x):
    return 2 * x

def viewed(x):
    return x.view(-1)[1:]

def same_dtype(x):
    return x.to(x.dtype), x.float()

def deep(value):
    return {"found": [(value["words"], 1)], "new": dict(value)}

def joined(x, cache):
    return (torch.cat([cache[0], x]), cache[1])

def keeps(values, kept):
    kept.append(values)
    return kept

def in_a_circle(value):
    value.append(value)
    return value

class Scale(nn.Module):
    def forward(self, x):
        return x if x.size(0) == 1 else x * 1
"""
X = torch.ones(4)
CALLS: dict[str, tuple[tuple, int]] = {
    "a list": (("itself", [1, 2]), 1),
    "an empty list": (("itself", []), 1),
    "a new list of the same": (("copied", [1, 2]), 0),
    "a new list of the same tensors": (("copied", [X, X, X + 1]), 2),
    "a dict": (("itself", {"a": 1}), 1),
    "a tuple of numbers": (("itself", (1, 2)), 0),
    "a tensor": (("itself", X), 1),
    "a new tensor": (("doubled", X), 0),
    "a view": (("viewed", X), 1),
    "a tensor in the dtype that it has": (("same_dtype", X), 1),
    "a tensor in another dtype": (("same_dtype", X.double()), 1),
    "a tensor without numbers": (("itself", torch.ones(0)), 0),
    "a number": (("itself", 3), 0),
    "deep inside, twice": (("deep", {"words": [1]}), 1),
    "one of two": (("joined", X, (X + 1, X + 2)), 1),
    "an argument inside another": (("keeps", [1], []), 2),
}


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_both_worlds_count_the_same(in_both: Any, call: tuple, expected: int) -> None:
    """Lists and dicts by identity, tensors by their memory, in whatever they are."""
    name, *given = call
    for names in in_both(CODE):
        _, shared = aliases(names[name], *[list(part) if isinstance(part, list) else part for part in given])
        assert shared == expected


def test_a_module_is_called_and_a_circle_ends(in_both: Any) -> None:
    """A stand-in for a module makes the call in the sandbox too; only in one process can a circle come back."""
    local, remote = in_both(CODE)
    for names in (local, remote):
        layer = names["Scale"]()
        assert [aliases(layer, torch.ones(n))[1] for n in (1, 2)] == [1, 0]
    assert aliases(local["in_a_circle"], [1])[1] == 1


def test_gradients_flow_through_the_call(student: Any) -> None:
    """As through any other call of the student's function."""
    x = torch.ones(3, requires_grad=True)
    value, shared = aliases(student(CODE)["doubled"], x)
    value.sum().backward()
    assert shared == 0 and x.grad is not None and x.grad.tolist() == [2, 2, 2]


@pytest.mark.slow
@given(st.recursive(st.integers(), lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts)))
def test_a_value_belongs_to_itself_and_its_copy_does_not(value: Any) -> None:
    """However deep: every list and dict in it counts once, and none in a copy."""

    def size(part: Any) -> int:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return isinstance(part, list | dict) + sum(map(size, inner))

    def copied(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: copied(inner) for key, inner in part.items()}
        return [copied(inner) for inner in part] if isinstance(part, list) else part

    assert aliases(lambda given: given, value)[1] == size(value)
    assert aliases(copied, value)[1] == 0
