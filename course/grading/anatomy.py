"""What a RemoteModule is made of: its parts, parameters and buffers, and what the candidate knows of them.

anatomy of a module there (twins.py) --> module_from --> twin here
twin --State.changes--> candidate --call--> State.take --> twin
"""

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from course.grading.gradients import Gradients
from course.grading.proxies import Link, RemoteModule
from course.grading.tensors import WireError, same

if TYPE_CHECKING:
    from course.grading.client import Client


class State:
    """What the candidate knows of a module's parameters, buffers and modes, so that only changes travel."""

    def __init__(self) -> None:
        self._parts: dict[str, weakref.ref[RemoteModule]] = {}
        self._modes: dict[str, bool] = {}
        self._slots: dict[str, tuple[dict[str, Any], str]] = {}
        self._wants: list[str] = []
        self._known: dict[str, tuple[torch.Tensor, bool]] = {}
        self._gradients = Gradients()

    def add_part(self, path: str, part: RemoteModule) -> None:
        """A submodule, in the mode it has there. Held weakly: a test that drops a module frees it at once."""
        self._parts[path], self._modes[path] = weakref.ref(part), part.training

    def add(self, path: str, slots: dict[str, Any], tensor: torch.Tensor, value: torch.Tensor) -> None:
        """A parameter or buffer in `slots` of its module; the candidate knows it as `value`."""
        _, _, name = path.rpartition(".")
        slots[name] = tensor
        self._slots[path] = slots, name
        self._known[path] = value, tensor.requires_grad

    def take_gradient(self, path: str, gradient: torch.Tensor | None) -> None:
        """Makes what lies in the `grad` of a parameter there, or nothing, lie in it here."""
        tensor = self._tensor(path)
        if tensor is not None:
            self._gradients.take(path, tensor, gradient)

    def changes(self) -> tuple[dict[str, Any], list[torch.Tensor]]:
        """What to tell the candidate before a call, if anything, and the parameters that collect gradients of it."""
        tensors, changed, wants, collecting = [], {}, [], {}
        for path, (slots, name) in self._slots.items():
            tensor = slots.get(name)
            if tensor is None:
                continue
            tensors.append((path, tensor))
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
        said = {"changed": changed, "gradients": self._gradients.news(tensors), "training": training}
        said = {kind: news for kind, news in said.items() if news}
        if wants != self._wants:
            self._wants = said["wants"] = wants
        return said, list(collecting.values())

    def tensors(self, paths: list[str]) -> list[torch.Tensor]:
        """Those parameters or buffers that are called so."""
        return [slots[name] for slots, name in map(self._slots.__getitem__, paths)]

    def _tensor(self, path: str) -> torch.Tensor | None:
        """The parameter or buffer that is called so, if there is one."""
        slots, name = self._slots.get(path, ({}, ""))
        return slots.get(name)

    def cleared(self) -> "Before":
        """Forgets all; returns what there was."""
        found = {path: part for path, reference in self._parts.items() if (part := reference()) is not None}
        tensors = {path: self._tensor(path) for path in self._slots}
        for table in (self._parts, self._modes, self._slots, self._known):
            table.clear()
        self._gradients = Gradients()
        return Before(found, tensors)

    def take(self, client: "Client", written: dict[str, Any]) -> None:
        """Writes what a call there has written into parameters, buffers and modes; what it made comes up here."""
        root = self._parts.get("", lambda: None)()
        if "anatomy" in written and root is not None:
            _shaped(self, client, root._remote.number, written["anatomy"])
        for path, (value, wants_gradient) in written.get("values", {}).items():
            tensor = self._tensor(path)
            if tensor is not None:
                tensor.data = value.clone()
                tensor.requires_grad_(wants_gradient)
                self._known[path] = value, wants_gradient
        for path, gradient in written.get("gradients", {}).items():
            self.take_gradient(path, gradient)
        for path, training in written.get("training", {}).items():
            part = self._parts.get(path, lambda: None)()
            if part is not None:
                part.training = self._modes[path] = bool(training)


@dataclass(frozen=True)
class Before:
    """Parts and tensors that a twin had, by their paths; kept alive until it has its new shape."""

    parts: dict[str, RemoteModule]
    tensors: dict[str, torch.Tensor | None]

    def part(self, path: str, own_number: int) -> RemoteModule | None:
        """The part that was there, if it is the same one there, with nothing in it."""
        part = self.parts.get(path)
        if part is None or part._remote.own_number != own_number:
            return None
        for table in (part._modules, part._parameters, part._buffers, part._non_persistent_buffers_set):
            table.clear()
        return part

    def buffer(self, path: str, value: torch.Tensor) -> torch.Tensor:
        """The buffer that was there, now with `value`, or a new one."""
        buffer = self.tensors.get(path)
        if buffer is None or isinstance(buffer, nn.Parameter):
            return value.clone()
        buffer.data = value.clone()
        return buffer


def module_from(client: "Client", number: int, said: dict[str, Any]) -> RemoteModule:
    """A local twin from the anatomy of a module, as Twins.anatomy gives it."""
    return _shaped(State(), client, number, said)


def _shaped(state: State, client: "Client", number: int, said: dict[str, Any]) -> RemoteModule:
    """A twin with this state that has these parts, parameters and buffers; those it has already stay what they are."""
    # Names go straight into nn.Module's tables: add_module() and its like would first ask the candidate for them.
    before = state.cleared()
    parts: dict[str, RemoteModule] = {}
    for path, own_number, kind, base, training, own_modes in said["modules"]:
        part = before.part(path, own_number)
        if part is None:
            part = RemoteModule(Link(client, number, path, state, own_number, kind, base))
        else:
            # A lazy layer is of another kind once it knows how wide it is.
            part._remote.set_kind(kind, base)
        parts[path] = part
        part._remote.own_modes = frozenset(own_modes)
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
        state.add(path, parts[holder]._buffers, before.buffer(path, value), value)
        if not is_saved:
            parts[holder]._non_persistent_buffers_set.add(last)
    for path, gradient in said["gradients"]:
        state.take_gradient(path, gradient)
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
