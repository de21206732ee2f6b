"""Tracks the student's modules that have stand-ins in the runner, so that only changes cross.

changes made by the test --receive--> the student's module --call--> report --> changes made by the call
"""

from collections.abc import Callable
from typing import Any

from grader.engine.rpc.gradients import KnownGradients, gradient_of
from grader.engine.rpc.objects.handles import (
    BufferDescription,
    Classes,
    ModuleHandle,
    ParameterDescription,
    PartDescription,
)
from grader.engine.rpc.protocol import ModuleChanges
from grader.engine.rpc.values.tensors import same
from grader.engine.rpc.values.trees import Place, tensor_at
from grader.engine.torch_if_used import nn, torch


class ModuleTracker:
    """The modules of one session, and the runner's knowledge of each.

    Args:
        object_id: returns the number of an object in the session.
        of_class: returns the description of a class.
    """

    def __init__(self, object_id: Callable[[Any], int], of_class: Callable[[type], Classes]) -> None:
        self._object_id = object_id
        self._of_class = of_class
        self._tracked: dict[int, _TrackedModule] = {}

    def describe(self, module: nn.Module, place: Place) -> ModuleHandle:
        """Return the description from which the runner makes a stand-in.

        Args:
            module: the student's module.
            place: adds a tensor to the message and returns its number there.
        """
        object_id = self._object_id(module)
        is_new = object_id not in self._tracked
        tracked = self._tracked.setdefault(object_id, _TrackedModule(module))
        tensors = tracked.tensors()
        tracked.has_changed = False
        if is_new:
            self.report(object_id, place=lambda tensor: 0)
        return ModuleHandle(
            object_id=object_id,
            name=type(module).__name__[:200],
            parts=[
                PartDescription(
                    name, self._object_id(part), type(part).__name__, _base(part), part.training, _own_modes(part)
                )
                for name, part in tracked.parts
            ],
            aliases=tracked.aliases,
            parameters=[
                ParameterDescription(
                    name, self._object_id(parameter), parameter.requires_grad, place(parameter.detach())
                )
                for name, parameter in tensors
                if isinstance(parameter, nn.Parameter)
            ],
            gradients=[
                (name, place(gradient.detach()))
                for name, tensor in tensors
                if (gradient := gradient_of(tensor)) is not None
            ],
            buffers=[
                BufferDescription(
                    f"{name}.{own}".lstrip("."), own not in part._non_persistent_buffers_set, place(buffer)
                )
                for name, part in tracked.parts
                for own, buffer in part._buffers.items()
                if buffer is not None and not _is_lazy(buffer)
            ],
            classes=[
                (name, self._of_class(type(part)))
                for name, part in tracked.parts
                if getattr(nn, type(part).__name__, None) is not type(part)
            ],
        )

    def receive(self, object_id: int, changes: ModuleChanges, tensors: list[torch.Tensor]) -> None:
        """Bring a module to the state of its stand-in.

        Args:
            object_id: its number in the session.
            changes: the test's changes to the stand-in.
            tensors: the tensors of the message.
        """
        tracked = self._tracked[object_id]
        module = tracked.module
        for name, number, requires_grad in changes.values:
            current, value = _tensor(module, name), tensor_at(tensors, number)
            if isinstance(current, nn.Parameter) or current.shape != value.shape or current.dtype != value.dtype:
                # Replace the storage: the autograd graph of an earlier call may still need the old values.
                current.data = value.clone()
            else:
                # In place, because buffers may share their storage.
                current.data.copy_(value)
            current.requires_grad_(requires_grad)
            tracked.values[name] = value, requires_grad
        for name, place in changes.gradients:
            gradient = None if place is None else tensor_at(tensors, place)
            tracked.gradients.take(name, _tensor(module, name), gradient)
        for name, training in changes.training:
            module.get_submodule(name).training = tracked.modes[name] = training
        if changes.collecting is not None:
            tracked.collecting = changes.collecting

    def collecting(self, object_id: int) -> list[torch.Tensor]:
        """Return the parameters whose gradients the runner collects, in its order.

        Args:
            object_id: the module's number in the session.
        """
        return self._tracked[object_id].collected()

    def report(self, object_id: int, place: Place) -> ModuleChanges:
        """Return the changes of a module since the last report.

        It compares values, because neither a write through `.data` nor torch's own batch norm advances a tensor's
        version. After parts, parameters or buffers were added or removed, it describes the module again: a model may
        make its layers, or lazy parameters, in its first call, when it learns their width.

        Args:
            object_id: its number in the session.
            place: adds a tensor to the message and returns its number there.
        """
        tracked, changes = self._tracked[object_id], ModuleChanges()
        tensors = tracked.tensors()
        for name, tensor in tensors:
            value, requires_grad = tracked.values.get(name, (None, None))
            if requires_grad is not tensor.requires_grad or not same(value, tensor):
                copy = tensor.detach().clone()
                tracked.values[name] = copy, tensor.requires_grad
                changes.values.append((name, place(copy), tensor.requires_grad))
        for name, part in tracked.parts:
            if tracked.modes.get(name) is not part.training:
                tracked.modes[name] = part.training
                changes.training.append((name, part.training))
        if tracked.has_changed:
            changes.description = self.describe(tracked.module, place)
        for name, gradient in tracked.gradients.news(tensors).items():
            changes.gradients.append((name, None if gradient is None else place(gradient)))
        return changes

    def new_inputs(self, object_id: int, inputs: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return the parameters that a call made or unfroze, by name.

        Args:
            object_id: the module's number in the session.
            inputs: the inputs of the call that require gradients, parameters included.
        """
        input_ids, new_parameters = {id(tensor) for tensor in inputs}, {}
        for name, tensor in self._tracked[object_id].tensors():
            if tensor.requires_grad and tensor.is_leaf and id(tensor) not in input_ids:
                input_ids.add(id(tensor))
                new_parameters[name] = tensor
        return new_parameters


class _TrackedModule:
    """One module as the runner knows it, with a table of its tensors: torch would walk the whole tree for each list."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.values: dict[str, tuple[torch.Tensor, bool]] = {}
        self.gradients = KnownGradients()
        self.modes: dict[str, bool] = {}
        self.collecting: list[str] = []
        self.parts: list[tuple[str, nn.Module]] = []
        self.aliases: list[tuple[str, str]] = []
        """The further names of parts that have several, each with the part's first name."""
        self.has_changed = False
        """Whether parts, parameters or buffers were added or removed since the last description."""
        self._shape: list[tuple[int, ...]] = []
        self._filled: list[str] = []
        self._slots: dict[str, tuple[dict[str, Any], str]] = {}

    def tensors(self) -> list[tuple[str, torch.Tensor]]:
        """Return the parameters under all their names, then the buffers, without lazy ones that have no shape yet."""
        self._update()
        named_tensors = []
        for name, (slots, own) in self._slots.items():
            tensor = slots.get(own)
            # Most are plain parameters, and is_lazy would take longer than everything else.
            if tensor is not None and (type(tensor) is nn.Parameter or not _is_lazy(tensor)):
                named_tensors.append((name, tensor))
        filled = [name for name, _ in named_tensors]
        if filled != self._filled:
            self._filled, self.has_changed = filled, True
        return named_tensors

    def collected(self) -> list[torch.Tensor]:
        """Return the parameters in `collecting`."""
        if self.collecting and not self._slots:
            self._update()
        return [slots[own] for slots, own in map(self._slots.__getitem__, self.collecting)]

    def _update(self) -> None:
        """Rebuild the tables if something was added to the module or removed from it."""
        shape = [_shape(part) for _, part in self.parts]
        if shape and shape == self._shape:
            return
        self.has_changed = True
        self.parts = list(self.module.named_modules())
        self._shape = [_shape(part) for _, part in self.parts]
        every = list(self.module.named_modules(remove_duplicate=False))
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
    """Return a value that changes when slots or children are added or removed; a replaced tensor keeps its slot."""
    own = part.__dict__
    children = own["_modules"]
    return len(own["_parameters"]), len(own["_buffers"]), *(map(id, children.values()) if children else ())


def _is_lazy(tensor: torch.Tensor) -> bool:
    return type(tensor) is not torch.Tensor and nn.parameter.is_lazy(tensor)


def _tensor(module: nn.Module, name: str) -> torch.Tensor:
    """Return the parameter or buffer with this name."""
    holder, _, last = name.rpartition(".")
    part = module.get_submodule(holder)
    for slots in (part._parameters, part._buffers):
        tensor = slots.get(last)
        if tensor is not None:
            return tensor
    raise AttributeError(f"the module has no parameter or buffer '{name}' any more")


def _own_modes(module: nn.Module) -> list[str]:
    """Return which of the methods train and eval the module's class overrides."""
    return [name for name in ("train", "eval") if getattr(type(module), name) is not getattr(nn.Module, name)]


def _base(module: nn.Module) -> str:
    """Return the nearest base class from torch.nn: a test may check it with isinstance."""
    return next(kind.__name__ for kind in type(module).__mro__ if getattr(nn, kind.__name__, None) is kind)
