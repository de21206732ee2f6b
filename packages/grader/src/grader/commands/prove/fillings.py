"""Turns a right answer into a trivial one: each call returns zeros, ones, ... in the shape of the right result.

The text of this module runs below the answer in the sandbox. It imports nothing of the grader, and torch only where the
answer did.
"""

import copy
import functools
import inspect
import random
import sys
from collections.abc import Callable, Collection
from enum import StrEnum
from types import FunctionType
from typing import Any

OPERATORS = ("__call__", "__getitem__", "__iter__", "__len__")
"""Methods that give results, although their names have underscores."""


class Filling(StrEnum):
    """The result of a trivial answer. The parameters of a class are those of the right answer."""

    ZEROS = "zeros"
    ONES = "ones"
    FIRST = "the first argument"
    RANDOM = "random numbers"
    GRADIENTS = "zeros with gradients"
    """Zeros that depend on all arguments and parameters, with gradients of zero."""
    UNUSED = "parameters without use"
    """Nothing: methods fail, so only tests of names and parameters can pass."""


def fill(names: dict[str, Any], own: Collection[str], filling: str) -> None:
    """Replace functions and the public methods of classes by trivial ones.

    Args:
        names: the namespace of the answer, which is changed.
        own: the functions and classes in it that the answer defines.
        filling: a value of `Filling`.
    """
    filler = _Filler(Filling(filling))
    for name in own:
        value = names[name]
        if not isinstance(value, type):
            names[name] = filler.replaced(value)
            continue
        for method, function in list(vars(value).items()):
            if method.startswith("_") and method not in OPERATORS:
                continue
            if isinstance(function, FunctionType):
                setattr(value, method, filler.replaced(function, is_method=True))
            elif isinstance(function, staticmethod):
                setattr(value, method, staticmethod(filler.replaced(function.__func__)))


class _Filler:
    def __init__(self, filling: Filling) -> None:
        self._filling = filling
        self._is_inside = False
        self._random = random.Random(0)
        self._torch = sys.modules.get("torch")
        if self._torch:
            self._generator = self._torch.Generator().manual_seed(0)

    def replaced(self, function: Callable[..., Any], is_method: bool = False) -> Callable[..., Any]:
        """Return the trivial function or method that stands for a right one."""

        @functools.wraps(function)
        def trivial(*args: Any, **kwargs: Any) -> Any:
            if self._is_inside:
                return function(*args, **kwargs)
            if self._filling is Filling.UNUSED:
                raise RuntimeError("This answer has parameters, and uses none of them.")
            given = [*args[is_method:], *kwargs.values()]
            first = given[0] if given else None
            try:
                right = self._right_result(function, args, kwargs, is_method)
            except Exception:
                return first  # an error for a wrong argument would be more than trivial
            if inspect.isgenerator(right):
                return iter([self._filled(item, first) for item in right])
            if self._filling is not Filling.FIRST:
                filled = self._filled(right, first)
                return self._attached(filled, [*given, *args[:is_method]])
            if not isinstance(right, (dict, list, tuple)):
                return first
            return self._filled(right, first)

        return trivial

    def _right_result(self, function: Callable[..., Any], args: Any, kwargs: Any, is_method: bool) -> Any:
        """Call a right function with copies, so that it changes neither an argument, nor its object, nor a seed."""
        torch, state = self._torch, random.getstate()
        torch_state = torch.get_rng_state() if torch else None
        copies = [self._copied(value) for value in args[is_method:]]
        self._is_inside = True
        try:
            right = function(*map(_deep_copy, args[:is_method]), *copies, **self._copied(kwargs))
            return (item for item in list(right)) if inspect.isgenerator(right) else right
        finally:
            self._is_inside = False
            random.setstate(state)
            if torch:
                torch.set_rng_state(torch_state)

    def _copied(self, value: Any) -> Any:
        if self._is_tensor(value):
            return value.detach().clone().requires_grad_(value.requires_grad)
        if self._torch and isinstance(value, self._torch.nn.Module):
            return _deep_copy(value)
        return _rebuilt(value, self._copied)

    def _filled(self, right: Any, first: Any) -> Any:
        """Return a result as trivial as the filling says; only the shape and the type of the right one count."""
        is_alike = type(first) is type(right) and (not self._is_tensor(right) or first.shape == right.shape)
        if self._filling is Filling.FIRST and is_alike:
            return first
        if self._is_tensor(right):
            return self._filled_tensor(right)
        is_one = self._filling is Filling.ONES
        is_random = self._filling is Filling.RANDOM
        match right:
            case bool():
                return self._random.random() < 0.5 if is_random else is_one
            case int():
                return self._random.randrange(100, 1000) if is_random else int(is_one)
            case float():
                return self._random.gauss() if is_random else float(is_one)
            case str():
                return "".join(self._random.choices("abc", k=len(right))) if is_random else "1" * is_one * len(right)
            case dict() | list() | tuple() | set():
                return _rebuilt(right, lambda item: self._filled(item, first))
        return None

    def _filled_tensor(self, right: Any) -> Any:
        torch: Any = self._torch
        if self._filling is Filling.ONES:
            return torch.ones_like(right, requires_grad=False)
        if self._filling is Filling.RANDOM:
            numbers = torch.randn(right.shape, generator=self._generator)
            if right.dtype is torch.bool:
                return numbers > 0
            return (numbers if right.is_floating_point() else 5 * numbers.abs()).to(right.dtype)
        return torch.zeros_like(right, requires_grad=False)

    def _attached(self, filled: Any, inputs: list[Any]) -> Any:
        """Return a result that depends on all tensors among the inputs, in which they play no role."""
        if self._filling is not Filling.GRADIENTS or not self._torch:
            return filled
        nothing: list[Any] = []

        def collect(value: Any) -> Any:
            if self._is_tensor(value) and value.is_floating_point():
                nothing.append(value.nan_to_num(0, 0, 0).sum() * 0)
            elif isinstance(value, self._torch.nn.Module):  # type: ignore[union-attr]
                nothing.extend(parameter.sum() * 0 for parameter in value.parameters())
            return _rebuilt(value, collect)

        def attach(value: Any) -> Any:
            if self._is_tensor(value) and value.is_floating_point():
                return sum((each.to(value.dtype) for each in nothing), value)
            return _rebuilt(value, attach)

        collect(inputs)
        return attach(filled)

    def _is_tensor(self, value: Any) -> bool:
        return self._torch is not None and isinstance(value, self._torch.Tensor)


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a container with changed items; anything else as it is."""
    match value:
        case dict():
            return {key: change(item) for key, item in value.items()}
        case list() | set():
            return type(value)(map(change, value))
        case tuple():
            items = map(change, value)
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _deep_copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        return value
