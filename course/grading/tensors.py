"""Tensors as bytes and back: values as safetensors, and beside them the order that they had in memory."""

from dataclasses import dataclass
from typing import Any

import safetensors
import torch

MAX_TENSOR_BYTES = 256 * 2**20

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
"""Ends the name of a tensor of complex128, which safetensors does not know: it crosses as pairs of float64."""


class WireError(Exception):
    """A value or message that must not cross; the message says which rule it breaks and what arrived."""


@dataclass(frozen=True)
class Blob:
    """The tensors of one message as they cross: safetensors, and by number the strides of those not in order."""

    data: bytes = b""
    layouts: Any = ()

    def unpacked(self, *, watch: bool = False) -> "Packed":
        """The tensors anew; with `watch`, writes into them can be told later. Raises WireError where they are none."""
        return _from_blob(self, watch) if self.data else Packed([], [], watch=False)


class Packed:
    """Tensors of one message as they arrived, and whether anybody has written into them since."""

    def __init__(self, tensors: list[torch.Tensor], buffers: list[bytearray], *, watch: bool) -> None:
        self.tensors = tensors
        self._watched = list(zip(tensors, buffers, strict=True)) if watch else []
        self._before = [(bytes(buffer), *_place(tensor)) for tensor, buffer in self._watched]

    def written(self) -> list[int]:
        """The numbers of the tensors whose memory or shape is not what arrived: even `.data` hides nothing here."""
        now = [(buffer, *_place(tensor)) for tensor, buffer in self._watched]
        return [number for number, before in enumerate(self._before) if before != now[number]]


def _place(tensor: torch.Tensor) -> tuple[int, torch.Size, tuple[int, ...]]:
    """Where the numbers of a tensor lie; `tensor.data = other` gives it another memory."""
    return tensor.data_ptr(), tensor.shape, tensor.stride()


def dtype_name(dtype: torch.dtype) -> str:
    """How a dtype is called on the way; raises WireError for one that does not cross."""
    if dtype not in _TO_NAME:
        raise WireError(f"tensors of {dtype} do not cross; expected one of {', '.join(_TO_NAME.values())}")
    return _TO_NAME[dtype]


def same(known: torch.Tensor | None, tensor: torch.Tensor) -> bool:
    """Whether `tensor` is what is known of it, kind and all."""
    return known is not None and known.dtype is tensor.dtype and known.equal(tensor)


def to_blob(tensors: list[torch.Tensor]) -> Blob:
    """What crosses of `tensors`; raises WireError where one cannot cross."""
    if not tensors:
        return Blob()
    # serialize() reads memory by address: `alive` keeps what the addresses point at until it is done.
    specs, alive, layouts = {}, [], []
    for number, tensor in enumerate(tensors):
        if tensor.layout is not torch.strided or not tensor.is_cpu:
            raise WireError(f"only dense CPU tensors cross; got {tensor.layout} on {tensor.device}")
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
    return Blob(safetensors.serialize(specs), layouts)


def _from_blob(blob: Blob, watch: bool) -> Packed:
    try:
        entries = {int(name.removesuffix(PAIRS)): (name, entry) for name, entry in safetensors.deserialize(blob.data)}
        strides, room = {int(number): strides for number, strides in blob.layouts}, MAX_TENSOR_BYTES
        tensors, buffers = [], []
        for number in range(len(entries)):
            name, entry = entries[number]
            dtype, shape, buffer = _FROM_CODE[entry["dtype"]], entry["shape"], entry["data"]
            if name.endswith(PAIRS):
                if dtype is not torch.float64 or shape[-1:] != [2]:
                    raise ValueError
                dtype, shape = torch.complex128, shape[:-1]
            # Not reshape(), here and below: autograd would take the result for a view, which a test may not write into.
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
        raise WireError(f"tensors cross as safetensors; what arrived is not ({type(error).__name__})") from None
    return Packed(tensors, buffers, watch=watch)


def _strides(tensor: torch.Tensor) -> list[int] | None:
    """The strides of a tensor that is not in order in memory: `.view` must fail there where it fails here.

    None for one that overlaps itself, or that has much more between its numbers than numbers; what lies between them
    never crosses.
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
