"""Turns the tensors of a call into those that student code sees, and finds what it did to its arguments.

tensors of the message --CallArguments--> arguments of student code --effects--> writes, gradients, changed copies
"""

import copy
from typing import Any

from grader.engine.rpc.generators import state_of
from grader.engine.rpc.gradients import gradient_of
from grader.engine.rpc.objects.copied_objects import Copies
from grader.engine.rpc.objects.handles import Given
from grader.engine.rpc.protocol import Call, Effects
from grader.engine.rpc.values.arrays import changed
from grader.engine.rpc.values.containers import WatchedContainers
from grader.engine.rpc.values.tensors import DecodedTensors, same
from grader.engine.rpc.values.trees import Packer, Refer, tensor_at
from grader.engine.torch_if_used import torch


class CallArguments:
    """The arguments of one call. It turns the decoded tensors into those that student code sees.

    Args:
        request: the call.
        decoded: the tensors that came with it.
    """

    def __init__(self, request: Call, decoded: DecodedTensors) -> None:
        self._decoded = decoded
        self.inputs: list[torch.Tensor] = []
        """The tensors that require a gradient."""
        self.generators: list[Any] = []
        self.copies = Copies([], [])
        self._frozen: list[bool] = []
        self._clones: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._gradients: dict[int, torch.Tensor | None] = {}
        for number, is_leaf in request.requires_grad:
            self._require_grad(number, is_leaf)
        for number, place in request.gradients:
            gradient = tensor_at(decoded.tensors, place)
            self._gradients[number] = tensor_at(decoded.tensors, number).grad = gradient

    def _require_grad(self, number: int, is_leaf: bool) -> None:
        leaf = tensor_at(self._decoded.tensors, number).requires_grad_()
        self.inputs.append(leaf)
        if is_leaf:
            self._gradients[number] = None
        else:
            # Torch forbids in-place operations on a leaf that requires a gradient, but allows them on a tensor that is
            # computed from one, as this argument was in the test.
            self._decoded.tensors[number] = leaf.clone()
            self._clones[number] = self._decoded.tensors[number], leaf

    def begin(self) -> None:
        """Remember which tensors require a gradient."""
        self._frozen = [tensor.requires_grad for tensor in self._decoded.tensors]

    def given(self, watched: WatchedContainers) -> dict[int, list[Any]]:
        """Return the kinds and numbers of the objects that student code may give back, by their ids.

        Args:
            watched: the lists and dicts among the arguments.
        """
        found = {id(container): (Given.CONTAINER, number) for number, container in enumerate(watched.containers)}
        found |= {id(tensor): (Given.TENSOR, number) for number, tensor in enumerate(self._decoded.tensors)}
        found |= {
            id(array): (Given.TENSOR, number) for number, array in self._decoded.arrays.items() if array.flags.writeable
        }
        found |= {id(item): (Given.OBJECT, number) for number, item in enumerate(self.copies.items())}
        return {each: list(place) for each, place in found.items()}

    def effects(self, watched: WatchedContainers, packer: Packer, refer: Refer) -> Effects:
        """Return the changes that the call made to its arguments.

        Args:
            watched: the lists and dicts among the arguments.
            packer: the message for the effects.
            refer: makes handles for modules of the student's that became parts of a copied module.
        """
        tensors, effects = self._decoded.tensors, Effects()
        effects.written = [(number, packer.place(tensors[number])) for number in self._decoded.written()]
        for number, array in self._decoded.arrays.items():
            if (now := changed(array, tensors[number])) is not None:
                effects.written.append((number, packer.place(now)))
        for number, (clone, leaf) in self._clones.items():
            # Compare values, because a write through `.data` does not advance the tensor's version.
            if not same(clone, leaf):
                effects.written.append((number, packer.place(clone.detach())))
        for number, before in self._gradients.items():
            if (now := gradient_of(tensors[number])) is not before:
                effects.gradients.append((number, None if now is None else packer.place(now)))
        effects.containers = [(number, packer.walk(copy.copy(content), 0)) for number, content in watched.written()]
        effects.generators = [packer.place(state_of(generator)) for generator in self.generators]
        effects.objects = self.copies.changes(refer, packer.tensors)
        for number, was_required in enumerate(self._frozen):
            if (tensor := tensors[number]).requires_grad is not was_required and tensor.is_leaf:
                effects.requires_grad.append((number, tensor.requires_grad))
        return effects
