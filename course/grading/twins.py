"""The candidate's side of a module that the examiner has a twin of (proxies.RemoteModule): only changes travel.

examiner: changed values, modes --> receive --> the student's module --> call --> report --> what the call changed
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from course.grading.gradients import Gradients, gradient_of
from course.grading.tensors import same


class Twins:
    """What the examiner knows of the student's modules. `number` names an object to it."""

    def __init__(self, number: Callable[[Any], int]) -> None:
        self._number = number
        self._known: dict[int, _Known] = {}

    def anatomy(self, module: nn.Module) -> dict[str, Any]:
        """What a twin is made of: names, kinds, modes and values of everything in `module`."""
        number = self._number(module)
        is_new = number not in self._known
        known = self._known.setdefault(number, _Known())
        tensors = known.tensors(module)
        known.has_changed = False
        if is_new:
            self.report(number, module)
        return {
            "modules": [
                (name, self._number(part), type(part).__name__, _base(part), part.training, _own_modes(part))
                for name, part in known.parts
            ],
            "aliases": known.aliases,
            "parameters": [
                (name, self._number(parameter), parameter.requires_grad, parameter.detach())
                for name, parameter in tensors
                if isinstance(parameter, nn.Parameter)
            ],
            "gradients": [
                (name, gradient.detach()) for name, tensor in tensors if (gradient := gradient_of(tensor)) is not None
            ],
            "buffers": [
                (f"{name}.{own}".lstrip("."), own not in part._non_persistent_buffers_set, buffer)
                for name, part in known.parts
                for own, buffer in part._buffers.items()
                if buffer is not None and not _is_lazy(buffer)
            ],
        }

    def receive(self, number: int, module: nn.Module, state: dict[str, Any]) -> None:
        """Makes `module` what its twin has become."""
        known = self._known[number]
        for name, (tensor, wants_gradient) in state.get("changed", {}).items():
            current = _tensor(module, name)
            if isinstance(current, nn.Parameter) or current.shape != tensor.shape or current.dtype != tensor.dtype:
                # In other memory: a graph of an earlier call may need the numbers that were there.
                current.data = tensor.clone()
            else:
                # A buffer may be a part of another one.
                current.data.copy_(tensor)
            current.requires_grad_(wants_gradient)
            known.values[name] = tensor, wants_gradient
        for name, gradient in state.get("gradients", {}).items():
            known.gradients.take(name, _tensor(module, name), gradient)
        for name, training in state.get("training", {}).items():
            module.get_submodule(name).training = known.modes[name] = training
        known.wants = state.get("wants", known.wants)

    def wanted(self, number: int, module: nn.Module) -> list[torch.Tensor]:
        """The parameters that the examiner wants gradients of, in its order."""
        known = self._known[number]
        return known.named(known.wants, module) if known.wants else []

    def report(self, number: int, module: nn.Module) -> dict[str, Any]:
        """What was written into `module` since the examiner last heard of it, and its anatomy where that is new.

        By value, for neither `.data` nor torch's own batch norm counts a version up.
        """
        known, values, modes = self._known[number], {}, {}
        tensors = known.tensors(module)
        for name, tensor in tensors:
            value, wants_gradient = known.values.get(name, NOTHING)
            if wants_gradient is not tensor.requires_grad or not same(value, tensor):
                known.values[name] = values[name] = tensor.detach().clone(), tensor.requires_grad
        for name, part in known.parts:
            if known.modes.get(name) is not part.training:
                known.modes[name] = modes[name] = part.training
        # A model may make its layers or lazy parameters in its first call, when it sees how wide they must be.
        anatomy = self.anatomy(module) if known.has_changed else None
        found = {
            "values": values,
            "gradients": known.gradients.news(tensors),
            "training": modes,
            "anatomy": anatomy,
        }
        return {kind: news for kind, news in found.items() if news}

    def unasked(self, number: int, module: nn.Module, asked: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        """The parameters by name that want gradients and are not among the `asked`: a call made or unfroze them."""
        had, found = {id(tensor) for tensor in asked}, {}
        for name, tensor in self._known[number].tensors(module):
            if tensor.requires_grad and tensor.is_leaf and id(tensor) not in had:
                had.add(id(tensor))
                found[name] = tensor
        return found


NOTHING = (None, None)


class _Known:
    """What the examiner knows of one module, and where its parts lie, for torch walks the tree anew for every list."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[torch.Tensor, bool]] = {}
        self.gradients = Gradients()
        self.modes: dict[str, bool] = {}
        self.wants: list[str] = []
        self.parts: list[tuple[str, nn.Module]] = []
        self.aliases: list[tuple[str, str]] = []
        """Further names of parts that have more than one, each with the first."""
        self.has_changed = False
        """Whether parts, parameters or buffers came or went since the examiner last heard which there are."""
        self._shape: list[tuple[int, ...]] = []
        self._filled: list[str] = []
        self._slots: dict[str, tuple[dict[str, Any], str]] = {}

    def tensors(self, module: nn.Module) -> list[tuple[str, torch.Tensor]]:
        """Parameters under all their names, then buffers.

        Without lazy parameters: these are nothing until a call makes them so.
        """
        self._look(module)
        found = []
        for name, (slots, own) in self._slots.items():
            tensor = slots.get(own)
            # Mostly it is a plain one: to ask is_lazy takes longer than all the rest.
            if tensor is not None and (type(tensor) is nn.Parameter or not _is_lazy(tensor)):
                found.append((name, tensor))
        filled = [name for name, _ in found]
        if filled != self._filled:
            self._filled, self.has_changed = filled, True
        return found

    def named(self, names: list[str], module: nn.Module) -> list[torch.Tensor]:
        """Those parameters or buffers that are called so."""
        if not self._slots:
            self._look(module)
        return [slots[own] for slots, own in map(self._slots.__getitem__, names)]

    def _look(self, module: nn.Module) -> None:
        shape = [_shape(part) for _, part in self.parts]
        if shape and shape == self._shape:
            return
        self.has_changed = True
        self.parts = list(module.named_modules())
        self._shape = [_shape(part) for _, part in self.parts]
        every = list(module.named_modules(remove_duplicate=False))
        first = {id(part): name for name, part in self.parts}
        self.aliases = [(name, first[id(part)]) for name, part in every if first[id(part)] != name]
        self._slots = {
            f"{name}.{own}".lstrip("."): (slots, own)
            for places, kind in ((every, "_parameters"), (self.parts, "_buffers"))
            for name, part in places
            for slots in [getattr(part, kind)]
            for own in slots
        }


def _shape(part: nn.Module) -> tuple[int, ...]:
    """Differs where something was added to a module or taken away; what was only replaced lies in the same slot."""
    inside = part.__dict__
    below = inside["_modules"]
    return len(inside["_parameters"]), len(inside["_buffers"]), *(map(id, below.values()) if below else ())


def _is_lazy(tensor: torch.Tensor) -> bool:
    return type(tensor) is not torch.Tensor and is_lazy(tensor)


def _tensor(module: nn.Module, name: str) -> torch.Tensor:
    """The parameter or buffer that is called so."""
    holder, _, last = name.rpartition(".")
    part = module.get_submodule(holder)
    parameter = part._parameters.get(last)
    return part._buffers[last] if parameter is None else parameter


def _own_modes(module: nn.Module) -> list[str]:
    """Which of the methods that change a module's mode are its own."""
    return [name for name in ("train", "eval") if getattr(type(module), name) is not getattr(nn.Module, name)]


def _base(module: nn.Module) -> str:
    """The nearest class of torch.nn that `module` is one of: a test may ask for it with isinstance."""
    return next(kind.__name__ for kind in type(module).__mro__ if getattr(nn, kind.__name__, None) is kind)
