"""Makes tensors of numpy arrays and arrays of tensors: an array crosses as one of the tensors of its message.

array --as_tensor--> tensor --message--> tensor --as_array--> new array with the same dtype, shape and memory order

Only `numpy.ndarray` itself crosses, and no subclass. Text and dates, for which torch has no dtype, cross as bytes.
"""

import re
from typing import Any

import numpy

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.values.tensors import FROM_NAME, MAX_TENSOR_BYTES
from grader.engine.torch_if_used import torch

DTYPES = {name: numpy.dtype(name) for name in FROM_NAME if name != "bfloat16"}
"""Dtypes of tensors, without the one that numpy lacks."""
AS_BYTES = re.compile(r"(<U|\|S)[1-9]\d{0,5}|<[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?")
"""Names of the dtypes whose elements cross as bytes: text, bytes, dates and durations."""
DTYPE_CLASSES = {type(numpy.dtype(name)) for name in (*DTYPES, "U", "S", "M", "m")}
TYPES: dict[type, str] = {
    **{dtype.type: f"numpy.{dtype.type.__name__}" for dtype in DTYPES.values()},
    **{
        kind: f"numpy.{kind.__name__}"
        for kind in (numpy.ndarray, numpy.generic, numpy.number, numpy.integer, numpy.floating, numpy.str_)
    },
}
"""Types of numpy that cross themselves."""
MAX_CODE_POINT = 0x10FFFF


def as_tensor(array: numpy.ndarray) -> torch.Tensor:
    """Return a tensor with the numbers of an array, which it may share with it; raise ProtocolError if none can."""
    dtype = array.dtype
    if array.nbytes > MAX_TENSOR_BYTES:
        raise ProtocolError(f"an array may hold {MAX_TENSOR_BYTES} bytes; this one holds {array.nbytes}")
    if crosses_as_bytes(dtype):
        content = numpy.frombuffer(bytearray(array.tobytes()), numpy.uint8)
        return torch.from_numpy(content.reshape(*array.shape, dtype.itemsize))
    if DTYPES.get(dtype.name) != dtype:
        raise ProtocolError(
            "arrays that pass between a test and student code must hold numbers, truth values, text or dates; "
            f"this one has dtype {str(dtype)[:100]}"
        )
    try:
        # Torch warns of memory that may not be written to.
        return torch.from_numpy(array if array.flags.writeable else _copy(array))
    except (ValueError, TypeError):
        return torch.from_numpy(array.copy(order="K"))  # torch has no negative strides, and none of fractions


def crosses_as_bytes(dtype: numpy.dtype) -> bool:
    """Return whether the elements of an array cross as rows of bytes."""
    return dtype.kind in "USMm" and AS_BYTES.fullmatch(dtype.str) is not None


def scalar_name(dtype: numpy.dtype) -> str | None:
    """Return the name of a dtype in messages, or None if it cannot cross."""
    if DTYPES.get(dtype.name) == dtype:
        return dtype.name
    return dtype.str if crosses_as_bytes(dtype) else None


def scalar_dtype(name: Any, without: str = "") -> numpy.dtype:
    """Return the dtype with this name in messages.

    Args:
        name: the name that arrived.
        without: letters of the kinds of dtypes that are refused.

    Raises:
        ProtocolError: no dtype that can cross has this name.
    """
    if type(name) is str and (name in DTYPES or AS_BYTES.fullmatch(name)):
        dtype = DTYPES[name] if name in DTYPES else numpy.dtype(name)
        if dtype.kind not in without:
            return dtype
    raise ProtocolError("a dtype of numpy must have one of the names that can cross; this one does not")


def as_array(tensor: torch.Tensor, is_writeable: bool, dtype: str | None = None) -> numpy.ndarray:
    """Return a new array with the content of a tensor of a message.

    Args:
        tensor: the tensor, with one more axis if its bytes make up the elements.
        is_writeable: whether code may write into the array.
        dtype: the dtype that these bytes stand for.

    Raises:
        ProtocolError: `as_tensor` cannot have made this tensor.
    """
    try:
        array = _from_numbers(tensor.numpy()) if dtype is None else _from_bytes(tensor, dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ProtocolError(f"a tensor of a message cannot be an array ({type(error).__name__})") from None
    if not is_writeable:
        array.flags.writeable = False
    return array


def _from_numbers(array: numpy.ndarray) -> numpy.ndarray:
    if array.dtype == bool:
        # Numpy computes with truth values as with bytes, so each must be 0 or 1.
        numpy.not_equal(array.view(numpy.uint8), 0, out=array)
    return _copy(array)


def _copy(array: numpy.ndarray) -> numpy.ndarray:
    """Return an array that owns its memory, or one with the same gaps that is a view."""
    if array.flags.c_contiguous or array.flags.f_contiguous or any(stride < 0 for stride in array.strides):
        return array.copy(order="K")
    last = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
    memory = numpy.empty(1 - (-last // array.itemsize), array.dtype)
    view = numpy.lib.stride_tricks.as_strided(memory, array.shape, array.strides)
    view[...] = array
    return view


def _from_bytes(tensor: torch.Tensor, name: str) -> numpy.ndarray:
    if AS_BYTES.fullmatch(name) is None or tensor.dtype is not torch.uint8:
        raise ValueError
    dtype = numpy.dtype(name)
    *shape, size = tensor.shape
    if size != dtype.itemsize:
        raise ValueError
    content = bytearray(tensor.contiguous().numpy().tobytes())
    if dtype.kind == "U" and (numpy.frombuffer(content, numpy.uint32) > MAX_CODE_POINT).any():
        raise ValueError
    return numpy.frombuffer(content, dtype).reshape(shape).copy()


def changed(array: numpy.ndarray, before: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor of an array if its dtype, its shape or any bit differ from the tensor that it came from."""
    now = as_tensor(array)
    is_same = now.dtype is before.dtype and now.shape == before.shape
    return None if is_same and now.numpy().tobytes() == before.numpy().tobytes() else now


def overwrite(array: numpy.ndarray, content: torch.Tensor) -> None:
    """Write new content into an array in place, with its shape and dtype.

    Args:
        array: the array of the test.
        content: the tensor that student code's array became.

    Raises:
        ProtocolError: the array cannot take this content.
    """
    new: Any = as_array(content, True, array.dtype.str if crosses_as_bytes(array.dtype) else None)
    is_writeable = array.flags.writeable
    try:
        if not is_writeable:
            array.flags.writeable = True
        if new.dtype != array.dtype:
            setattr(array, "dtype", new.dtype)  # noqa: B010  # numpy's stubs know no assignment
        if new.shape != array.shape:
            array.shape = new.shape
        array[...] = new
        if not is_writeable:
            array.flags.writeable = False
    except (ValueError, TypeError, AttributeError) as error:
        raise ProtocolError(f"new content must fit the array of the test; got {new.shape} of {new.dtype}") from error
