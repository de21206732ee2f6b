"""What a call is given: tensors, the gradients in them, generators, lists, dicts; and what it writes there."""

from typing import Any

import torch

from course.grading.containers import Watched
from course.grading.gradients import gradient_of
from course.grading.tensors import Packed, same


class Given:
    """What one call is given. The tensors of `packed` are made what the student's code is to see."""

    def __init__(self, request: dict[str, Any], packed: Packed) -> None:
        self._packed = packed
        self.inputs: list[torch.Tensor] = []
        """Those of which a gradient is wanted."""
        self.generators: list[torch.Generator] = []
        self._copies: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._gradients: dict[int, torch.Tensor | None] = {}
        for number, is_leaf in request.get("wants", ()):
            self._want(number, is_leaf)
        for number, place in request.get("gradients", ()):
            self._gradients[number] = packed.tensors[number].grad = packed.tensors[place]

    def _want(self, number: int, is_leaf: bool) -> None:
        leaf = self._packed.tensors[number].requires_grad_()
        self.inputs.append(leaf)
        if is_leaf:
            self._gradients[number] = None
        else:
            # A leaf that wants a gradient may not be written into; what was computed from one may.
            self._packed.tensors[number] = leaf.clone()
            self._copies[number] = self._packed.tensors[number], leaf

    def effects(self, watched: Watched) -> dict[str, Any]:
        """What the call has written, by the kind of what it has written into; `watched` are its arguments."""
        tensors = self._packed.tensors
        # By value: `.data` writes without counting the version up.
        copies = [(number, copy.detach()) for number, (copy, leaf) in self._copies.items() if not same(copy, leaf)]
        held = [(number, gradient_of(tensors[number]), before) for number, before in self._gradients.items()]
        return {
            "written": [(number, tensors[number]) for number in self._packed.written()] + copies,
            "gradients": [(number, now) for number, now, before in held if now is not before],
            "containers": watched.written(),
            "generators": [generator.get_state() for generator in self.generators],
        }
