"""Stands in for the student's classes: a real class in this process, under the same name.

    ClassDescription --local_class--> RemoteClass with the special methods that the student's class claims

So `type(x) is Student`, `isinstance`, `except TheirError`, `callable`, missing operators and their errors are Python's
own. Each special method asks the sandbox for the operation. No stand-in is a number, a string, a list or a tensor: the
layout of these classes forbids it.
"""

import sys
from abc import ABCMeta
from collections import deque
from datetime import date, time, timedelta
from functools import cache, lru_cache
from numbers import Number
from typing import Any, cast

import numpy

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import ClassDescription, Classes, Handle, ObjectRef
from grader.engine.rpc.operations import CALL, EXIT, JUDGED, SPECIAL
from grader.engine.rpc.values import library_values
from grader.engine.runner.standins.errors import StudentError
from grader.engine.runner.standins.functions import next_item
from grader.engine.runner.standins.proxies import (
    FIELDS,
    Caller,
    Measure,
    Operation,
    RemoteObject,
    Verb,
    handle_of,
    remote_attribute,
    shown_name,
)
from grader.engine.runner.standins.remote_module import RemoteModule
from grader.engine.torch_if_used import nn, torch

DATA = (
    *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset),
    *(torch.Tensor, numpy.ndarray),
)
"""Values that cross as copies. No object of the student's passes as one."""
NOT_CLAIMED = (*DATA, Number, date, time, timedelta, deque, numpy.generic, BaseException, type)
"""Classes for whose objects `isinstance` takes no stand-in."""
ABSTRACT = ("abc", "collections.abc", "contextlib", "threading", "torch.optim", "torch.utils.data", "typing")
"""Packages whose classes a stand-in may have among its bases. Of any other, it could take over a comparison."""
RAISING = ("csv", "decimal", "json", "numpy", "pandas", "queue", "scipy", "sklearn", "statistics", "torch")
"""Packages whose exceptions a student's exception may be. A class of a test framework would end the test."""
HARMLESS = frozenset(f"__{name}__" for name in ("module", "doc", "dict", "weakref", "slots", "abstractmethods"))


class ClassRef:
    """The class in the sandbox that a RemoteClass stands for; `library` is the class of a library that it is."""

    def __init__(self, client: Caller | None, object_id: int, methods: frozenset[str], library: type | None) -> None:
        self.client, self.object_id, self.methods, self.library = client, object_id, methods, library
        self.named = ""
        """The name by which a test has fetched the class."""


