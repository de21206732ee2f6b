"""What crosses between examiner and candidate: a tree as JSON and its tensors as safetensors. Nothing is unpickled.

    value -> (JSON with numbered places, tensors) -> message: two lengths, JSON bytes, safetensors bytes -> socket

None, bool, int, float, str, list, tuple, dict, slice, torch dtypes and plain tensors cross as copies. For everything
else the sender's `refer` hook says what the other side may know of it, and the receiver's `resolve` hook makes of that
what stands for it there.
"""

import json
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from course.grading.tensors import (
    FROM_NAME,
    MAX_TENSOR_BYTES,
    Blob,
    Packed,
    WireError,
    dtype_name,
    to_blob,
)

LENGTHS = struct.Struct(">II")
CHUNK = 1 << 16
MAX_JSON_BYTES = 16 * 2**20
MAX_DEPTH = 32
MAX_NODES = 200_000
MAX_BITS = 14_000
MAX_SAME_HASH = 1_000
"""Keys of a dict that have the same hash: twice as many take four times as long to put in."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode


class Closed(BaseException):
    """The other process is gone. No `except Exception` of a test may take it for what the student's code raised."""


class Late(BaseException):
    """The other process has not answered in time; a BaseException for the same reason."""


@dataclass(frozen=True)
class Reference:
    """Stands for something that does not cross: what the other side is told of it, itself a dict of values."""

    says: dict[str, Any]


def pack(value: Any, refer: Callable[[Any], Reference], tensors: list[torch.Tensor]) -> Any:
    """The JSON tree of `value`; its tensors are appended to `tensors` and stand in the tree as their number there."""
    return _Packer(refer, tensors).walk(value, 0)


def unpack(tree: Any, tensors: list[torch.Tensor], resolve: Callable[[dict[str, Any]], Any]) -> Any:
    """The value of a JSON tree; raises WireError where the tree is none that `pack` makes."""
    try:
        return _Unpacker(resolve, tensors).walk(tree, 0)
    except (TypeError, ValueError) as error:
        raise WireError(f"a message holds what `pack` makes; something else arrived ({type(error).__name__})") from None


class _Packer:
    """Makes one tree.

    No function in a function: one that calls itself would hold a call's tensors until a garbage collection.
    """

    __slots__ = ("nodes", "places", "refer", "tensors")

    def __init__(self, refer: Callable[[Any], Reference], tensors: list[torch.Tensor]) -> None:
        self.refer = refer
        self.tensors = tensors
        self.places: dict[int, int] = {}
        self.nodes = 0

    def walk(self, item: Any, depth: int) -> Any:
        """The tree of `item`, which lies `depth` levels deep."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if item is None or kind is bool or kind is float or kind is str:
            return item
        if kind is int:
            return _checked(item)
        if isinstance(item, torch.Tensor):
            # One tensor under two names stays one: self-attention is called as f(x, x, x).
            if id(item) not in self.places:
                self.places[id(item)] = len(self.tensors)
                self.tensors.append(item)
            return {"tensor": self.places[id(item)]}
        walk, below = self.walk, depth + 1
        if kind is list:
            return [walk(part, below) for part in item]
        if isinstance(item, tuple):
            return {"tuple": [walk(part, below) for part in item]}
        if isinstance(item, dict):
            return {"dict": [[walk(key, below), walk(part, below)] for key, part in item.items()]}
        if depth and kind.__module__ == "numpy" and getattr(item, "shape", None) == ():
            # A number in a list of them: numpy's own stand there easily. Alone, a test may tell it from Python's.
            return walk(item.item(), below)
        for plain in (bool, int, float, str, list):
            if isinstance(item, plain):
                return walk(plain(item), below)
        if kind is slice:
            return {"slice": [walk(part, below) for part in (item.start, item.stop, item.step)]}
        if kind is torch.dtype:
            return {"dtype": dtype_name(item)}
        return {"says": {key: walk(part, below) for key, part in self.refer(item).says.items()}}


class _Unpacker:
    """Makes one value of a tree."""

    __slots__ = ("nodes", "resolve", "tensors")

    def __init__(self, resolve: Callable[[dict[str, Any]], Any], tensors: list[torch.Tensor]) -> None:
        self.resolve = resolve
        self.tensors = tensors
        self.nodes = 0

    def walk(self, item: Any, depth: int) -> Any:
        """The value of `item`, which lies `depth` levels deep."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if kind is not dict and kind is not list:
            return item
        walk, below = self.walk, depth + 1
        if kind is list:
            return [walk(part, below) for part in item]
        # Every message passes here: a match statement would take three times as long.
        [(tag, part)] = item.items()
        if tag == "tensor" and type(part) is int and 0 <= part < len(self.tensors):
            return self.tensors[part]
        if tag == "tuple" and type(part) is list:
            return tuple([walk(inner, below) for inner in part])
        if tag == "dict" and type(part) is list:
            return _dict([(walk(key, below), walk(value, below)) for key, value in part])
        if tag == "slice" and type(part) is list and len(part) == 3:
            return slice(*[walk(bound, below) for bound in part])
        if tag == "dtype" and type(part) is str and part in FROM_NAME:
            return FROM_NAME[part]
        if tag == "says" and type(part) is dict:
            return self.resolve({key: walk(value, below) for key, value in part.items()})
        raise WireError("a message holds what `pack` makes; something else arrived")


