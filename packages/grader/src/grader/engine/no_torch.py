"""Stands in for torch in a process that grades without it: tensors are arrays in a message, and no setting changes.

It has the names of torch that the engine uses for any value, and for arrays. Names that only serve tensors, modules and
generators of a test or of student code are missing, because there are none; a message that holds one all the same is
against the protocol.
"""

import builtins
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn, Self

import numpy

from grader.engine.rpc.message import ProtocolError


class dtype:  # noqa: N801  (as torch spells it, like all names here)
    """A dtype of torch, and that of numpy with the same name, if there is one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.numpy = None if name == "bfloat16" else numpy.dtype(name)

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    @property
    def itemsize(self) -> int:
        """The bytes of a number."""
        return 2 if self.numpy is None else self.numpy.itemsize


complex128, complex64 = dtype("complex128"), dtype("complex64")
float64, float32, float16, bfloat16 = dtype("float64"), dtype("float32"), dtype("float16"), dtype("bfloat16")
int64, int32, int16, int8, bool = dtype("int64"), dtype("int32"), dtype("int16"), dtype("int8"), dtype("bool")  # noqa: A001
uint64, uint32, uint16, uint8 = dtype("uint64"), dtype("uint32"), dtype("uint16"), dtype("uint8")
_OF_NUMPY = {each.numpy: each for each in list(globals().values()) if isinstance(each, dtype)}
strided = "strided"


def _refuse(name: str) -> NoReturn:
    raise ProtocolError(f"a message about torch arrived ({name}), and this notebook does not use it")


class Tensor:
    """The numbers of an array that crosses."""

    requires_grad = is_leaf = False
    is_cpu, layout = True, strided

    def __init__(self, array: numpy.ndarray) -> None:
        self._array = array

    def __getattr__(self, name: str) -> Any:
        return _refuse(name)

    @property
    def dtype(self) -> dtype:
        """The dtype."""
        return _OF_NUMPY[self._array.dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self._array.shape

    @property
    def nbytes(self) -> int:
        """The bytes of the numbers."""
        return self._array.nbytes

    def numpy(self) -> numpy.ndarray:
        """Return the array."""
        return self._array

    def numel(self) -> int:
        """Return how many numbers there are."""
        return self._array.size

    def data_ptr(self) -> int:
        """Return the address of the first number."""
        return self._array.ctypes.data

    def stride(self) -> tuple[int, ...]:
        """Return the distance of neighbours along each axis, in numbers."""
        return tuple(stride // self._array.itemsize for stride in self._array.strides)

    def is_contiguous(self) -> builtins.bool:
        """Return whether the numbers have no gaps and the usual order."""
        return self._array.flags.c_contiguous

    def is_conj(self) -> builtins.bool:
        """Return whether the numbers are stored as their conjugates."""
        return False

    def is_neg(self) -> builtins.bool:
        """Return whether the numbers are stored with the other sign."""
        return False

    def detach(self) -> Self:
        """Return the tensor."""
        return self

    resolve_conj = resolve_neg = detach

    def contiguous(self) -> "Tensor":
        """Return a copy without gaps."""
        return Tensor(self._array.copy(order="C"))

    def resize_(self, shape: list[int]) -> Self:
        """Change the shape."""
        self._array = self._array.reshape(shape)
        return self

    def as_strided_(self, shape: list[int], strides: list[int]) -> Self:
        """Look at the memory with another shape and other strides."""
        steps = [stride * self._array.itemsize for stride in strides]
        self._array = numpy.lib.stride_tricks.as_strided(self._array, shape, steps)
        return self

    def copy_(self, other: "Tensor") -> Self:
        """Take over the numbers of a tensor of the same shape."""
        self._array[...] = other._array
        return self


def from_numpy(array: numpy.ndarray) -> Tensor:
    """Return a tensor that shares its memory with an array.

    Raises:
        TypeError: torch has no such dtype.
        ValueError: torch has no such strides.
    """
    if array.dtype not in _OF_NUMPY:
        raise TypeError
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        raise ValueError
    return Tensor(array)


def frombuffer(buffer: bytearray, dtype: dtype) -> Tensor:
    """Return the numbers in a buffer; raise ValueError for a dtype that numpy lacks."""
    if dtype.numpy is None:
        raise ValueError
    return Tensor(numpy.frombuffer(buffer, dtype.numpy))


def empty(shape: list[int] | int, dtype: dtype) -> Tensor:
    """Return a tensor of this shape; raise ValueError for a dtype that numpy lacks."""
    if dtype.numpy is None:
        raise ValueError
    return Tensor(numpy.empty(shape, dtype.numpy))


def view_as_real(tensor: Tensor) -> Tensor:
    """Return a contiguous tensor of complex numbers as pairs of real ones."""
    array = tensor.numpy()
    return Tensor(array.reshape(-1).view(array.real.dtype).reshape(*array.shape, 2))


class Size:
    """The class of no object."""

    def __init__(self, sizes: object) -> None:
        _refuse("a size")


class device:  # noqa: N801
    """The class of no object."""

    def __init__(self, name: str) -> None:
        _refuse("a device")


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
        """A function without gradients."""

        @staticmethod
        def apply(*_: object) -> NoReturn:
            """Refuse the result of a call that has gradients."""
            _refuse("gradients")

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