class RemoteClass(type):
    """A class of the student's, as a test sees it."""

    _remote_class: ClassRef

    def __new__(mcs, name: str, *parts: Any, **more: Any) -> "RemoteClass":
        raise TypeError(
            f"a test cannot derive the class {name} from a student's class, which exists in another process; tag the "
            "cell `together`"
        )

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        own = cls._remote_class
        if own.client is None:
            assert own.library is not None
            return own.library(*args, **kwargs)
        return own.client.call(cls, args, kwargs)

    def __handle__(cls) -> Handle | None:
        own = cls._remote_class
        return None if own.client is None else ObjectRef(object_id=own.object_id)

    def __measured__(cls, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        client = cls._remote_class.client
        assert client is not None
        return client.call_measured(measure, cls, args, kwargs)

    def __getattribute__(cls, name: str) -> Any:
        local = type.__getattribute__
        if name in ("__mro__", "__bases__"):
            shown = [base for base in local(cls, name) if base is not RemoteObject and base is not StudentError]
            return tuple(shown) or (object,)
        own: ClassRef = local(cls, "__dict__")["_remote_class"]  # also while Python makes the class
        if name == "_remote_class":
            return own
        if name.startswith("__") and not (
            name in own.methods
            or name in ("__doc__", "__init__", "__annotations__", "__members__", "__signature__", FIELDS)
        ):
            return local(cls, name)
        if name == "mro":
            return lambda: list(cls.__mro__)
        if own.client is None:
            return getattr(own.library, name)
        if name in own.methods:
            return own.client.call(Verb.GET, (cls, name), {})
        if name != "forward" and name in vars(nn.Module) and issubclass(cls, nn.Module):
            return local(cls, name)  # torch itself looks for these
        return remote_attribute(own.client, cls, name, cls)

    def __setattr__(cls, name: str, value: Any) -> None:
        client = cls._remote_class.client
        if name.startswith("__") or client is None:
            super().__setattr__(name, value)
        else:
            client.call(Verb.SET, (cls, name, value), {})

    def __delattr__(cls, name: str) -> None:
        client = cls._remote_class.client
        if client is not None:
            client.call(Verb.DELETE, (cls, name), {})

    def __dir__(cls) -> list[str]:
        own = cls._remote_class
        return dir(own.library) if own.client is None else own.client.call(Verb.DIR, (cls,), {})

    def __eq__(cls, other: Any) -> bool:
        library = cls._remote_class.library
        return cls is other or (library is not None and (other is library or _library(other) is library))

    def __hash__(cls) -> int:
        library = cls._remote_class.library
        return super().__hash__() if library is None else hash(library)

    def __instancecheck__(cls, item: Any) -> bool:
        if super().__instancecheck__(item):
            return True
        client = cls._remote_class.client
        return client is not None and handle_of(item) is not None and client.call(Verb.ISINSTANCE, (item, cls), {})

    def __subclasscheck__(cls, sub: Any) -> bool:
        if super().__subclasscheck__(sub):
            return True
        client = cls._remote_class.client
        # Not in an earlier session: an abstract class of a library remembers the stand-ins of its classes.
        if client is None or not isinstance(sub, RemoteClass) or sub._remote_class.client is not client:
            return False
        return client.call(Verb.ISSUBCLASS, (sub, cls), {})

    # A class may be a container, as an Enum is.

    def __iter__(cls) -> Any:
        return _ask(cls, Verb.ITER)

    def __len__(cls) -> int:
        return _ask(cls, Verb.LEN)

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return _ask(cls, Operation("__getitem__"), key)

    def __contains__(cls, item: Any) -> bool:
        return _ask(cls, Operation("__contains__"), item)

    def __repr__(cls) -> str:
        return f"<class '__main__.{cls.__name__}'>"


def _ask(cls: RemoteClass, operation: Any, *args: Any) -> Any:
    own = cls._remote_class
    if own.client is None:
        raise TypeError(f"'type' object {cls.__name__} has no items")
    return own.client.call(operation, (cls, *args), {})


def _library(cls: Any) -> type | None:
    return cls._remote_class.library if isinstance(cls, RemoteClass) else None


@lru_cache(maxsize=256)
def layer_class(layer: type[nn.Module]) -> type[RemoteModule]:
    """Return the class of stand-ins for a layer of torch, which equals the layer's own class."""
    return _new_class(layer.__name__, (RemoteModule,), ClassRef(None, 0, frozenset(), layer), {})


def local_class(client: Caller, described: Classes, known: dict[int, RemoteClass]) -> Any:
    """Return the stand-in of a class.

    Args:
        client: makes its calls.
        described: the class and its bases, as the sandbox describes them.
        known: the stand-ins of the session by id; new ones are added.

    Raises:
        ProtocolError: the description contradicts itself.
    """
    for each in described:
        if each.object_id not in known:
            layer = library_class(each.library) if each is not described[-1] else None
            is_layer = layer is not None and issubclass(layer, nn.Module)
            # As a base, a layer of torch needs no class of the session, which takes longer to make than a call.
            known[each.object_id] = cast(Any, layer_class(layer)) if is_layer else _local_class(client, each, known)
    return known[described[-1].object_id]


def _local_class(client: Caller, described: ClassDescription, known: dict[int, RemoteClass]) -> Any:
    if not known.keys() >= set(described.bases):
        raise ProtocolError("a class must be described after its bases")
    author = None if described.library else client.read_only_classes.get(described.name)
    library = author or library_class(described.library)
    bases = [known[base] for base in described.bases]
    methods = SPECIAL.intersection(described.methods)
    own = ClassRef(client, described.object_id, methods, library)
    name = shown_name(described.name)
    if author is not None:
        own.named = described.name
    try:
        if library is not None and issubclass(library, nn.Module):
            made = _new_class(name, (RemoteModule,), own, {})
        elif library is not None and issubclass(library, Exception):
            made = _new_class(name, (StudentError, *_raised_as(library)), own, {})
        elif any(issubclass(base, RemoteModule) for base in bases):
            made = _new_class(name, _of(RemoteModule, bases), own, {})
        elif any(issubclass(base, StudentError) for base in bases):
            made = _new_class(name, _of(StudentError, bases), own, {})
        else:
            inherited = _of(RemoteObject, bases) or (RemoteObject,)
            inherited += _inheritable(library, author)
            content = _methods(methods, inherited)
            if library is not None and _may_pass_as(library):
                # As the class of a stand-in's object says, and not as a base: no operator prefers a stand-in.
                content["__class__"] = property(lambda self: library if type(self) is made else type(self))
            made = _new_class(name, inherited, own, content)
            if library is not None and _is_abstract(library) and type(library) is ABCMeta:
                ABCMeta.register(library, made)
    except TypeError as error:
        raise ProtocolError("no class can have these bases") from error
    return made


def _new_class(name: str, bases: tuple[type, ...], own: ClassRef, methods: dict[str, Any]) -> Any:
    content = {"__module__": "__main__", "__slots__": (), "_remote_class": own, **methods}
    if issubclass(bases[0], RemoteModule | StudentError):
        del content["__slots__"]
    else:
        content |= {name: _attribute(name) for name in ("__doc__", "__init__")}
    return type.__new__(RemoteClass, name, bases, content)


def _attribute(name: str) -> property:
    return property(lambda self: remote_attribute(self._client, self, name, type(self)))


def _of(kind: type, bases: list[Any]) -> tuple[type, ...]:
    return tuple(base for base in bases if issubclass(base, kind))


def library_class(name: str) -> type | None:
    """Return the class of an imported library by "module:name"; None if there is none, or it is the grader's.

    Args:
        name: what the sandbox claims.
    """
    module, _, path = name.partition(":")
    if module.partition(".")[0] in ("grader", "grader_kernel", "__main__") or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, type | type(sys)) else None
    return found if isinstance(found, type) and not isinstance(found, RemoteClass) else None