def encode(tree: Any, tensors: list[torch.Tensor]) -> bytes:
    """The message that holds them; raises WireError where a tensor cannot cross."""
    blob = to_blob(tensors)
    text = _as_json([tree, blob.layouts]).encode()
    _check_lengths(len(text), len(blob.data))
    return b"".join((LENGTHS.pack(len(text), len(blob.data)), text, blob.data))


def opened(message: bytes) -> tuple[Any, Blob]:
    """The tree of a message, and its tensors as they crossed; raises WireError where it is no message."""
    middle = LENGTHS.size + LENGTHS.unpack_from(message)[0]
    try:
        tree, layouts = json.loads(message[LENGTHS.size : middle].decode())
    except (ValueError, TypeError, RecursionError):
        raise WireError("a message is JSON; what arrived is not") from None
    return tree, Blob(message[middle:], layouts)


def decode(message: bytes, *, watch: bool = False) -> tuple[Any, Packed]:
    """The tree of a message and its tensors; with `watch`, writes into these can be told later. Raises WireError."""
    tree, blob = opened(message)
    return tree, blob.unpacked(watch=watch)


class Channel:
    """One end of a socket between two processes; after `deadline`, a time.monotonic(), it gives up.

    Unless `postponed`, which is asked then, has a later one.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(True)
        self._deadline: float | None = None
        self.postponed: Callable[[], float] | None = None
        self._arrived = bytearray()

    @property
    def deadline(self) -> float | None:
        """When to give up; None for never."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float | None) -> None:
        # The kernel keeps the time: Python's own timeouts would cost a poll() before every read.
        self._deadline = deadline
        seconds = 0.0 if deadline is None else max(deadline - time.monotonic(), 0.001)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _timeval(seconds))

    def send(self, tree: Any, tensors: list[torch.Tensor]) -> None:
        """Encodes and writes. Raises Closed where nobody listens, Late, and WireError where a tensor cannot cross."""
        self.write(encode(tree, tensors))

    def receive(self, *, watch: bool = False) -> tuple[Any, Packed]:
        """Reads and decodes. Raises Closed, Late, WireError."""
        return decode(self.read(), watch=watch)

    def write(self, message: bytes) -> None:
        """Sends a message; raises Closed and Late."""
        rest = memoryview(message)
        while rest:
            self._stay_in_time()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                self._wait_on()
            except OSError:
                raise Closed from None

    def read(self) -> bytes:
        """The next message; raises Closed and Late, and WireError where it is too long."""
        self._await(LENGTHS.size)
        json_bytes, tensor_bytes = LENGTHS.unpack_from(self._arrived)
        _check_lengths(json_bytes, tensor_bytes)
        length = LENGTHS.size + json_bytes + tensor_bytes
        self._await(length)
        if len(self._arrived) == length:
            message, self._arrived = bytes(self._arrived), bytearray()
        else:
            message = bytes(self._arrived[:length])
            del self._arrived[:length]
        return message

    def close(self) -> None:
        self._socket.close()

    def _stay_in_time(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._wait_on()

    def _wait_on(self) -> None:
        """At the deadline: on to a later one, or raises Late."""
        later = self.postponed() if self.postponed is not None else 0.0
        if later <= time.monotonic():
            raise Late
        self.deadline = later

    def _await(self, length: int) -> None:
        """Waits until `length` bytes have arrived. A message mostly comes in one piece: what follows is kept."""
        while len(self._arrived) < length:
            self._stay_in_time()
            try:
                piece = self._socket.recv(max(CHUNK, length - len(self._arrived)))
            except BlockingIOError:
                self._wait_on()
            except OSError:
                raise Closed from None
            else:
                if not piece:
                    raise Closed
                self._arrived += piece


def _timeval(seconds: float) -> bytes:
    """A struct timeval; all zero waits for ever."""
    whole, fraction = divmod(seconds, 1.0)
    return struct.pack("@ll", int(whole), int(fraction * 1e6))


def _check_lengths(json_bytes: int, tensor_bytes: int) -> None:
    if json_bytes > MAX_JSON_BYTES or tensor_bytes > MAX_TENSOR_BYTES:
        raise WireError(
            f"a message may hold {MAX_JSON_BYTES} bytes of JSON and {MAX_TENSOR_BYTES} of tensors; "
            f"this one holds {json_bytes} and {tensor_bytes}"
        )


def _too_large() -> WireError:
    return WireError(f"a value may be {MAX_DEPTH} levels deep and have {MAX_NODES} parts; this one has more")


def _dict(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    if len(items) > MAX_SAME_HASH and max(Counter(hash(key) for key, _ in items).values()) > MAX_SAME_HASH:
        raise WireError(f"no more than {MAX_SAME_HASH} keys of a dict may have the same hash; these have more")
    return dict(items)


def _checked(number: int) -> int:
    # Python itself writes and reads no more than 4300 digits.
    if number.bit_length() > MAX_BITS:
        raise WireError(f"a whole number may have {MAX_BITS} binary digits; this one has {number.bit_length()}")
    return number
