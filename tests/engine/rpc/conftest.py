"""Shares the two ends of a connection, and a message to send over it."""

import socket
from collections.abc import Iterator

import pytest

from grader.engine.rpc.channel import FROM_SANDBOX, TO_SANDBOX, Channel
from grader.engine.rpc.protocol import RunCell

MESSAGE = RunCell(source="", name="cell")
"""A message without tensors of its own."""


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel, Channel]]:
    """The runner's socket, the runner's channel over it, and the sandbox's channel at the other end."""
    runner, sandbox = socket.socketpair()
    with runner, sandbox:
        yield runner, Channel(runner, FROM_SANDBOX), Channel(sandbox, TO_SANDBOX)