def _raised_as(error: type[Exception]) -> tuple[type, ...]:
    """Return the bases of a stand-in of this exception class besides StudentError."""
    top = error.__module__.partition(".")[0]
    for kind in error.__mro__:
        if kind.__module__ in ("builtins", "__main__") or top in RAISING:
            return () if kind is Exception or kind is StopIteration else (kind,)
    return ()


def _may_pass_as(library: type) -> bool:
    """Return whether `isinstance` is to say that a stand-in is an object of this class of a library, as it claims."""
    return not issubclass(library, NOT_CLAIMED) and not library_values.name_of(library)


def _is_abstract(library: type) -> bool:
    names = [name for name in ABSTRACT if library.__module__ == name or library.__module__.startswith(f"{name}.")]
    return bool(names) and not issubclass(library, (*DATA, BaseException))


def _inheritable(library: type | None, author: type | None) -> tuple[type, ...]:
    """Return the class itself, of a library or of a read-only cell, if a stand-in can have it as a base."""
    if library is None or type(library) is not type or issubclass(library, DATA):
        return ()
    return (library,) if author is not None or _is_abstract(library) else ()


def _methods(methods: frozenset[str], bases: tuple[type, ...]) -> dict[str, Any]:
    """Return the special methods of a stand-in, and nothing that it would inherit from a class of a library."""
    content = {name: _method(name) for name in methods}
    inherited = [base for each in bases for base in type.__getattribute__(each, "__mro__")]
    foreign = [base for base in inherited if base is not object and not _is_ours(base)]
    if foreign:
        names = {name for base in foreign for name in vars(base) if name.startswith("__")}
        content |= dict.fromkeys(names - methods - HARMLESS - vars(object).keys() - vars(RemoteObject).keys(), None)
        content["__getattribute__"] = _remote_first
    return content


