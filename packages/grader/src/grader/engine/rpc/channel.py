"""Sends and receives messages: JSON and safetensors over a socket, with a deadline. Nothing is unpickled.

message, tensors -> two lengths, JSON bytes, safetensors bytes -> socket -> message, tensors
"""

import socket
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from grader.engine.rpc.message import Message, ProtocolError
from grader.engine.rpc.protocol import MAX_LINE, FromSandboxMessage, ToSandbox
from grader.engine.rpc.values.tensors import MAX_TENSOR_BYTES, DecodedTensors, EncodedTensors, Layouts, encoded
from grader.engine.torch_if_used import torch
from grader.text import printable

LENGTHS = struct.Struct(">II")
CHUNK = 1 << 16
MAX_JSON_BYTES = 16 * 2**20

_to_json = msgspec.json.Encoder().encode
TO_SANDBOX = msgspec.json.Decoder(tuple[ToSandbox, Layouts])
"""Decodes messages in the sandbox."""
FROM_SANDBOX = msgspec.json.Decoder(tuple[FromSandboxMessage, Layouts])
"""Decodes messages in the runner."""


class ConnectionClosed(BaseException):
    """The other process is gone. A BaseException, so that no test mistakes it for an error of student code."""


class DeadlineExceeded(BaseException):
    """The other process did not answer in time. A BaseException for the same reason."""


def encode(message: Message, tensors: list[torch.Tensor]) -> bytes:
    """Return the bytes of a message.

    Args:
        message: the message.
        tensors: the tensors that it refers to by number, in this order.

    Raises:
        ProtocolError: a tensor cannot cross, a string cannot be encoded, or the message is too long.
    """
    parts = encoded(tensors)
    try:
        text = _to_json((message, parts.layouts))
    except UnicodeEncodeError:
        raise ProtocolError("text in a message must be encodable; this one has half of a surrogate pair") from None
    _check_lengths(len(text), len(parts.data))
    return b"".join((LENGTHS.pack(len(text), len(parts.data)), text, parts.data))


def opened(data: bytes, decoder: msgspec.json.Decoder) -> tuple[Any, EncodedTensors]:
    """Return the message in `data` and its encoded tensors.

    Args:
        data: the bytes of one message.
        decoder: TO_SANDBOX or FROM_SANDBOX, depending on who receives the message.

    Raises:
        ProtocolError: the protocol does not define this message.
    """
    middle = LENGTHS.size + LENGTHS.unpack_from(data)[0]
    try:
        message, layouts = decoder.decode(data[LENGTHS.size : middle])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        why = printable(error, MAX_LINE)
        raise ProtocolError(f"the protocol defines all messages; the one that arrived is none of them: {why}") from None
    return message, EncodedTensors(data[middle:], layouts)


def decode(data: bytes, decoder: msgspec.json.Decoder, *, watch: bool = False) -> tuple[Any, DecodedTensors]:
    """Return the message in `data` and its tensors.

    Args:
        data: the bytes of one message.
        decoder: TO_SANDBOX or FROM_SANDBOX, depending on who receives the message.
        watch: whether `DecodedTensors.written` is to detect writes into the tensors.

    Raises:
        ProtocolError: the protocol does not define this message, or its tensors cannot be decoded.
    """
    message, tensors = opened(data, decoder)
    return message, tensors.decoded(watch=watch)


class MessageChannel(Protocol):
    """Sends and receives messages: a `Channel`, or an `answer_cache.Session` on top of one."""

    def send(self, message: Message, tensors: list[torch.Tensor]) -> None: ...

    def receive(self) -> tuple[Any, DecodedTensors]: ...


class Channel:
    """One end of a socket between two processes.

    At `deadline`, a time.monotonic(), it calls `postponed` if that is set, and gives up unless it returns a later one.

    Args:
        connection: the socket.
        incoming: the decoder of incoming messages: TO_SANDBOX in the sandbox, FROM_SANDBOX in the runner.
    """

    def __init__(self, connection: socket.socket, incoming: msgspec.json.Decoder) -> None:
        self._socket = connection
        self._socket.setblocking(True)
        self._incoming = incoming
        self._deadline: float | None = None
        self.postponed: Callable[[], float] | None = None
        self._arrived = bytearray()

    @property
    def deadline(self) -> float | None:
        """The time.monotonic() at which to give up, or None."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float | None) -> None:
        # The kernel keeps the time: Python's own timeouts would cost a poll() before every read.
        self._deadline = deadline
        seconds = 0.0 if deadline is None else max(deadline - time.monotonic(), 0.001)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _timeval(seconds))

    def send(self, message: Message, tensors: list[torch.Tensor]) -> None:
        """Send a message; raise what `encode` and `write` raise.

        Args:
            message: the message.
            tensors: the tensors that it refers to by number, in this order.
        """
        self.write(encode(message, tensors))

    def receive(self, *, watch: bool = False) -> tuple[Any, DecodedTensors]:
        """Return the next message and its tensors; raise what `read` and `decode` raise."""
        return decode(self.read(), self._incoming, watch=watch)

    def write(self, message: bytes) -> None:
        """Send the bytes of a message; raise ConnectionClosed or DeadlineExceeded."""
        rest = memoryview(message)
        while rest:
            self._stay_in_time()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                self._wait_on()
            except OSError:
                raise ConnectionClosed from None

    def read(self) -> bytes:
        """Return the bytes of the next message.

        Raises:
            ConnectionClosed: the other process is gone.
            DeadlineExceeded: it did not answer in time.
            ProtocolError: the message is too long.
        """
        self._await(LENGTHS.size)
        lengths = LENGTHS.unpack_from(self._arrived)
        _check_lengths(*lengths)
        length = LENGTHS.size + sum(lengths)
        self._await(length)
        message = bytes(self._arrived[:length])
        del self._arrived[:length]
        return message

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _stay_in_time(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._wait_on()

    def _wait_on(self) -> None:
        """Move on to a later deadline, or raise DeadlineExceeded if there is none."""
        later = self.postponed() if self.postponed is not None else 0.0
        if later <= time.monotonic():
            raise DeadlineExceeded
        self.deadline = later

    def _await(self, length: int) -> None:
        """Wait until `length` bytes have arrived. Most messages arrive in one piece; surplus bytes are kept."""
        while len(self._arrived) < length:
            self._stay_in_time()
            try:
                piece = self._socket.recv(max(CHUNK, length - len(self._arrived)))
            except BlockingIOError:
                self._wait_on()
            except OSError:
                raise ConnectionClosed from None
            else:
                if not piece:
                    raise ConnectionClosed
                self._arrived += piece


def _timeval(seconds: float) -> bytes:
    """Return a struct timeval; zero means to wait forever."""
    whole, fraction = divmod(seconds, 1.0)
    return struct.pack("@ll", int(whole), int(fraction * 1e6))


def _check_lengths(json_bytes: int, tensor_bytes: int) -> None:
    if json_bytes > MAX_JSON_BYTES or tensor_bytes > MAX_TENSOR_BYTES:
        raise ProtocolError(
            f"a message may hold {MAX_JSON_BYTES} bytes of JSON and {MAX_TENSOR_BYTES} of tensors; "
            f"this one holds {json_bytes} and {tensor_bytes}"
        )
