"""What crosses between examiner and candidate: a tree as JSON and its tensors as safetensors. Nothing is unpickled.

    value -> (JSON with numbered places, tensors) -> two lengths, JSON bytes, safetensors bytes -> socket

None, bool, int, float, str, list, tuple, dict, slice, torch dtypes and plain tensors cross as copies. For everything
else the sender's `refer` hook says what the other side may know of it, and the receiver's `resolve` hook makes of that
what stands for it there.
"""

import json
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import safetensors
import torch

LENGTHS = struct.Struct(">II")
MAX_JSON_BYTES = 16 * 2**20
MAX_TENSOR_BYTES = 256 * 2**20
MAX_DEPTH = 32
MAX_NODES = 200_000

_TO_NAME = {
    dtype: str(dtype).removeprefix("torch.")
    for dtype in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
}
_FROM_NAME = {name: dtype for dtype, name in _TO_NAME.items()}
_FROM_CODE = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8},
    "BOOL": torch.bool,
}


class WireError(Exception):
    """A value or message that must not cross; the message says which rule it breaks and what arrived."""


class Closed(Exception):
    """The other process is gone."""


class Late(Exception):
    """The other process has not answered in time."""


class Packed:
    """Tensors of one message as they arrived, and whether anybody has written into them since."""

    def __init__(self, tensors: list[torch.Tensor], buffers: list[bytearray], *, watch: bool) -> None:
        self.tensors = tensors
        self._buffers = buffers
        self._before = [bytes(buffer) for buffer in buffers] if watch else []

    def written(self) -> list[int]:
        """The numbers of the tensors whose memory differs from what arrived: even `.data` hides nothing here."""
        pairs = zip(self._buffers, self._before, strict=True) if self._before else ()
        return [number for number, (now, before) in enumerate(pairs) if now != before]


@dataclass(frozen=True)
class Reference:
    """Stands for something that does not cross: what the other side is told of it, itself a dict of values."""

    says: dict[str, Any]


def pack(value: Any, refer: Callable[[Any], Reference], tensors: list[torch.Tensor]) -> Any:
    """The JSON tree of `value`; its tensors are appended to `tensors` and stand in the tree as their number there."""
    nodes = 0

    def walk(item: Any, depth: int) -> Any:
        nonlocal nodes
        nodes += 1
        _check_size(depth, nodes)
        kind = type(item)
        if item is None or kind is bool or kind is int or kind is float or kind is str:
            return item
        if isinstance(item, torch.Tensor):
            tensors.append(item)
            return {"tensor": len(tensors) - 1}
        if kind is list:
            return [walk(part, depth + 1) for part in item]
        if isinstance(item, tuple):
            return {"tuple": [walk(part, depth + 1) for part in item]}
        if isinstance(item, dict):
            return {"dict": [[walk(key, depth + 1), walk(part, depth + 1)] for key, part in item.items()]}
        for plain in (bool, int, float, str, list):
            if isinstance(item, plain):
                return walk(plain(item), depth + 1)
        if kind is slice:
            return {"slice": [walk(part, depth + 1) for part in (item.start, item.stop, item.step)]}
        if kind is torch.dtype:
            return {"dtype": _name(item)}
        return {"says": {key: walk(part, depth + 1) for key, part in refer(item).says.items()}}

    return walk(value, 0)


def unpack(tree: Any, tensors: list[torch.Tensor], resolve: Callable[[dict[str, Any]], Any]) -> Any:
    """The value of a JSON tree; raises WireError where the tree is none that `pack` makes."""
    nodes = 0

    def walk(item: Any, depth: int) -> Any:
        nonlocal nodes
        nodes += 1
        _check_size(depth, nodes)
        if isinstance(item, list):
            return [walk(part, depth + 1) for part in item]
        match item:
            case {"tensor": int(number)} if 0 <= number < len(tensors):
                return tensors[number]
            case {"tuple": list(parts)}:
                return tuple(walk(part, depth + 1) for part in parts)
            case {"dict": list(pairs)}:
                return {walk(key, depth + 1): walk(part, depth + 1) for key, part in pairs}
            case {"slice": [_, _, _] as parts}:
                return slice(*(walk(part, depth + 1) for part in parts))
            case {"dtype": str(name)} if name in _FROM_NAME:
                return _FROM_NAME[name]
            case {"says": dict(said)}:
                return resolve({key: walk(part, depth + 1) for key, part in said.items()})
            case dict():
                raise WireError("a message holds what `pack` makes; something else arrived")
        return item

    try:
        return walk(tree, 0)
    except (TypeError, ValueError) as error:
        raise WireError(f"a message holds what `pack` makes; something else arrived ({type(error).__name__})") from None


