"""Local stand-ins for what the student wrote, as a test cell sees them.

A class, function or other object is a Remote. An nn.Module is a RemoteModule: a real local module with the same
parameters and buffers under the same names, whose forward runs in the candidate and takes part in autograd here.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from course.grading.client import Client


class Remote:
    """A class, function or other object of the student's; `module` is the RemoteModule it is a method of, if any."""

    def __init__(self, client: "Client", number: int, name: str, module: "RemoteModule | None" = None) -> None:
        self._client, self._number, self._module = client, number, module
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._client.call(self, args, kwargs, self._module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._client.get(self, name)

    def __deepcopy__(self, memo: dict) -> Any:
        return self._client.copy(self)

    def __getitem__(self, key: Any) -> Any:
        return self._client.call(Method(self, "__getitem__"), (key,), {})

    def __len__(self) -> int:
        return self._client.call(Method(self, "__len__"), (), {})

    def __iter__(self) -> Any:
        return iter(self._client.call(list, (self,), {}))

    def __repr__(self) -> str:
        return f"<{self.__name__} of the submission>"


class Method:
    """A method of something remote, named but not fetched."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name


class RemoteModule(nn.Module):
    """A module of the student's. All it has of its own is `_remote`, so that no name of the student's is hidden."""

    def __init__(self, remote: "Link") -> None:
        super().__init__()
        self._remote = remote

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote.client.call(self, args, kwargs, self)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
        found = self._remote.client.get(self, name)
        if isinstance(found, Remote):
            found._module = self
        return found

    def __getitem__(self, key: Any) -> Any:
        if str(key) in self._modules:
            return self._modules[str(key)]
        return self._remote.client.call(Method(self, "__getitem__"), (key,), {}, self)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Any:
        return iter(self._modules.values())

    def __deepcopy__(self, memo: dict) -> "RemoteModule":
        twin = self._remote.client.copy(self)
        twin.load_state_dict(self.state_dict())
        return twin

    def _get_name(self) -> str:
        return self._remote.kind


class Link:
    """Where the original of a RemoteModule is: the number of the outermost module there and the path from it."""

    def __init__(self, client: "Client", number: int, path: str, kind: str, state: "State") -> None:
        self.client, self.number, self.path, self.kind, self.state = client, number, path, kind, state


class State:
    """What the candidate knows of a module's parameters, buffers and modes, so that only changes travel."""

    def __init__(self) -> None:
        self.root: RemoteModule | None = None
        self._slots: list[tuple[str, dict[str, Any], str]] = []
        self._parts: list[tuple[str, nn.Module]] = []
        self._marks: list[tuple] = []
        self._modes: list[bool] = []

    def begin(self, root: RemoteModule) -> None:
        """Everything is known, for it has just come from there."""
        self.root = root
        self._parts = list(root.named_modules())
        for path, part in self._parts:
            for slots in (part._parameters, part._buffers):
                self._slots += [(f"{path}.{name}".lstrip("."), slots, name) for name in slots]
        self._marks = [_mark(slots[name]) for _, slots, name in self._slots]
        self._modes = [part.training for _, part in self._parts]

    def changes(self) -> tuple[dict[str, Any], list[torch.Tensor]]:
        """What to tell the candidate before a call, and the parameters that collect gradients of it."""
        changed, wants, collecting, seen = {}, [], [], set()
        for index, (path, slots, name) in enumerate(self._slots):
            tensor = slots[name]
            if tensor is None:
                continue
            mark = _mark(tensor)
            if mark != self._marks[index]:
                self._marks[index] = mark
                changed[path] = (tensor.detach(), tensor.requires_grad)
            if tensor.requires_grad and id(tensor) not in seen:
                seen.add(id(tensor))
                wants.append(path)
                collecting.append(tensor)
        training = {}
        for index, (path, part) in enumerate(self._parts):
            if part.training != self._modes[index]:
                self._modes[index] = training[path] = part.training
        return {"changed": changed, "wants": wants, "training": training}, collecting

    def take(self, written: dict[str, torch.Tensor]) -> None:
        """Writes what a call there has written into parameters and buffers."""
        for index, (path, slots, name) in enumerate(self._slots):
            if path in written and slots[name] is not None:
                slots[name].data = written[path].clone()
                self._marks[index] = _mark(slots[name])


def module_from(client: "Client", number: int, said: dict[str, Any]) -> RemoteModule:
    """A local twin from the anatomy of a module, as service._anatomy gives it."""
    # Names go straight into nn.Module's tables: add_module() and its like would first ask the candidate for them.
    state = State()
    parts: dict[str, RemoteModule] = {}
    for path, kind, training in said["modules"]:
        parts[path] = part = RemoteModule(Link(client, number, path, kind, state))
        part.training = training
        if path:
            holder, _, last = path.rpartition(".")
            parts[holder]._modules[last] = part
    values: dict[str, nn.Parameter] = {}
    for name, shared, wants_gradient, value in said["parameters"]:
        if name == shared:
            values[name] = nn.Parameter(value.clone(), requires_grad=wants_gradient)
        holder, _, last = name.rpartition(".")
        parts[holder]._parameters[last] = values[shared]
    for name, value in said["buffers"]:
        holder, _, last = name.rpartition(".")
        parts[holder]._buffers[last] = value.clone()
    state.begin(parts[""])
    return parts[""]


def _mark(tensor: torch.Tensor | None) -> tuple:
    """Differs whenever a tensor, its memory, its content or its wish for a gradient does."""
    return () if tensor is None else (id(tensor), tensor.data_ptr(), tensor._version, tensor.requires_grad)
