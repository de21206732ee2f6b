"""Makes the local stand-in of a student's module, and keeps it in sync with the module in the sandbox.

ModuleHandle of a module there (module_tracker.py) --> module_from --> stand-in here
stand-in --RemoteModuleState.changes--> sandbox --call--> RemoteModuleState.take --> stand-in
"""

import weakref
from dataclasses import dataclass
from typing import Any

from grader.engine.rpc.gradients import KnownGradients
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import Classes, ModuleHandle, PartDescription
from grader.engine.rpc.protocol import ModuleChanges
from grader.engine.rpc.values.tensors import same
from grader.engine.rpc.values.trees import Place, tensor_at
from grader.engine.runner.standins.classes import layer_class, library_class
from grader.engine.runner.standins.proxies import Caller
from grader.engine.runner.standins.remote_module import ModuleRef, RemoteModule
from grader.engine.torch_if_used import USES_TORCH, nn, torch


class RemoteModuleState:
    """The parameters, buffers and modes of a module as the sandbox knows them, so that only changes cross."""

    def __init__(self) -> None:
        self._parts: dict[str, weakref.ref[RemoteModule]] = {}
        self._modes: dict[str, bool] = {}
        self._slots: dict[str, tuple[dict[str, Any], str]] = {}
        self._collecting: list[str] = []
        self._values: dict[str, tuple[torch.Tensor, bool]] = {}
        self._gradients = KnownGradients()

    def add_part(self, path: str, part: RemoteModule) -> None:
        """Add a submodule in its present mode, by a weak reference: a test that drops a module frees it at once.

        Args:
            path: its path, '' for the module itself.
            part: the stand-in.
        """
        self._parts[path], self._modes[path] = weakref.ref(part), part.training

    def add(self, path: str, slots: dict[str, Any], tensor: torch.Tensor, value: torch.Tensor) -> None:
        """Add a parameter or buffer.

        Args:
            path: its path.
            slots: the table of its module that holds it.
            tensor: the tensor here.
            value: its value in the sandbox.
        """
        _, _, name = path.rpartition(".")
        slots[name] = tensor
        self._slots[path] = slots, name
        self._values[path] = value, tensor.requires_grad

    def take_gradient(self, path: str, gradient: torch.Tensor | None) -> None:
        """Set the `.grad` of a parameter to its value in the sandbox.

        Args:
            path: the path of the parameter.
            gradient: the gradient, or None.

        Raises:
            ProtocolError: the gradient does not fit the parameter.
        """
        tensor = self._tensor(path)
        if tensor is not None:
            self._gradients.take(path, tensor, gradient)

    def changes(self, place: Place) -> tuple[ModuleChanges, list[torch.Tensor]]:
        """Return the changes since the sandbox last knew the module, and the parameters that collect gradients."""
        changes, tensors, paths, collecting = ModuleChanges(), [], [], {}
        for path, (slots, name) in self._slots.items():
            tensor = slots.get(name)
            if tensor is None:
                continue
            tensors.append((path, tensor))
            value, required_grad = self._values[path]
            requires_grad = tensor.requires_grad
            # Values are compared, because a write through `.data` does not advance the tensor's version.
            if required_grad is not requires_grad or not same(value, tensor):
                copy = tensor.detach().clone()
                self._values[path] = copy, requires_grad
                changes.values.append((path, place(copy), requires_grad))
            if requires_grad and id(tensor) not in collecting:
                collecting[id(tensor)] = tensor
                paths.append(path)
        for path, reference in self._parts.items():
            part = reference()
            if part is not None and part.training is not self._modes[path]:
                self._modes[path] = part.training
                changes.training.append((path, part.training))
        for path, gradient in self._gradients.news(tensors).items():
            changes.gradients.append((path, None if gradient is None else place(gradient)))
        if paths != self._collecting:
            self._collecting = changes.collecting = paths
        return changes, list(collecting.values())

    def tensors(self, paths: list[str]) -> list[torch.Tensor]:
        """Return the parameters or buffers at these paths."""
        return [slots[name] for slots, name in map(self._slots.__getitem__, paths)]

    def _tensor(self, path: str) -> torch.Tensor | None:
        """Return the parameter or buffer at a path, or None."""
        slots, name = self._slots.get(path, ({}, ""))
        return slots.get(name)

    def cleared(self) -> "FormerParts":
        """Forget everything and return the former parts and tensors."""
        parts = {path: part for path, reference in self._parts.items() if (part := reference()) is not None}
        tensors = {path: self._tensor(path) for path in self._slots}
        for table in (self._parts, self._modes, self._slots, self._values):
            table.clear()
        self._gradients = KnownGradients()
        return FormerParts(parts, tensors)

    def take(self, client: Caller, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None:
        """Repeat the changes of a call in the sandbox here.

        Args:
            client: makes calls for parts that are new.
            changes: what the call changed.
            tensors: the tensors of the message.
        """
        root = self._part("")
        if changes.description is not None and root is not None:
            _shaped(self, client, root._remote.object_id, changes.description, tensors)
        for path, number, requires_grad in changes.values:
            tensor, value = self._tensor(path), tensor_at(tensors, number)
            if tensor is not None:
                tensor.data = value.clone()
                tensor.requires_grad_(requires_grad)
                self._values[path] = value, requires_grad
        for path, place in changes.gradients:
            self.take_gradient(path, None if place is None else tensor_at(tensors, place))
        for path, training in changes.training:
            part = self._part(path)
            if part is not None:
                part.training = self._modes[path] = training

    def _part(self, path: str) -> RemoteModule | None:
        reference = self._parts.get(path)
        return None if reference is None else reference()


@dataclass(frozen=True)
class FormerParts:
    """The parts and tensors of a stand-in by path, kept alive until it is rebuilt."""

    parts: dict[str, RemoteModule]
    tensors: dict[str, torch.Tensor | None]

    def part(self, path: str, object_id: int) -> RemoteModule | None:
        """Return a former part, emptied, or None if there was none.

        Args:
            path: its path.
            object_id: the id of the object that it must stand for.
        """
        part = self.parts.get(path)
        if part is None or part._remote.own_id != object_id:
            return None
        for table in (part._modules, part._parameters, part._buffers, part._non_persistent_buffers_set):
            table.clear()
        return part

    def buffer(self, path: str, value: torch.Tensor) -> torch.Tensor:
        """Return the former buffer with its new value, or a new buffer if there was none.

        Args:
            path: its path.
            value: its value in the sandbox.
        """
        buffer = self.tensors.get(path)
        if buffer is None or isinstance(buffer, nn.Parameter):
            return value.clone()
        buffer.data = value.clone()
        return buffer


def module_from(client: Caller, handle: ModuleHandle, tensors: list[torch.Tensor]) -> RemoteModule:
    """Return a local stand-in of the module that `handle` describes.

    Args:
        client: makes the stand-in's calls.
        handle: the description that ModuleTracker.describe made.
        tensors: the tensors of the message.

    Raises:
        ProtocolError: the description contradicts itself.
    """
    if not USES_TORCH:
        raise ProtocolError("a module arrived, and this notebook does not use torch")
    return _shaped(RemoteModuleState(), client, handle.object_id, handle, tensors)


def _shaped(
    state: RemoteModuleState, client: Caller, object_id: int, handle: ModuleHandle, tensors: list[torch.Tensor]
) -> RemoteModule:
    """Rebuild the stand-in with this state from `handle`, keeping its parts and tensors, and return it."""
    # Names go directly into nn.Module's tables, because add_module() and its like would ask the sandbox for them first.
    former = state.cleared()
    parts: dict[str, RemoteModule] = {}
    classes = dict(handle.classes)
    for described in handle.parts:
        path = described.path
        of = _class_of(client, described, classes.get(path))
        part = former.part(path, described.object_id)
        if part is None:
            names = described.class_name, described.base
            part = object.__new__(of)
            RemoteModule.__init__(part, ModuleRef(client, object_id, path, state, described.object_id, *names))
        else:
            # A lazy layer changes its class once it knows its width.
            part._remote.set_class(described.class_name, described.base)
            vars(object)["__class__"].__set__(part, of)
        parts[path] = part
        part._remote.own_modes = frozenset(described.own_modes)
        part.training = described.training
        state.add_part(path, part)
        _attach(parts, path)
    for path, first in handle.aliases:
        if not first or path.startswith(f"{first}."):
            raise ProtocolError(f"no module is a part of itself; '{path}' claims to be '{first}' again")
        parts[path] = parts[first]
        _attach(parts, path)
    for parameter in handle.parameters:
        holder, _, _ = parameter.path.rpartition(".")
        value = tensor_at(tensors, parameter.tensor)
        local = _parameter(client, parameter.object_id, value, parameter.requires_grad)
        state.add(parameter.path, parts[holder]._parameters, local, value)
    for buffer in handle.buffers:
        holder, _, last = buffer.path.rpartition(".")
        value = tensor_at(tensors, buffer.tensor)
        state.add(buffer.path, parts[holder]._buffers, former.buffer(buffer.path, value), value)
        if not buffer.is_persistent:
            parts[holder]._non_persistent_buffers_set.add(last)
    for path, number in handle.gradients:
        state.take_gradient(path, tensor_at(tensors, number))
    return parts[""]


def _class_of(client: Caller, described: PartDescription, classes: Classes | None) -> type[RemoteModule]:
    """Return the class of the stand-in of a part: that of a layer of torch, or that of the student's class."""
    if not classes:
        layer = library_class(f"torch.nn:{described.base}")
        is_layer = layer is not None and issubclass(layer, nn.Module) and described.class_name == described.base
        return layer_class(layer) if is_layer else RemoteModule
    of = client.class_of(classes)
    if not issubclass(of, RemoteModule):
        raise ProtocolError(f"the class of a module must be one of nn.Module; {described.class_name[:40]} is not")
    return of


def _attach(parts: dict[str, RemoteModule], path: str) -> None:
    """Register the part at a path with the module that holds it."""
    if path:
        holder, _, last = path.rpartition(".")
        parts[holder]._modules[last] = parts[path]


def _parameter(client: Caller, object_id: int, value: torch.Tensor, requires_grad: bool) -> nn.Parameter:
    """Return the parameter with this id: one object under all its names and in all modules that share it."""
    parameter = client.parameters.get(object_id)
    if parameter is None:
        parameter = client.parameters[object_id] = nn.Parameter(value.clone(), requires_grad=requires_grad)
    elif not same(value, parameter) or parameter.requires_grad is not requires_grad:
        # The parameter outlived its module, and the sandbox has changed it since.
        parameter.data = value.clone()
        parameter.requires_grad_(requires_grad)
    return parameter
