"""Local stand-ins for what the student wrote, as a test cell sees them.

A class, function or other object is a Remote. An nn.Module is a RemoteModule: a real local module with the same
parameters and buffers under the same names, whose forward runs in the candidate and takes part in autograd here.
"""

import weakref
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from course.grading.tensors import WireError
from course.grading.twins import same

if TYPE_CHECKING:
    from course.grading.client import Client

LAYERS = frozenset(
    ("norm", "expand", "squeeze", "flatten", "unflatten", "unfold", "split")
    + ("relu", "prelu", "sigmoid", "tanh", "softmax", "log_softmax")
)
"""Methods of a tensor that people call their layers by, too."""


class Verb(Enum):
    """What can be done with an object there besides calling it."""

    LOOK = "look"
    GET = "get"
    SET = "set"
    COPY = "copy"
    LEN = "len"
    ITER = "iter"
    NEXT = "next"
    ISINSTANCE = "isinstance"


class Remote:
    """A class, function or other object of the student's."""

    def __init__(self, client: "Client", number: int, name: str) -> None:
        self.__dict__.update(_client=client, _number=number, __name__=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._client.call(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _got(self._client.call(Verb.GET, (self, name), {}), name)

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
        except RuntimeError as error:
            if getattr(error, "said", {}).get("kind") == "StopIteration":
                raise StopIteration from None
            raise

    def __instancecheck__(self, item: Any) -> bool:
        return isinstance(item, Remote | RemoteModule) and self._client.call(Verb.ISINSTANCE, (item, self), {})

    def __repr__(self) -> str:
        return f"<{self.__name__} of the submission>"


class Method:
    """A method of something remote, named but not fetched."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name


def _got(found: Any, name: str) -> Any:
    """What an attribute is; but nothing of the student's may stand in for a tensor's method.

    A test that writes `att.sum(-1)` asks a tensor. An object that came back in its place would answer what it likes.
    """
    is_theirs = type(found) is Remote or (type(found) is RemoteModule and name not in LAYERS)
    if is_theirs and hasattr(torch.Tensor, name):
        raise TypeError(f"your code returned an object of its own where a tensor is expected (.{name} was asked of it)")
    return found


class RemoteModule(nn.Module):
    """A module of the student's. All it has of its own is `_remote`, so that no name of the student's is hidden."""

    def __init__(self, remote: "Link") -> None:
        super().__init__()
        self.__dict__["_remote"] = remote

    @property
    def __class__(self) -> type:
        # A test may ask for the nn.Linear in a model; type() still tells what this is.
        return self._remote.base

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote.client.call(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return _got(super().__getattr__(name), name)
        except AttributeError:
            # torch asks modules for private names of its own; a test asks for what an exercise names.
            if name.startswith("_"):
                raise
        return _got(self._remote.client.call(Verb.GET, (self, name), {}), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_remote" not in self.__dict__ or name in self.__dict__ or name in self._buffers or name in self._parameters:
            super().__setattr__(name, value)
        elif isinstance(value, nn.Module):
            if self._modules.get(name) is not value:
                raise TypeError(f"a test cannot put a module of its own into one of the submission's, as '{name}'")
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
        return self._remote.kind


class Link:
    """Where the original of a RemoteModule is: the number of the outermost module there and the path from it."""

    def __init__(self, client: "Client", number: int, path: str, state: "State", kind: str, base: str) -> None:
        self.client, self.number, self.path, self.state, self.kind = client, number, path, state, kind
        known = getattr(nn, base, nn.Module)
        self.base = known if known is not nn.Module and issubclass(known, nn.Module) else RemoteModule


class State:
    """What the candidate knows of a module's parameters, buffers and modes, so that only changes travel."""

    def __init__(self) -> None:
        self._parts: dict[str, weakref.ref[RemoteModule]] = {}
        self._modes: dict[str, bool] = {}
        self._slots: dict[str, tuple[dict[str, Any], str]] = {}
        self._wants: list[str] = []
        self._known: dict[str, tuple[torch.Tensor, bool]] = {}

    def add_part(self, path: str, part: RemoteModule) -> None:
        """A submodule, in the mode it has there. Held weakly: a test that drops a module frees it at once."""
        self._parts[path], self._modes[path] = weakref.ref(part), part.training

    def add(self, path: str, slots: dict[str, Any], tensor: torch.Tensor, value: torch.Tensor) -> None:
        """A parameter or buffer in `slots` of its module; the candidate knows it as `value`."""
        _, _, name = path.rpartition(".")
        slots[name] = tensor
        self._slots[path] = slots, name
        self._known[path] = value, tensor.requires_grad

    def changes(self) -> tuple[dict[str, Any], list[torch.Tensor]]:
        """What to tell the candidate before a call, if anything, and the parameters that collect gradients of it."""
        changed, wants, collecting = {}, [], {}
        for path, (slots, name) in self._slots.items():
            tensor = slots.get(name)
            if tensor is None:
                continue
            value, wanted = self._known[path]
            wants_gradient = tensor.requires_grad
            # By value: a test that writes via `.data` counts no version up.
            if wanted is not wants_gradient or not same(value, tensor):
                self._known[path] = changed[path] = tensor.detach().clone(), wants_gradient
            if wants_gradient and id(tensor) not in collecting:
                collecting[id(tensor)] = tensor
                wants.append(path)
        training = {}
        for path, reference in self._parts.items():
            part = reference()
            if part is not None and part.training is not self._modes[path]:
                self._modes[path] = training[path] = part.training
        said: dict[str, Any] = {"changed": changed} if changed else {}
        if training:
            said["training"] = training
        if wants != self._wants:
            self._wants = said["wants"] = wants
        return said, list(collecting.values())

    def take(self, client: "Client", written: dict[str, Any]) -> None:
        """Writes what a call there has written into parameters, buffers and modes; lazy parameters come up here."""
        for path, (value, wants_gradient, number) in written.get("values", {}).items():
            if path not in self._slots:
                part = self._parts.get(path.rpartition(".")[0], lambda: None)()
                if part is not None and number is not None:
                    parameter = _parameter(client, number, value, wants_gradient)
                    self.add(path, part._parameters, parameter, value)
                continue
            slots, name = self._slots[path]
            if slots.get(name) is not None:
                slots[name].data = value.clone()
                slots[name].requires_grad_(wants_gradient)
                self._known[path] = value, wants_gradient
        for path, training in written.get("training", {}).items():
            part = self._parts.get(path, lambda: None)()
            if part is not None:
                part.training = self._modes[path] = bool(training)


def module_from(client: "Client", number: int, said: dict[str, Any]) -> RemoteModule:
    """A local twin from the anatomy of a module, as Twins.anatomy gives it."""
    # Names go straight into nn.Module's tables: add_module() and its like would first ask the candidate for them.
    state = State()
    parts: dict[str, RemoteModule] = {}
    for path, kind, base, training in said["modules"]:
        parts[path] = part = RemoteModule(Link(client, number, path, state, kind, base))
        part.training = training
        state.add_part(path, part)
        _hang(parts, path)
    for path, first in said["aliases"]:
        if not first or path.startswith(f"{first}."):
            raise WireError(f"no part of a module lies in itself; '{path}' is said to be '{first}' once more")
        parts[path] = parts[first]
        _hang(parts, path)
    for path, its_number, wants_gradient, value in said["parameters"]:
        holder, _, _ = path.rpartition(".")
        state.add(path, parts[holder]._parameters, _parameter(client, its_number, value, wants_gradient), value)
    for path, is_saved, value in said["buffers"]:
        holder, _, last = path.rpartition(".")
        state.add(path, parts[holder]._buffers, value.clone(), value)
        if not is_saved:
            parts[holder]._non_persistent_buffers_set.add(last)
    return parts[""]


def _hang(parts: dict[str, RemoteModule], path: str) -> None:
    """Makes the part at `path` known to the module that holds it."""
    if path:
        holder, _, last = path.rpartition(".")
        parts[holder]._modules[last] = parts[path]


def _parameter(client: "Client", number: int, value: torch.Tensor, wants_gradient: bool) -> nn.Parameter:
    """The parameter that has `number` there: the same object under all its names and in all modules that share it."""
    parameter = client.parameters.get(number)
    if parameter is None:
        parameter = client.parameters[number] = nn.Parameter(value.clone(), requires_grad=wants_gradient)
    elif not same(value, parameter) or parameter.requires_grad is not wants_gradient:
        # It outlived its module, and what happened to it there since is news here.
        parameter.data = value.clone()
        parameter.requires_grad_(wants_gradient)
    return parameter
