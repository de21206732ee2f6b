"""The candidate's side of a module that the examiner has a twin of (proxies.RemoteModule): only changes travel.

examiner: changed values, modes --> receive --> the student's module --> call --> report --> what the call changed
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy


class Twins:
    """What the examiner knows of the student's modules. `number` names an object to it."""

    def __init__(self, number: Callable[[Any], int]) -> None:
        self._number = number
        self._known: dict[int, _Known] = {}

    def anatomy(self, module: nn.Module) -> dict[str, Any]:
        """What a twin is made of: names, kinds, modes and values of everything in `module`."""
        number = self._number(module)
        known = self._known.setdefault(number, _Known())
        if not known.values:
            self.report(number, module)
        return {
            "modules": [
                (name, type(part).__name__, _base(part), part.training) for name, part in module.named_modules()
            ],
            "parameters": [
                (name, self._number(parameter), parameter.requires_grad, parameter.detach())
                for name, parameter in known.parameters(module)
            ],
            "buffers": [
                (f"{name}.{own}".lstrip("."), own not in part._non_persistent_buffers_set, buffer)
                for name, part in module.named_modules()
                for own, buffer in part._buffers.items()
                if buffer is not None
            ],
        }

    def receive(self, number: int, module: nn.Module, state: dict[str, Any]) -> None:
        """Makes `module` what its twin has become."""
        known = self._known[number]
        for name, (tensor, wants_gradient) in state.get("changed", {}).items():
            holder, _, last = name.rpartition(".")
            part = module.get_submodule(holder)
            current = part._parameters.get(last)
            current = part._buffers[last] if current is None else current
            current.data = tensor.clone()
            current.requires_grad_(wants_gradient)
            known.values[name] = tensor, wants_gradient
        for name, training in state.get("training", {}).items():
            module.get_submodule(name).training = known.modes[name] = training
        known.wants = state.get("wants", known.wants)

    def wanted(self, number: int, module: nn.Module) -> list[torch.Tensor]:
        """The parameters that the examiner wants gradients of, in its order."""
        known = self._known[number]
        parameters = dict(known.parameters(module)) if known.wants else {}
        return [parameters[name] for name in known.wants]

    def report(self, number: int, module: nn.Module) -> dict[str, Any]:
        """What was written into `module` since the examiner last heard of it.

        By value, for neither `.data` nor torch's own batch norm counts a version up.
        """
        known, values, modes = self._known[number], {}, {}
        for name, tensor in (*known.parameters(module), *known.buffers(module)):
            value, wants_gradient = known.values.get(name, (None, None))
            if wants_gradient is not tensor.requires_grad or not same(value, tensor):
                value = tensor.detach().clone()
                known.values[name] = value, tensor.requires_grad
                owner = self._number(tensor) if isinstance(tensor, nn.Parameter) else None
                values[name] = value, tensor.requires_grad, owner
        for name, part in known.parts(module):
            if known.modes.get(name) is not part.training:
                known.modes[name] = modes[name] = part.training
        return {kind: found for kind, found in (("values", values), ("training", modes)) if found}


Slots = list[tuple[str, dict[str, Any], str]]


class _Known:
    """What the examiner knows of one module, and where its parts lie, for torch walks the tree anew for every list."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[torch.Tensor, bool]] = {}
        self.modes: dict[str, bool] = {}
        self.wants: list[str] = []
        self._parts: list[tuple[str, nn.Module]] = []
        self._shape: list[tuple[int, ...]] = []
        self._parameters: Slots = []
        self._buffers: Slots = []

    def parts(self, module: nn.Module) -> list[tuple[str, nn.Module]]:
        """`named_modules`."""
        self._look(module)
        return self._parts

    def parameters(self, module: nn.Module) -> list[tuple[str, nn.Parameter]]:
        """`named_parameters` under all their names, but for lazy ones: these are nothing until a call makes them so."""
        self._look(module)
        return [(name, p) for name, at, key in self._parameters if (p := at[key]) is not None and not is_lazy(p)]

    def buffers(self, module: nn.Module) -> list[tuple[str, torch.Tensor]]:
        """`named_buffers`."""
        self._look(module)
        return [(name, buffer) for name, at, key in self._buffers if (buffer := at[key]) is not None]

    def _look(self, module: nn.Module) -> None:
        shape = [_shape(part) for _, part in self._parts]
        if shape and shape == self._shape:
            return
        self._parts = list(module.named_modules())
        self._shape = [_shape(part) for _, part in self._parts]
        path = lambda name, own: f"{name}.{own}".lstrip(".")  # noqa: E731
        every = list(module.named_modules(remove_duplicate=False))
        self._parameters = [
            (path(name, own), part._parameters, own) for name, part in every for own in part._parameters
        ]
        self._buffers = [(path(name, own), part._buffers, own) for name, part in self._parts for own in part._buffers]


def _shape(part: nn.Module) -> tuple[int, ...]:
    """Differs where something was added to a module or taken away; what was only replaced lies in the same slot."""
    return len(part._parameters), len(part._buffers), *map(id, part._modules.values())


def same(known: torch.Tensor | None, tensor: torch.Tensor) -> bool:
    """Whether `tensor` is what is known of it, kind and all."""
    return known is not None and known.dtype is tensor.dtype and torch.equal(known, tensor)


def _base(module: nn.Module) -> str:
    """The nearest class of torch.nn that `module` is one of: a test may ask for it with isinstance."""
    return next(kind.__name__ for kind in type(module).__mro__ if getattr(nn, kind.__name__, None) is kind)
