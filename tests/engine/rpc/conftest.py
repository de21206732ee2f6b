"""Shares the two ends of a connection, and a message to send over it."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, Channel, decode, encode
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.protocol import CallbackReturned, RunCell
from grader.engine.rpc.values.trees import pack, unpack

MESSAGE = RunCell(source="", name="cell")
"""A message without tensors of its own."""


def refuse(item: Any, place: Any) -> Any:
    """A hook for both directions that accepts no object."""
    raise ProtocolError(f"no {type(item).__name__}")


def crossed(value: Any) -> Any:
    """The value as it arrives: packed, sent, received and unpacked."""
    tensors = []
    message = CallbackReturned(value=pack(value, refuse, tensors))
    arrived, decoded = decode(encode(message, tensors), TO_SANDBOX)
    return unpack(arrived.value, decoded.tensors, refuse, found=decoded.arrays)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel, Channel]]:
    """The runner's socket, the runner's channel over it, and the sandbox's channel at the other end."""
    runner, sandbox = socket.socketpair()
    with runner, sandbox:
        yield runner, Channel(runner, FROM_SANDBOX), Channel(sandbox, TO_SANDBOX)