def _is_ours(base: type) -> bool:
    return isinstance(base, RemoteClass) or base is RemoteObject


def _remote_first(self: RemoteObject, name: str) -> Any:
    """Return an attribute of an object, and not that of a library's class that its stand-in inherits from."""
    if name.startswith("__") or name in RemoteObject.__slots__:
        return object.__getattribute__(self, name)
    return remote_attribute(self._client, self, name, type(self))


@cache
def _method(name: str) -> Any:
    """Return the special method of a stand-in: it asks the sandbox for the operation."""
    operation = Operation(name)

    def method(self: RemoteObject, *args: Any) -> Any:
        return self._client.call(operation, (self, *args), {})

    def judged(self: RemoteObject, other: Any) -> Any:
        try:
            return _judged(self, name, other, operation)
        except TypeError as error:
            if isinstance(error, StudentError | _Refused):
                raise
            return NotImplemented  # an object of the test's own, which does not cross

    def call(self: RemoteObject, *args: Any, **kwargs: Any) -> Any:
        return self._client.call(self, args, kwargs)

    def leave(self: RemoteObject, kind: type | None, error: BaseException | None, trace: Any) -> Any:
        nearest = next((base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"), "") if kind else ""
        return self._client.call(operation, (self, nearest, str(error) if kind else ""), {})

    def contains(self: RemoteObject, item: Any) -> bool:
        if handle_of(item) is None and not _may_judge(self, name):
            return any(item is part or item == part for part in self)  # type: ignore[attr-defined]
        return self._client.call(operation, (self, item), {})

    special = {CALL: call, EXIT: leave, "__contains__": contains}
    special["__next__"] = lambda self: next_item(self._client, self)
    made = special.get(name, judged if name in JUDGED else method)
    made.__name__ = made.__qualname__ = name
    return made


class _Refused(TypeError):
    """An object of the student's would judge itself."""


def _judged(self: RemoteObject, name: str, other: Any, operation: Operation) -> Any:
    """Make an operation with another operand, which student code sees.

    If that is a value of the test, the answer could be whatever the test expects. So it counts only where the author's
    own class has the operation, too; elsewhere a test expects a value.
    """
    is_trusted = handle_of(other) is not None or _may_judge(self, name)
    if not is_trusted and name not in ("__eq__", "__ne__"):
        raise _Refused("your code returned an object of its own where the test needs a value")
    result = self._client.call(operation, (self, other), {})
    if is_trusted or result is (name == "__ne__"):
        return result
    raise _Refused("your code returned an object of its own where the test needs a value")


def _may_judge(self: RemoteObject, name: str) -> bool:
    """Return whether a test names the class of an object, and the author's class of this name has the operation."""
    ours = self._client.our_classes
    for base in type(self).__mro__:
        if isinstance(base, RemoteClass) and _GROUPS[name] & ours.get(base._remote_class.named, frozenset()):
            return True
    return False


ORDER = frozenset(("__lt__", "__le__", "__gt__", "__ge__"))
_GROUPS = {name: frozenset((name,)) for name in (*JUDGED, "__contains__")}
_GROUPS |= dict.fromkeys(ORDER, ORDER) | {"__ne__": frozenset(("__eq__", "__ne__"))}
for _name in [name for name in JUDGED if f"__r{name.strip('_')}__" in JUDGED]:
    _plain = _name.strip("_")
    _group = frozenset((_name, f"__r{_plain}__", f"__i{_plain}__"))
    _GROUPS |= dict.fromkeys(_group & JUDGED.keys(), _group)
"""Operations that count as one: the author's class may have one of them, and the student's another."""
