"""Prepares the arguments of a call for student code, and finds what the call wrote into them."""

import torch

from grader.engine.rpc.containers import WatchedContainers
from grader.engine.rpc.gradients import gradient_of
from grader.engine.rpc.protocol import Call, Effects
from grader.engine.rpc.tensors import DecodedTensors, same
from grader.engine.rpc.values import Packer, tensor_at


class CallArguments:
    """The arguments of one call. The decoded tensors become those that student code sees.

    Args:
        request: the call.
        decoded: the tensors that came with it.
    """

    def __init__(self, request: Call, decoded: DecodedTensors) -> None:
        self._decoded = decoded
        self.inputs: list[torch.Tensor] = []
        """The tensors that require a gradient."""
        self.generators: list[torch.Generator] = []
        self._copies: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
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
            # Torch allows no in-place operation on a leaf that requires a gradient, but allows it on what is computed
            # from one, as this argument was in the test.
            self._decoded.tensors[number] = leaf.clone()
            self._copies[number] = self._decoded.tensors[number], leaf

    def effects(self, watched: WatchedContainers, packer: Packer) -> Effects:
        """Return what the call has written into its arguments.

        Args:
            watched: the lists and dicts among the arguments.
            packer: the message that is to hold the effects.
        """
        tensors, effects = self._decoded.tensors, Effects()
        effects.written = [(number, packer.place(tensors[number])) for number in self._decoded.written()]
        for number, (copy, leaf) in self._copies.items():
            # Values are compared, because a write through `.data` does not advance the tensor's version.
            if not same(copy, leaf):
                effects.written.append((number, packer.place(copy.detach())))
        for number, before in self._gradients.items():
            if (now := gradient_of(tensors[number])) is not before:
                effects.gradients.append((number, None if now is None else packer.place(now)))
        effects.containers = [(number, packer.walk(content, 0)) for number, content in watched.written()]
        effects.generators = [packer.place(generator.get_state()) for generator in self.generators]
        return effects
