"""Stands in for the student's objects, as a test cell sees them.

A class, function or other object is a RemoteObject. An nn.Module is a RemoteModule: a real local module with the same
parameters and buffers under the same names, whose forward runs in the sandbox and takes part in autograd here. An
exception is a StudentError.
"""

from collections.abc import Callable, Iterator, MutableMapping
from enum import Enum
from typing import Any, Protocol

from grader.engine.rpc.exceptions import known_class
from grader.engine.rpc.protocol import ErrorInfo, Handle, MethodRef, ModuleChanges, ObjectRef, ProtocolError, VerbRef
from grader.engine.rpc.values import Place
from grader.engine.torch_if_used import nn, torch

MAX_NAME = 40
"""Characters of the name of a student's object."""
LAYERS = frozenset(
    ("norm", "expand", "squeeze", "flatten", "unflatten", "unfold", "split")
    + ("relu", "prelu", "sigmoid", "tanh", "softmax", "log_softmax")
)
"""Methods of a tensor that are also common names of layers."""

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


class Caller(Protocol):
    """Makes calls in the sandbox and knows the student's parameters by their ids, as `client.RpcClient` does."""

    @property
    def parameters(self) -> MutableMapping[int, nn.Parameter]: ...

    def call(self, target: Any, args: tuple, kwargs: dict) -> Any: ...

    def call_measured(self, measure: Measure, target: Any, args: tuple, kwargs: dict) -> tuple[Any, int]: ...


class ModuleState(Protocol):
    """The state of a RemoteModule as the sandbox knows it; `module_state.RemoteModuleState` is one."""

    def changes(self, place: Place) -> tuple[ModuleChanges, list[torch.Tensor]]: ...

    def tensors(self, paths: list[str]) -> list[torch.Tensor]: ...

    def take(self, client: Caller, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None: ...


class StudentError(Exception):
    """Student code raised while a test called it; `info` describes the exception."""

    info: ErrorInfo


def local_error(info: ErrorInfo) -> StudentError:
    """Return an exception that a test can catch as a StudentError or by its built-in class."""
    kind = known_class(info.kind)
    if kind is StopIteration:
        # It would end a loop of the test over calls (map, zip). RemoteObject.__next__ checks `info`.
        kind = RuntimeError
    kinds = (kind,) if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception else ()
    # Some built-in classes need more than a message, and KeyError shows its message in quotes.
    methods = {"__init__": lambda self: None, "__str__": lambda self: info.message}
    error: StudentError
    try:
        error = type("StudentError", (StudentError, *kinds), methods)()
    except TypeError:
        error = StudentError(info.message)
    error.info = info
    return error


class RemoteObject:
    """A class, function or other object of the student's.

    Args:
        client: makes its calls.
        object_id: its id in the session.
        name: its name. A test may show it to the student, so only an identifier is kept.
    """

    _client: Caller
    _object_id: int
    __name__: str

    def __init__(self, client: Caller, object_id: int, name: str) -> None:
        name = name[:MAX_NAME] if name[:MAX_NAME].isidentifier() else "object"
        self.__dict__.update(_client=client, _object_id=object_id, __name__=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._client.call(self, args, kwargs)

    def __measured__(self, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        return self._client.call_measured(measure, self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _checked_attribute(self._client.call(Verb.GET, (self, name), {}), name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._client.call(Verb.SET, (self, name, value), {})

    def __deepcopy__(self, memo: dict) -> Any:
        return self._client.call(Verb.COPY, (self,), {})

    def __getitem__(self, key: Any) -> Any:
        return self._client.call(Method(self, "__getitem__"), (key,), {})

    def __len__(self) -> int:
        return self._client.call(Verb.LEN, (self,), {})

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        iterator = self._client.call(Verb.ITER, (self,), {})
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item

    def __next__(self) -> Any:
        try:
            return self._client.call(Verb.NEXT, (self,), {})
        except StudentError as error:
            if error.info.kind == StopIteration.__name__:
                raise StopIteration from None
            raise

    def __instancecheck__(self, item: Any) -> bool:
        return isinstance(item, RemoteObject | RemoteModule) and self._client.call(Verb.ISINSTANCE, (item, self), {})

    def __repr__(self) -> str:
        return f"<{self.__name__} of the submission>"


class Method:
    """A method of a remote object, named but not fetched."""

    def __init__(self, owner: "RemoteObject | RemoteModule", name: str) -> None:
        self.owner, self.name = owner, name


def handle_of(item: Any) -> Handle | None:
    """Return the handle by which the sandbox finds the object of a proxy, Method or Verb; None for anything else."""
    if isinstance(item, RemoteModule | RemoteObject):
        return _object_ref(item)
    if isinstance(item, Method):
        return MethodRef(owner=_object_ref(item.owner), method=item.name)
    return VerbRef(verb=item.value) if isinstance(item, Verb) else None


def _object_ref(item: "RemoteObject | RemoteModule") -> ObjectRef:
    # type(), because a RemoteModule shows tests another class.
    if type(item) is RemoteObject:
        return ObjectRef(object_id=item._object_id)
    return ObjectRef(object_id=item._remote.object_id, part=item._remote.path)


def checked_field(value: Any, name: str) -> Any:
    """Return the value of a field of a named tuple; raise ProtocolError if it poses as a method of a tensor."""
    if _poses_as_method(value, name):
        raise ProtocolError(f"the field {name} of a named tuple must not hold an object: a tensor has a method {name}")
    return value


def _poses_as_method(value: Any, name: str) -> bool:
    """Return whether a student's object has the name of a tensor's method.

    A test that calls `att.sum(-1)` expects a tensor. Any other object could return anything.
    """
    is_remote = type(value) is RemoteObject or (type(value) is RemoteModule and name not in LAYERS)
    return is_remote and hasattr(torch.Tensor, name)


def _checked_attribute(value: Any, name: str) -> Any:
    if _poses_as_method(value, name):
        raise TypeError(f"your code returned an object of its own where the test needs a tensor with a method .{name}")
    return value


class RemoteModule(nn.Module):
    """A module of the student's. Its only own attribute is `_remote`, so that it hides none of the student's."""

    def __init__(self, remote: "ModuleRef") -> None:
        super().__init__()
        self.__dict__["_remote"] = remote

    @property  # type: ignore[misc]  # nothing assigns __class__, so it needs no setter
    def __class__(self) -> type:
        # A test may look for the nn.Linear in a model. Only type() sees a RemoteModule.
        return self._remote.base

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the student's module for these arguments."""
        return self._remote.client.call(self, args, kwargs)

    def __measured__(self, measure: Measure, args: tuple, kwargs: dict) -> tuple[Any, int]:
        return self._remote.client.call_measured(measure, self, args, kwargs)

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
            return _checked_attribute(super().__getattr__(name), name)
        except AttributeError:
            # Private names are torch's own; a test uses only names that an exercise gives.
            if name.startswith("_"):
                raise
        return _checked_attribute(self._remote.client.call(Verb.GET, (self, name), {}), name)

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
        self.base: type[nn.Module] = layer if is_layer else RemoteModule
