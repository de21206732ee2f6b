"""Encodes tensors as safetensors, with the strides of non-contiguous ones, and decodes them."""

from dataclasses import dataclass, field
from typing import Any

import numpy
import safetensors

from grader.engine.rpc.message import ProtocolError
from grader.engine.torch_if_used import torch

MAX_TENSOR_BYTES = 256 * 2**20

Layouts = list[tuple[int, list[int]]]
"""The strides of non-contiguous tensors, by number."""

_TO_NAME = {
    dtype: str(dtype).removeprefix("torch.")
    for dtype in (
        *(torch.complex128, torch.complex64, torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.bool),
        *(torch.uint64, torch.uint32, torch.uint16, torch.uint8),
    )
}
FROM_NAME = {name: dtype for dtype, name in _TO_NAME.items()}
_FROM_CODE = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8},
    **{"U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8},
    **{"C64": torch.complex64, "BOOL": torch.bool},
}
PAIRS = "j"
"""Suffix of the name of a complex128 tensor. Safetensors lacks this dtype, so the tensor crosses as float64 pairs."""


@dataclass(frozen=True)
class EncodedTensors:
    """The encoded tensors of one message: safetensors bytes, and strides."""

    data: bytes = b""
    layouts: Layouts = field(default_factory=list)

    def decoded(self, *, watch: bool = False) -> "DecodedTensors":
        """Return new tensors.

        Args:
            watch: whether `DecodedTensors.written` is to detect writes into them.

        Raises:
            ProtocolError: the bytes are not valid safetensors.
        """
        return _decoded(self, watch) if self.data else DecodedTensors([], [], watch=False)


class DecodedTensors:
    """The tensors of one message, which can be watched for writes since they arrived.

    Args:
        tensors: the tensors, in order.
        buffers: the memory of each.
        watch: whether `written` is to detect writes.
    """

    def __init__(self, tensors: list[torch.Tensor], buffers: list[bytearray], *, watch: bool) -> None:
        self.tensors = tensors
        self.arrays: dict[int, Any] = {}
        """The arrays that `values.unpack` has made of some of them, by number."""
        self._watched = list(zip(tensors, buffers, strict=True)) if watch else []
        self._before = [(bytes(buffer), *_place(tensor)) for tensor, buffer in self._watched]

    def written(self) -> list[int]:
        """Return the numbers of the tensors whose memory or shape has changed since arrival, even through `.data`."""
        now = [(buffer, *_place(tensor)) for tensor, buffer in self._watched]
        return [number for number, before in enumerate(self._before) if before != now[number]]


def _place(tensor: torch.Tensor) -> tuple[int, torch.Size, tuple[int, ...]]:
    """Return the memory layout of a tensor, which `tensor.data = other` changes."""
    return tensor.data_ptr(), tensor.shape, tensor.stride()


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a dtype in messages; raise ProtocolError if it cannot cross."""
    if dtype not in _TO_NAME:
        raise ProtocolError(f"tensors of {dtype} do not cross; expected one of {', '.join(_TO_NAME.values())}")
    return _TO_NAME[dtype]


def same(known: torch.Tensor | None, tensor: torch.Tensor) -> bool:
    """Return whether a tensor has its known values and dtype.

    Args:
        known: the tensor as the other side knows it, or None if it does not.
        tensor: the tensor as it is now.
    """
    return known is not None and known.dtype is tensor.dtype and known.equal(tensor)


def numbers(tensor: torch.Tensor) -> numpy.ndarray:
    """Return the numbers of a tensor as an array, as float64 where numpy lacks its dtype."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    return (plain.double() if plain.dtype is torch.bfloat16 else plain).numpy()


def encoded(tensors: list[torch.Tensor]) -> EncodedTensors:
    """Encode tensors; raise ProtocolError if one cannot cross."""
    if not tensors:
        return EncodedTensors()
    # serialize() reads memory by address: until it is done, `alive` keeps the tensors.
    specs, alive, layouts = {}, [], []
    for number, tensor in enumerate(tensors):
        if tensor.layout is not torch.strided or not tensor.is_cpu:
            raise ProtocolError(f"only dense CPU tensors cross; got {tensor.layout} on {tensor.device}")
        plain, is_contiguous = tensor, tensor.is_contiguous()
        if not is_contiguous and (strides := _strides(tensor)) is not None:
            layouts.append((number, strides))
        if not is_contiguous or tensor.is_conj() or tensor.is_neg():
            plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
        name = str(number)
        if plain.dtype is torch.complex128:
            name, plain = name + PAIRS, torch.view_as_real(plain.detach())
        alive.append(plain)
        specs[name] = safetensors.TensorSpec(
            dtype=dtype_name(plain.dtype), shape=list(plain.shape), data_ptr=plain.data_ptr(), data_len=plain.nbytes
        )
    return EncodedTensors(safetensors.serialize(specs), layouts)


def _decoded(message: EncodedTensors, watch: bool) -> DecodedTensors:
    try:
        entries = {
            int(name.removesuffix(PAIRS)): (name, entry) for name, entry in safetensors.deserialize(message.data)
        }
        strides, room = dict(message.layouts), MAX_TENSOR_BYTES
        tensors, buffers = [], []
        for number in range(len(entries)):
            name, entry = entries[number]
            dtype, shape, buffer = _FROM_CODE[entry["dtype"]], entry["shape"], entry["data"]
            if name.endswith(PAIRS):
                if dtype is not torch.float64 or shape[-1:] != [2]:
                    raise ValueError
                dtype, shape = torch.complex128, shape[:-1]
            # Not reshape(), here and below: to autograd its result is a view, which a test may not modify.
            tensor = torch.frombuffer(buffer, dtype=dtype).resize_(shape) if buffer else torch.empty(shape, dtype=dtype)
            if number in strides:
                size = _span(shape, strides[number]) * dtype.itemsize
                room -= size
                if not buffer or room < 0:
                    raise ValueError
                buffer = bytearray(size)
                tensor = torch.frombuffer(buffer, dtype=dtype).as_strided_(shape, strides[number]).copy_(tensor)
            tensors.append(tensor)
            buffers.append(buffer)
    except (safetensors.SafetensorError, KeyError, ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise ProtocolError(f"tensors must arrive as safetensors; these do not ({type(error).__name__})") from None
    return DecodedTensors(tensors, buffers, watch=watch)


def _strides(tensor: torch.Tensor) -> list[int] | None:
    """Return the strides of a non-contiguous tensor: `.view` must fail on the other side where it fails on this one.

    None for a tensor that overlaps itself, or whose gaps take much more memory than its numbers. Gaps never cross.
    """
    strides, inner = list(tensor.stride()), 1
    for stride, size in sorted(zip(strides, tensor.shape, strict=True)):
        if size > 1:
            if stride < inner:
                return None
            inner += stride * (size - 1)
    return strides if _span(list(tensor.shape), strides) <= 8 * tensor.numel() else None


def _span(shape: list[int], strides: list[int]) -> int:
    if len(shape) != len(strides) or any(type(stride) is not int or stride < 0 for stride in strides):
        raise ValueError
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
