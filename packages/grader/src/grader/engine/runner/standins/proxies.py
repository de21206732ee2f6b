"""Stands in for the student's objects, as a test cell sees them.

A function or other object is a RemoteObject, and its class a RemoteClass (classes.py). An nn.Module is a RemoteModule
(remote_module.py), and an exception a StudentError (errors.py).
"""

import dataclasses
import inspect
import linecache
from collections.abc import Callable, Mapping, MutableMapping
from enum import Enum
from types import CodeType
from typing import Any, Protocol

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import Classes, Handle, MethodRef, ObjectRef, VerbRef
from grader.engine.torch_if_used import nn, torch

MAX_NAME = 40
"""Characters of the name of a student's object."""
LAYERS = frozenset(
    ("norm", "expand", "squeeze", "flatten", "unflatten", "unfold", "split")
    + ("relu", "prelu", "sigmoid", "tanh", "softmax", "log_softmax")
)
"""Methods of a tensor that are also common names of layers."""

CLAIMS = frozenset(
    f"__{name}__"
    for name in (
        *("dict", "doc", "name", "qualname", "module", "defaults", "kwdefaults", "annotations", "wrapped", "self"),
        *("func", "closure", "code", "slots", "members", "match_args", "init", "post_init", "cause", "notes"),
    )
)
"""Attributes with double underscores that a test may ask for. Libraries look for others, such as `__array__`, and would
take over what they find."""

FIELDS = "__dataclass_fields__"

Measure = Callable[..., tuple[Any, int]]
"""A function of a helper package that makes a call and returns its value and a measured number."""


class Verb(Enum):
    """Operations on an object in the sandbox besides a call."""

    LOOK = "look"
    NAMES = "names"
    BIND = "bind"
    UNBIND = "unbind"
    RESTORE = "restore"
    GET = "get"
    SET = "set"
    COPY = "copy"
    LEN = "len"
    ITER = "iter"
    NEXT = "next"
    ISINSTANCE = "isinstance"
    ISSUBCLASS = "issubclass"
    DELETE = "delete"
    DIR = "__dir__"
    SHALLOW_COPY = "__copy__"
    SIGNATURE = "signature"
    CODE = "code"
    HOOK = "hook"

    def __handle__(self) -> Handle:
        return VerbRef(verb=self.value)


class Caller(Protocol):
    """Makes calls in the sandbox and knows the student's parameters by their ids, as `client.RpcClient` does."""

    @property
    def parameters(self) -> MutableMapping[int, nn.Parameter]: ...

    @property
    def our_classes(self) -> Mapping[str, frozenset[str]]: ...

    @property
    def read_only_classes(self) -> Mapping[str, type]: ...

    def class_of(self, described: Classes) -> Any: ...

    def call(self, target: Any, args: tuple, kwargs: dict) -> Any: ...

    def call_measured(self, measure: Measure, target: Any, args: tuple, kwargs: dict) -> tuple[Any, int]: ...


