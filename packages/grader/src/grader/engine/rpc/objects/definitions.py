"""Sends functions and classes that a test defines, as compiled code without its text, its file and its lines.

    function or class of the test --reduced--> pickle: code, and what it refers to --make--> the same in the sandbox

A module of the test's own is copied like one of torch's: student code finds its parameters and parts, and gradients
flow through it. Only the runner sends code. Lists, dicts and sets to which it refers are `shared`: they cross as
arguments do, and student code's changes come back. Code that binds names outside itself stays in the test's process.
"""

import builtins
import dis
import importlib
import marshal
import pickle
from abc import ABCMeta
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from grader.engine.torch_if_used import nn, torch

MAIN = "__main__"
SHARED = (list, dict, set, deque)
_LEFT_OUT = frozenset(
    ("__dict__", "__weakref__", "__doc__", "__annotations__", "__abstractmethods__", "_abc_impl", "_backward_cls")
    + ("__dataclass_fields__", "__dataclass_params__")
)
"""Entries of a class that Python makes itself, or that only tools for source text need."""
_BINDING = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")


def is_of_torch(item: Any) -> bool:
    """Return whether an object or a class belongs to torch or derives from a class of torch.

    Args:
        item: the object or class.
    """
    kind = item if isinstance(item, type) else type(item)
    return any(base.__module__.partition(".")[0] == "torch" for base in kind.__mro__)


def needs_sending(item: FunctionType, is_students: Callable[[Any], bool]) -> bool:
    """Return whether a function of the test works only beside student code.

    It does if it uses what student code may change during the call, a weight or a module, or the student's own code.
    Any other function of the test is called back, so that a test can trust what it has counted.

    Args:
        item: the function.
        is_students: returns whether an object stands for one of the student's.
    """
    pending, seen = [item], set[int]()
    while pending:
        function = pending.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        for part in (*references(function).values(), *defaults):
            if isinstance(part, nn.Module) or is_students(part):
                return True
            if isinstance(part, torch.Tensor) and part.requires_grad:
                return True
            if is_defined_by_test(part) and (is_of_torch(part) or isinstance(part, FunctionType)):
                if isinstance(part, type):
                    return True
                pending.append(part)
    return False


def is_defined_by_test(item: Any) -> bool:
    """Return whether an object is a function or a class of a test."""
    # The methods that Python makes for a dataclass have no module.
    return isinstance(item, type | FunctionType) and item.__module__ in (MAIN, None)


def binds_outside(function: FunctionType) -> bool:
    """Return whether a function binds a name outside itself, which the test would not see in a copy."""
    return _names(function.__code__)[1]


def references(function: Any) -> dict[str, Any]:
    """Return what the names outside a function are bound to; {} for anything else."""
    if not isinstance(function, FunctionType):
        return {}
    found = {name: function.__globals__[name] for name in _names(function.__code__)[0] if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if cell != CellType():
            found[name] = cell.cell_contents
    return found


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> tuple[tuple[str, ...], bool]:
    """Return the global names that code uses, and whether it binds any outside itself."""
    used: dict[str, None] = {}
    binds = False
    for part in _parts(code):
        for step in dis.get_instructions(part):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                used[step.argval] = None
            elif step.opname in _BINDING:
                binds |= step.opname.endswith("GLOBAL") or step.argval in code.co_freevars
    return tuple(used), binds


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def reduced(item: Any, share: Callable[[Any], None]) -> Any:
    """Return how to pickle a part of a definition, as `reducer_override` does; NotImplemented for anything else.

    Args:
        item: the part.
        share: receives the lists, dicts and sets to which it refers.

    Raises:
        PicklingError: it works only in the process of the test.
    """
    match item:
        case ModuleType():
            return importlib.import_module, (item.__name__,)
        case FunctionType() if is_defined_by_test(item) or "<" in item.__qualname__:
            return _reduced_function(item, share)
        case type() if is_defined_by_test(item):
            return _reduced_class(item, share)
        case staticmethod() | classmethod():
            return type(item), (item.__func__,)
        case property():
            return property, (item.fget, item.fset, item.fdel)
    if type(item).__module__ == "dataclasses":
        # The functions of a dataclass compare with these very objects.
        module = importlib.import_module("dataclasses")
        return next((name for name, known in vars(module).items() if known is item), NotImplemented)
    return NotImplemented


def _reduced_function(function: FunctionType, share: Callable[[Any], None]) -> Any:
    if binds_outside(function):
        raise pickle.PicklingError(f"{function.__name__} binds names of the test")
    found = references(function)
    for part in found.values():
        if type(part) in SHARED:
            share(part)
    free = function.__code__.co_freevars
    cells = {name: found[name] for name in free if name in found}
    names = {name: part for name, part in found.items() if name not in free}
    state = names, cells, function.__defaults__, function.__kwdefaults__, function.__dict__
    code = marshal.dumps(_bare(function.__code__), 2)  # version 2, whose bytes are the same in each run
    return make_function, (code, function.__name__), state, None, None, fill_function


def _bare(code: CodeType) -> CodeType:
    """Return code without its file and lines."""
    constants = tuple(_bare(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename="<the test>", co_linetable=b"", co_firstlineno=1, co_consts=constants)


def _reduced_class(cls: type, share: Callable[[Any], None]) -> Any:
    content = {name: part for name, part in vars(cls).items() if name not in _LEFT_OUT}
    if type(cls) not in (type, ABCMeta, type(torch.autograd.Function)) or "__slots__" in content:
        raise pickle.PicklingError(f"{cls.__name__} is a class of a kind that is not sent")
    for part in content.values():
        methods = (
            (part.fget, part.fset, part.fdel) if isinstance(part, property) else (getattr(part, "__func__", part),)
        )
        if any(isinstance(each, FunctionType) and binds_outside(each) for each in methods):
            # Called back, it would have the copy as `self`, and the copy's weights would get no gradient.
            raise pickle.PicklingError(f"a method of {cls.__name__} binds names of the test")
        if type(part) in SHARED:
            share(part)
    return make_class, (type(cls), cls.__name__, cls.__bases__), content, None, None, fill_class


# In the sandbox


def make_function(code: bytes, name: str) -> FunctionType:
    """Return a function that refers to nothing yet.

    Args:
        code: its code, marshalled.
        name: its name.
    """
    loaded = marshal.loads(code)
    names = {"__builtins__": builtins, "__name__": MAIN}
    return FunctionType(loaded, names, name, None, tuple(CellType() for _ in loaded.co_freevars))


def fill_function(function: FunctionType, state: tuple[dict, dict, Any, Any, dict]) -> None:
    """Give a function what it refers to.

    Args:
        function: the function.
        state: its global names, its cells by name, its defaults, those of its keyword arguments, and its attributes.
    """
    names, cells, function.__defaults__, function.__kwdefaults__, attributes = state
    function.__globals__.update(names)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in cells:
            cell.cell_contents = cells[name]
    function.__dict__.update(attributes)


def make_class(meta: type, name: str, bases: tuple[type, ...]) -> type:
    """Return a class without content.

    Args:
        meta: its class.
        name: its name.
        bases: its bases.
    """
    return meta(name, bases, {"__module__": MAIN})


def fill_class(cls: type, content: dict[str, Any]) -> None:
    """Give a class its methods and attributes.

    Args:
        cls: the class.
        content: its methods and attributes.
    """
    for name, part in content.items():
        setattr(cls, name, part)
