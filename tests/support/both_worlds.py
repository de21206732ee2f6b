"""Runs a test in one process and beside a sandbox with the student's code: both must see the same."""

import textwrap
from typing import Any

import numpy
import pytest
import torch
from torch import nn

from grader.engine.notebook.names import classes_defined, names_used

GIVEN = {"torch": torch, "nn": nn, "np": numpy, "pytest": pytest}
"""Names that each test and each answer may use."""
DEFINED = """
import numpy as np
import torch
from torch import nn

def do(code, *x):
    exec(code, globals() | {"x": x[0] if len(x) == 1 else x})

def get(code, *x):
    return eval(code, globals() | {"x": x[0] if len(x) == 1 else x})
"""
"""Begins each answer: a test has the student's side `do` something to an argument, or `get` a value of it."""


def described(value: Any) -> Any:
    """Return all that a test can see of a value: its classes, numbers, memory order, gradients and parts."""
    kind = type(value).__name__
    match value:
        case nn.Module():
            parts = [(name, type(part).__name__, part.training) for name, part in value.named_modules()]
            tensors = [*value.named_parameters(remove_duplicate=False), *value.named_buffers()]
            return kind, parts, [(name, described(each)) for name, each in tensors], list(value.state_dict())
        case torch.Tensor():
            about = value.dtype, tuple(value.shape), value.stride(), value.requires_grad, value.is_leaf
            return kind, about, repr(value.tolist()), described(value.grad if value.is_leaf else None)
        case numpy.ndarray():
            about = value.dtype, value.shape, value.flags.writeable
            return kind, about, repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        case _ if kind == "DataFrame":
            return kind, list(value.index), [*map(str, value.dtypes)], value.to_dict()
        case dict():
            return kind, [(described(name), described(each)) for name, each in value.items()]
        case list() | tuple() | set() | frozenset():
            return kind, getattr(value, "_fields", ()), [described(each) for each in value]
        case BaseException():
            base = next(cls for cls in type(value).mro() if cls.__module__ == "builtins")
            return "raised", base.__name__, str(value)
    is_plain = type(value).__module__ in ("builtins", "collections", "numpy") and " at 0x" not in repr(value)
    return (kind, repr(value)) if is_plain else kind


def seen(names: dict[str, Any], test: str) -> dict[str, Any]:
    """Run a test with these names of an answer; return what it has bound, and the error that ended it."""
    names = GIVEN | {"__name__": "__main__"} | names
    before = {*names, "__builtins__"}
    torch.manual_seed(0)
    try:
        exec(compile(test, "<test>", "exec"), names)
    except Exception as error:
        names["its end"] = error
    bound = {name: each for name, each in names.items() if name not in before and not callable(each)}
    modules = {name: each for name, each in names.items() if isinstance(each, nn.Module)}
    return {name: described(each) for name, each in (bound | modules).items()}


def assert_same(student: Any, source: str, test: str, *, ends: bool = False) -> None:
    """Assert that a test sees the same of an answer in one process and of one in a sandbox, and that it has an effect.

    Args:
        student: the fixture of this name.
        source: the cells of the answer.
        test: the cell of the test.
        ends: whether an error ends the test.
    """
    source, test = DEFINED + textwrap.dedent(source), textwrap.dedent(test)
    local = {"__name__": "__main__"}
    exec(compile(source, "<answer>", "exec"), local)
    remote = student(source)
    remote.client.our_classes = classes_defined(source)
    used = [name for name in names_used(test) if name not in GIVEN]
    expected = seen({name: local[name] for name in used if name in local}, test)
    assert ("its end" in expected) is ends and expected, expected
    found = seen(remote.client.fetch_names(used), test)
    assert found == expected, {
        name: (found.get(name), expected.get(name))
        for name in found | expected
        if found.get(name) != expected.get(name)
    }