class Channel:
    """One end of a socket between two processes; `deadline` is a time.monotonic() after which receiving gives up."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self.deadline: float | None = None

    def send(self, tree: Any, tensors: list[torch.Tensor]) -> None:
        """Sends a message; raises Closed where nobody listens and WireError where a tensor cannot cross."""
        text = json.dumps(tree, separators=(",", ":")).encode()
        blob = _to_bytes(tensors) if tensors else b""
        _check_lengths(len(text), len(blob))
        try:
            self._socket.settimeout(self._remaining())
            self._socket.sendall(b"".join((LENGTHS.pack(len(text), len(blob)), text, blob)))
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def receive(self, *, watch: bool = False) -> tuple[Any, Packed]:
        """The next message; with `watch`, writes into its tensors can be told later. Raises Closed, Late, WireError."""
        lengths = LENGTHS.unpack(self._read(LENGTHS.size))
        _check_lengths(*lengths)
        text, blob = (self._read(length) if length else b"" for length in lengths)
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            raise WireError("a message is JSON; what arrived is not") from None
        return tree, _from_bytes(bytes(blob), watch) if blob else Packed([], [], watch=False)

    def close(self) -> None:
        self._socket.close()

    def _remaining(self) -> float | None:
        if self.deadline is None:
            return None
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            raise Late
        return remaining

    def _read(self, length: int) -> bytearray:
        buffer = bytearray(length)
        view, got = memoryview(buffer), 0
        while got < length:
            try:
                self._socket.settimeout(self._remaining())
                count = self._socket.recv_into(view[got:])
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if count == 0:
                raise Closed
            got += count
        return buffer


def _check_lengths(json_bytes: int, tensor_bytes: int) -> None:
    if json_bytes > MAX_JSON_BYTES or tensor_bytes > MAX_TENSOR_BYTES:
        raise WireError(
            f"a message may hold {MAX_JSON_BYTES} bytes of JSON and {MAX_TENSOR_BYTES} of tensors; "
            f"this one holds {json_bytes} and {tensor_bytes}"
        )


def _check_size(depth: int, nodes: int) -> None:
    if depth > MAX_DEPTH or nodes > MAX_NODES:
        raise WireError(f"a value may be {MAX_DEPTH} levels deep and have {MAX_NODES} parts; this one has more")


def _name(dtype: torch.dtype) -> str:
    if dtype not in _TO_NAME:
        raise WireError(f"tensors of {dtype} do not cross; expected one of {', '.join(_TO_NAME.values())}")
    return _TO_NAME[dtype]


def _to_bytes(tensors: list[torch.Tensor]) -> bytes:
    # serialize() reads memory by address: `alive` keeps what the addresses point at until it is done.
    specs, alive = {}, []
    for number, tensor in enumerate(tensors):
        if tensor.layout is not torch.strided or tensor.device.type != "cpu":
            raise WireError(f"only dense CPU tensors cross; got {tensor.layout} on {tensor.device}")
        plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
        alive.append(plain)
        specs[str(number)] = safetensors.TensorSpec(
            dtype=_name(plain.dtype), shape=list(plain.shape), data_ptr=plain.data_ptr(), data_len=plain.nbytes
        )
    return safetensors.serialize(specs)


def _from_bytes(blob: bytes, watch: bool) -> Packed:
    try:
        entries = {int(name): entry for name, entry in safetensors.deserialize(blob)}
        ordered = [entries[number] for number in range(len(entries))]
        buffers = [bytearray(entry["data"]) for entry in ordered]
        tensors = [
            torch.frombuffer(buffer, dtype=_FROM_CODE[entry["dtype"]]).reshape(entry["shape"])
            if buffer
            else torch.empty(entry["shape"], dtype=_FROM_CODE[entry["dtype"]])
            for entry, buffer in zip(ordered, buffers, strict=True)
        ]
    except (safetensors.SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise WireError(f"tensors cross as safetensors; what arrived is not ({type(error).__name__})") from None
    return Packed(tensors, buffers, watch=watch)
