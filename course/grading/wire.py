"""What crosses between examiner and candidate: a tree as JSON and its tensors as safetensors. Nothing is unpickled.

value --values.pack--> (tree, tensors) -> message: two lengths, JSON bytes, safetensors bytes -> socket
"""

import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import torch

from course.grading.tensors import MAX_TENSOR_BYTES, Blob, Packed, WireError, to_blob

LENGTHS = struct.Struct(">II")
CHUNK = 1 << 16
MAX_JSON_BYTES = 16 * 2**20

# What crosses has no circles; to look for them would take a fifth of the time.
_as_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_from_json = json.JSONDecoder().decode


class Closed(BaseException):
    """The other process is gone. No `except Exception` of a test may take it for what the student's code raised."""


class Late(BaseException):
    """The other process has not answered in time; a BaseException for the same reason."""


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
        tree, layouts = _from_json(message[LENGTHS.size : middle].decode())
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
        lengths = LENGTHS.unpack_from(self._arrived)
        _check_lengths(*lengths)
        length = LENGTHS.size + sum(lengths)
        self._await(length)
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
