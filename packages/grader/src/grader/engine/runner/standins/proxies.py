"""Stands in for the student's objects, as a test cell sees them.

A function or other object is a RemoteObject, and its class a RemoteClass (classes.py). An nn.Module is a RemoteModule:
a real local module with the same parameters and buffers under the same names, whose forward runs in the sandbox and
takes part in autograd here. An exception is a StudentError.
"""

import dataclasses
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from enum import Enum
from types import CodeType
from typing import Any, Protocol

from grader.engine.rpc.protocol import (
    Classes,
    Handle,
    MethodRef,
    ModuleChanges,
    ObjectRef,
    ProtocolError,
    VerbRef,
)
from grader.engine.rpc.values.trees import Place
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


class ModuleState(Protocol):
    """The state of a RemoteModule as the sandbox knows it; `module_state.RemoteModuleState` is one."""

    def changes(self, place: Place) -> tuple[ModuleChanges, list[torch.Tensor]]: ...

    def tensors(self, paths: list[str]) -> list[torch.Tensor]: ...

    def take(self, client: Caller, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None: ...


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

    def __init__(self, owner: "RemoteObject | RemoteModule", name: str) -> None:
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
    return not issubclass(type(value), RemoteModule) or name not in LAYERS


def checked_attribute(value: Any, name: str) -> Any:
    if _poses_as_method(value, name):
        raise TypeError(f"your code returned an object of its own where the test needs a tensor with a method .{name}")
    return value


class RemoteModule(nn.Module):
    """A module of the student's. Its only own attribute is `_remote`, so that it hides none of the student's."""

    def __init__(self, remote: "ModuleRef") -> None:
        nn.Module.__init__(self)
        self.__dict__["_remote"] = remote

    @property  # type: ignore[misc]  # nothing assigns __class__, so it needs no setter
    def __class__(self) -> type:
        # A test may look for the nn.Linear in a model. Only type() sees a RemoteModule.
        return self._remote.base or type(self)

    def __handle__(self) -> Handle:
        return ObjectRef(object_id=self._remote.object_id, part=self._remote.path)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the student's module for these arguments."""
        return self._remote.client.call(self, args, kwargs)

    def __measured__(self, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        return self._remote.client.call_measured(measure, self, args, kwargs)

    def register_forward_hook(self, hook: Callable, **more: Any) -> Any:
        """Register a hook that runs here, wherever the module is called; return a handle with `remove`."""
        return self._hooked("register_forward_hook", hook, more)

    def register_forward_pre_hook(self, hook: Callable, **more: Any) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_forward_pre_hook", hook, more)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_full_backward_hook", hook, {"prepend": prepend})

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Register a hook as `register_forward_hook` does."""
        return self._hooked("register_full_backward_pre_hook", hook, {"prepend": prepend})

    def _hooked(self, name: str, hook: Callable, more: dict) -> Any:
        # In the sandbox, because there the module's own forward calls its parts.
        return self._remote.client.call(Verb.HOOK, (self, name, lambda *args: hook(self, *args), more), {})

    def train(self, mode: bool = True) -> "RemoteModule":
        """Switch the mode as nn.Module does, or as the student's own class does."""
        return self._switched("train", mode)

    def eval(self) -> "RemoteModule":
        """Switch the mode as nn.Module does, or as the student's own class does."""
        return self._switched("eval")

    def _switched(self, name: str, *mode: bool) -> "RemoteModule":
        if name not in self._remote.own_modes:
            return getattr(super(), name)(*mode)
        self._remote.client.call(Method(self, name), mode, {})
        return self

    def __getattr__(self, name: str) -> Any:
        try:
            return checked_attribute(super().__getattr__(name), name)
        except AttributeError:
            # Private names are torch's own; a test uses only names that an exercise gives.
            if name.startswith("_"):
                raise
        return checked_attribute(self._remote.client.call(Verb.GET, (self, name), {}), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_remote" not in self.__dict__ or name in self.__dict__ or name in self._buffers or name in self._parameters:
            super().__setattr__(name, value)
        elif isinstance(value, nn.Module):
            if self._modules.get(name) is not value:
                raise TypeError(f"a test cannot set '{name}' of a student's module to a module of its own")
        else:
            self._remote.client.call(Verb.SET, (self, name, value), {})

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and key < 0:
            key += len(self)
        own = self._modules | self._parameters
        if str(key) in own:
            return own[str(key)]
        return self._remote.client.call(Method(self, "__getitem__"), (key,), {})

    def __len__(self) -> int:
        return self._remote.client.call(Verb.LEN, (self,), {})

    def __bool__(self) -> bool:
        return not isinstance(self, nn.Sequential | nn.ModuleList | nn.ModuleDict) or bool(self._modules)

    def __contains__(self, key: Any) -> bool:
        return self._remote.client.call(Method(self, "__contains__"), (key,), {})

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self, nn.Sequential | nn.ModuleList):
            return iter(self._modules.values())
        return iter(self._remote.client.call(Verb.ITER, (self,), {}))

    def __deepcopy__(self, memo: dict) -> "RemoteModule":
        return self._remote.client.call(Verb.COPY, (self,), {})

    def extra_repr(self) -> str:
        """Return what the student's module, or a layer of torch, adds to its name in `repr`."""
        return str(self._remote.client.call(Method(self, "extra_repr"), (), {}))

    def _get_name(self) -> str:
        return self._remote.class_name


class ModuleRef:
    """The module in the sandbox that a RemoteModule stands for.

    Args:
        client: makes its calls.
        object_id: the id of the whole module.
        path: the path of this part in the whole module, '' for the whole.
        state: the state of the whole module.
        own_id: the id of this part.
        class_name: the name of its class.
        base: the name of the nearest class of torch.nn that it is an instance of.
    """

    def __init__(
        self,
        client: Caller,
        object_id: int,
        path: str,
        state: ModuleState,
        own_id: int,
        class_name: str,
        base: str,
    ) -> None:
        self.client, self.object_id, self.path, self.state = client, object_id, path, state
        self.own_id = own_id
        self.own_modes: frozenset[str] = frozenset()
        """Those of the methods `train` and `eval` that the student's class defines."""
        self.set_class(class_name, base)

    def set_class(self, class_name: str, base: str) -> None:
        """Set the name of its class, and that of its nearest class of torch.nn."""
        self.class_name = class_name
        layer = getattr(nn, base, nn.Module)
        is_layer = isinstance(layer, type) and layer is not nn.Module and issubclass(layer, nn.Module)
        self.base: type[nn.Module] | None = layer if is_layer else None
