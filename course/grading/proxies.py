"""Local stand-ins for what the student wrote, as a test cell sees them.

A class, function or other object is a Remote. An nn.Module is a RemoteModule: a real local module with the same
parameters and buffers under the same names, whose forward runs in the candidate and takes part in autograd here.
"""

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from course.grading.tensors import WireError

if TYPE_CHECKING:
    from course.grading.anatomy import State
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


def field(found: Any, name: str) -> Any:
    """What a field of a named tuple holds; raises WireError where it stands in for a tensor's method."""
    if _stands_in(found, name):
        raise WireError(f"in a named tuple, {name} is an object of its own, and a tensor has a method {name}")
    return found


def _stands_in(found: Any, name: str) -> bool:
    """Whether something of the student's, found under a name, stands in for a tensor's method.

    A test that writes `att.sum(-1)` asks a tensor. An object that came back in its place would answer what it likes.
    """
    is_theirs = type(found) is Remote or (type(found) is RemoteModule and name not in LAYERS)
    return is_theirs and hasattr(torch.Tensor, name)


def _got(found: Any, name: str) -> Any:
    if _stands_in(found, name):
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

    def train(self, mode: bool = True) -> "RemoteModule":
        """As nn.Module does, or as the student's own class does."""
        return self._switched("train", mode)

    def eval(self) -> "RemoteModule":
        """As nn.Module does, or as the student's own class does."""
        return self._switched("eval")

    def _switched(self, name: str, *mode: bool) -> "RemoteModule":
        if name not in self._remote.own_modes:
            return getattr(super(), name)(*mode)
        self._remote.client.call(Method(self, name), mode, {})
        return self

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
    """What a RemoteModule stands for there: the part at `path` of the module `number`, which has a number of its own.

    `kind` is the name of its class, `base` the class of torch.nn that it is one of, if it is of any but nn.Module.
    """

    def __init__(
        self, client: "Client", number: int, path: str, state: "State", own_number: int, kind: str, base: str
    ) -> None:
        self.client, self.number, self.path, self.state = client, number, path, state
        self.own_number = own_number
        self.own_modes: frozenset[str] = frozenset()
        """Those of `train` and `eval` that the student's class defines."""
        self.set_kind(kind, base)

    def set_kind(self, kind: str, base: str) -> None:
        """Its class and that of torch.nn, by their names."""
        self.kind = kind
        known = getattr(nn, base, nn.Module)
        self.base = known if known is not nn.Module and issubclass(known, nn.Module) else RemoteModule