class RemoteObject:
    """An object of the student's.

    Args:
        client: makes its calls.
        object_id: its id in the session.
    """

    __slots__ = ("__weakref__", "_client", "_object_id")

    _client: Caller
    _object_id: int

    def __init__(self, client: Caller, object_id: int) -> None:
        object.__setattr__(self, "_client", client)
        object.__setattr__(self, "_object_id", object_id)

    def __handle__(self) -> Handle:
        return ObjectRef(object_id=self._object_id)

    def __measured__(self, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        return self._client.call_measured(measure, self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return remote_attribute(self._client, self, name, type(self))

    def __setattr__(self, name: str, value: Any) -> None:
        self._client.call(Verb.SET, (self, name, value), {})

    def __delattr__(self, name: str) -> None:
        self._client.call(Verb.DELETE, (self, name), {})

    def __dir__(self) -> list[str]:
        return self._client.call(Verb.DIR, (self,), {})

    def __copy__(self) -> Any:
        return self._client.call(Verb.SHALLOW_COPY, (self,), {})

    def __deepcopy__(self, memo: dict) -> Any:
        return self._client.call(Verb.COPY, (self,), {})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of the submission>"

    def __init_subclass__(cls) -> None:
        pass  # before that of a library's class


# Before those of a library's class, too, which a stand-in may have among its bases.
for _name, _method in vars(object).items():
    if _name not in {"__class__", "__getattribute__", "__new__", *vars(RemoteObject)}:
        setattr(RemoteObject, _name, _method)
RemoteObject.__annotations__ = property(lambda self: self.__getattr__("__annotations__"))  # type: ignore[assignment]


def remote_attribute(client: Caller, owner: Any, name: str, cls: type) -> Any:
    """Return an attribute of a student's object or class.

    Args:
        client: makes the call.
        owner: its stand-in.
        name: the name.
        cls: the class of the object, or the class itself.

    Raises:
        AttributeError: a name with double underscores that tests do not ask for, but libraries do.
        TypeError: the attribute poses as a method of a tensor.
    """
    if name.startswith("__"):
        if name == "__signature__":
            return _signature(client, owner)
        if name == "__code__":
            return _code(client, owner)
        if name == FIELDS:
            return {each: _field(each) for each in client.call(Verb.GET, (owner, name), {})}
        if name not in CLAIMS:
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
    value = client.call(Verb.GET, (owner, name), {})
    if _poses_as_method(value, name) and not any(name in ours for ours in _ours(client, cls)):
        checked_attribute(value, name)
    return value


def _ours(client: Caller, cls: type) -> list[frozenset[str]]:
    """Return what the author's own classes with the names of a class and its bases define."""
    if not client.our_classes:
        return []
    names = [base._remote_class.named or base.__name__ for base in cls.__mro__ if hasattr(base, "_remote_class")]
    return [client.our_classes[name] for name in names if name in client.our_classes]


def _field(name: str) -> dataclasses.Field:
    """Return a field of a student's dataclass, of which only the name crosses."""
    made: Any = dataclasses.field()
    made.name, made._field_type = name, dataclasses._FIELD  # type: ignore[attr-defined]
    return made


class Opaque:
    """The default of a parameter, or an annotation, that is an object of the student's: only its text crosses."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(client: Caller, function: Any) -> inspect.Signature:
    """Return the signature that the sandbox describes; raise AttributeError if the object has none."""
    try:
        *rows, last = client.call(Verb.SIGNATURE, (function,), {})
    except (TypeError, ValueError) as error:
        raise AttributeError("__signature__") from error
    empty = inspect.Parameter.empty
    as_annotation = lambda text: empty if text is None else Opaque(text)  # noqa: E731
    try:
        parameters = [
            inspect.Parameter(
                name,
                inspect._ParameterKind(kind),
                default=default if has_default else empty,
                annotation=as_annotation(text),
            )
            for name, kind, has_default, default, text in rows
        ]
        return inspect.Signature(parameters, return_annotation=as_annotation(last[-1]))
    except (TypeError, ValueError):
        raise AttributeError("__signature__") from None


def _code(client: Caller, function: Any) -> CodeType:
    """Return a code object that never runs, with the names and the text that the sandbox claims, for `inspect`."""
    claimed, text = client.call(Verb.CODE, (function,), {})
    file = f"<{shown_name(claimed['co_name'])} of the submission>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        return _code.__code__.replace(**claimed, co_filename=file, co_firstlineno=1)
    except (TypeError, ValueError) as error:
        raise AttributeError("__code__") from error


def shown_name(name: str) -> str:
    """Return a name that a test may show to a student: an identifier carries no list of numbers."""
    name = name[:MAX_NAME]
    return name if name.isidentifier() or name == "<lambda>" else "object"


class Method:
    """A method of a remote object, named but not fetched."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name

    def __handle__(self) -> Handle:
        owner = self.owner.__handle__()
        assert isinstance(owner, ObjectRef)
        return MethodRef(owner=owner, method=self.name)


class Operation:
    """An operation of Python on a remote object, by the special method that makes it possible."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __handle__(self) -> Handle:
        return VerbRef(verb=self._name)


def handle_of(item: Any) -> Handle | None:
    """Return the handle by which the sandbox finds the object of a stand-in, Method, Operation or Verb; else None."""
    # Looked up in the class: a stand-in may show tests another class, and would ask the sandbox for the attribute.
    make = getattr(type(item), "__handle__", None)
    return None if make is None else make(item)


def checked_field(value: Any, name: str) -> Any:
    """Return the value of a field of a named tuple; raise ProtocolError if it poses as a method of a tensor."""
    if _poses_as_method(value, name):
        raise ProtocolError(f"the field {name} of a named tuple must not hold an object: a tensor has a method {name}")
    return value


def _poses_as_method(value: Any, name: str) -> bool:
    """Return whether a student's object has the name of a tensor's method.

    A test that calls `att.sum(-1)` expects a tensor. Any other object could return anything.
    """
    if not hasattr(torch.Tensor, name) or handle_of(value) is None:
        return False
    return not issubclass(type(value), nn.Module) or name not in LAYERS


def checked_attribute(value: Any, name: str) -> Any:
    if _poses_as_method(value, name):
        raise TypeError(f"your code returned an object of its own where the test needs a tensor with a method .{name}")
    return value
