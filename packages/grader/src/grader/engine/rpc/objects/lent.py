"""Lends objects of a test to student code: they stay in the runner, and a borrowed one asks it for every operation.

    object of the test --lend--> LentRef: its number, name and special methods --borrowed--> a stand-in in the sandbox
    stand-in --Callback: operation, arguments--> operate: only what `LENT` and the class of the object permit --> value

Functions, instances of classes that the author's cells define, files in memory, iterators and mocks are lent. Student
code is not trusted: it may read attributes without double underscores and call what it gets, as in one process, but
reaches no class, no module and no frame, because none of these crosses.
"""

import inspect
import pickle
from collections.abc import Callable, Iterator
from enum import Enum
from types import SimpleNamespace
from typing import Any, NoReturn
from unittest.mock import NonCallableMock

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import LentRef
from grader.engine.rpc.operations import EXIT, OPERATIONS, special_methods
from grader.engine.torch_if_used import nn

MAIN = "__main__"
LENT = (NonCallableMock, SimpleNamespace, Iterator)
"""Classes whose objects are lent as those of the author's own classes are."""
GET, SET, DELETE, VARS = "get", "set", "delete", "vars"
_ATTRIBUTES: dict[str, Callable[..., Any]] = {GET: getattr, SET: setattr, DELETE: delattr}
Ask = Callable[[int, str, tuple, dict], Any]
"""Asks the runner for an operation on a lent object, '' for a call, with its arguments."""


def is_lent(item: Any) -> bool:
    """Return whether an object of the test is lent as an object, and not just as a function.

    Args:
        item: the object.
    """
    return (type(item).__module__ == MAIN and not isinstance(item, type | nn.Module)) or isinstance(item, LENT)


def lend(item: Any, number: int) -> LentRef:
    """Return the description of a lent object.

    Args:
        item: the object.
        number: its number in the session.
    """
    cls = type(item)
    if not is_lent(item):
        text = getattr(item, "__doc__", None)
        return LentRef(
            number=number,
            name=str(getattr(item, "__name__", "")),
            text=text if isinstance(text, str) else None,
            signature=_signature(item),
            is_module=isinstance(item, nn.Module),
            has_parameters=isinstance(item, nn.Module) and next(item.parameters(), None) is not None,
        )
    names = [base.__name__ for base in cls.__mro__ if base is not object]
    member = item.name if isinstance(item, Enum) else ""
    return LentRef(number=number, name=cls.__name__, classes=names, methods=special_methods(cls), member=member)


def _signature(function: Any) -> bytes:
    try:
        return pickle.dumps(inspect.signature(function))
    except Exception:  # there is none, or a default or an annotation stays in this process
        return b""


def operate(item: Any, verb: str, args: tuple, kwargs: dict) -> Any:
    """Return the value of an operation that student code asks for.

    Args:
        item: the lent object.
        verb: the operation; '' for a call.
        args: its arguments.
        kwargs: its keyword arguments.

    Raises:
        ProtocolError: student code may not ask for it.
        Exception: that of the object's own method.
    """
    if verb == "":
        return item(*args, **kwargs)
    if not is_lent(item) or kwargs:
        raise ProtocolError("a function that a test hands over can be called; student code asked for something else")
    if verb == VARS and not args:
        return {name: part for name, part in vars(item).items() if not name.startswith("__")}
    if verb in _ATTRIBUTES and args and type(args[0]) is str and not args[0].startswith("__"):
        return _ATTRIBUTES[verb](item, *args)
    if verb in OPERATIONS and verb in special_methods(type(item)):
        return OPERATIONS[verb](item, *args)
    raise ProtocolError("student code may not ask for this of an object of the test")


def borrowed(ref: LentRef, ask: Ask, namespace: dict[str, Any]) -> Any:
    """Return what stands for a lent object in the sandbox.

    Args:
        ref: the description.
        ask: asks the runner.
        namespace: the student's names. A class of the same name is taken for that of the object, because read-only
            cells run in both processes.
    """
    own = [namespace.get(name) for name in ref.classes]
    cls = next((each for each in own if isinstance(each, type) and each.__module__ == MAIN), None)
    if ref.member and cls is not None and issubclass(cls, Enum) and ref.member in cls.__members__:
        return cls[ref.member]
    if ref.classes:
        return _borrowed_class(ref, ask, cls)()

    def function(*args: Any, **kwargs: Any) -> Any:
        return ask(ref.number, "", args, kwargs)

    if ref.is_module:
        return _borrowed_module(function, ref)
    function.__name__ = function.__qualname__ = ref.name or "function"
    function.__doc__ = ref.text
    if ref.signature:
        setattr(function, "__signature__", pickle.loads(ref.signature))  # noqa: B010  # only the runner sends one
    return function


def _borrowed_module(forward: Callable[..., Any], ref: LentRef) -> nn.Module:
    module: Any = nn.Module()
    module.forward = forward
    if ref.has_parameters:
        module.parameters = module.named_parameters = module.state_dict = _stay
    return module


def _stay(*_: Any, **__: Any) -> NoReturn:
    raise ProtocolError("this module of the test binds names of the test, so its parameters do not reach student code")


def _borrowed_class(ref: LentRef, ask: Ask, cls: type | None) -> type:
    def get(self: Any, name: str) -> Any:
        if not name.startswith("__"):
            return ask(ref.number, GET, (name,), {})
        if cls is None:
            raise AttributeError(f"'{ref.name}' object has no attribute '{name}'")
        return getattr(cls, name)

    def operation(verb: str) -> Callable[..., Any]:
        if verb == EXIT:
            return lambda self, kind, error, trace: ask(
                ref.number, verb, (kind.__name__ if kind else "", str(error) if kind else ""), {}
            )
        return lambda self, *args: ask(ref.number, verb, args, {})

    content: dict[str, Any] = {verb: operation(verb) for verb in ref.methods}
    if "__call__" in content:
        content["__call__"] = lambda self, *args, **kwargs: ask(ref.number, "", args, kwargs)
    content |= {
        "__module__": MAIN,
        "__getattr__": get,
        "__setattr__": lambda self, name, value: ask(ref.number, SET, (name, value), {}),
        "__delattr__": lambda self, name: ask(ref.number, DELETE, (name,), {}),
        "__dict__": property(lambda self: ask(ref.number, VARS, (), {})),
    }
    content["__slots__"] = ()
    if "__eq__" in content and "__hash__" not in content:
        content["__hash__"] = None
    if cls is not None:
        content["__class__"] = property(lambda self: cls)
    return type(ref.name, (), content)
