"""Stands in for torch in a process that grades without it: classes without instances, settings that nobody changes.

It has the names of torch that the engine uses on every path, for any value. What is only called for a tensor, a module
or a generator is missing here, because none ever comes.
"""

import builtins
from contextlib import AbstractContextManager, nullcontext


class dtype:  # noqa: N801  (as torch spells it, like all names here)
    """A dtype, which is only a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


complex128, complex64 = dtype("complex128"), dtype("complex64")
float64, float32, float16, bfloat16 = dtype("float64"), dtype("float32"), dtype("float16"), dtype("bfloat16")
int64, int32, int16, int8, bool = dtype("int64"), dtype("int32"), dtype("int16"), dtype("int8"), dtype("bool")  # noqa: A001
uint64, uint32, uint16, uint8 = dtype("uint64"), dtype("uint32"), dtype("uint16"), dtype("uint8")


class Tensor:
    """The class of no object."""


class Size:
    """The class of no object."""


class Generator:
    """The class of no object."""


class nn:  # noqa: N801
    """The module torch.nn."""

    class Module:
        """The class of no object."""

    class Parameter(Tensor):
        """The class of no object."""


class autograd:  # noqa: N801
    """The module torch.autograd."""

    class Function:
        """The class of no object."""

    class function:  # noqa: N801
        """The module torch.autograd.function."""

        @staticmethod
        def once_differentiable(backward: object) -> object:
            """Return the function."""
            return backward


class default_generator:  # noqa: N801
    """The source of torch's random numbers, of which there are none."""

    @staticmethod
    def manual_seed(seed: int) -> None:
        """Do nothing."""


def get_rng_state() -> None:
    """Return no state."""


def set_rng_state(state: None) -> None:
    """Do nothing."""


def is_grad_enabled() -> builtins.bool:
    """Return False."""
    return False


def set_grad_enabled(mode: builtins.bool) -> AbstractContextManager[None]:
    """Return a context that changes nothing."""
    return nullcontext()


def get_default_dtype() -> dtype:
    """Return the dtype with which torch starts."""
    return float32
