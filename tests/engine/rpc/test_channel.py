"""A channel delivers whole messages of the protocol in time, and nothing else."""

import json
import socket
import time

import pytest

from grader.engine.rpc import channel
from grader.engine.rpc.channel import LENGTHS, ConnectionClosed, DeadlineExceeded, encode
from grader.engine.rpc.message import ProtocolError
from tests.engine.rpc.conftest import MESSAGE

FIELDS = {"type": "RunCell", "source": "", "name": "cell"}
JSON = json.dumps([FIELDS, []]).encode()
"""A right message, so that only what is wrong beside it can be what is refused."""


def framed(text: bytes, tensors: bytes = b"") -> bytes:
    """The bytes of a message."""
    return LENGTHS.pack(len(text), len(tensors)) + text + tensors


def test_messages_arrive_in_order_and_whole(ends):
    """Also where two arrive in one piece, and one in many pieces."""
    raw, _, sandbox = ends
    message = encode(MESSAGE, [])
    raw.sendall(message + framed(JSON) + message[:5])
    assert [sandbox.receive()[0], sandbox.receive()[0]] == [MESSAGE, MESSAGE]
    raw.sendall(message[5:])
    assert sandbox.receive()[0] == MESSAGE


@pytest.mark.parametrize(
    "message",
    [
        LENGTHS.pack(channel.MAX_JSON_BYTES + 1, 0),
        LENGTHS.pack(2, channel.MAX_TENSOR_BYTES + 1),
        b"\xff" * 8,
        framed(b"nope"),
        framed(b"\xff\xfe"),
        framed(JSON.replace(b"cell", b"\xff\xfe")),
        framed(JSON.replace(b"cell", b"\\ud800")),
        framed(b"[" * 100_000),
        framed(JSON.replace(b'"cell"', b"[" * 100_000)),
        framed(b"9" * 5000),
        framed(JSON, b"\x00" * 8),
        framed(JSON, b"\xff" * 20),
        framed(JSON, b"\x02" + b"\x00" * 7 + b"[]"),
        framed(b""),
        framed(b"null"),
        framed(b"[null,[]]"),
        framed(json.dumps(FIELDS).encode()),
        framed(json.dumps([FIELDS]).encode()),
        framed(json.dumps([FIELDS, [], 1]).encode()),
        framed(JSON + b"[]"),
    ],
    ids=[
        *("json", "tensors", "lengths", "text", "bytes", "string", "surrogate", "deep", "deep field", "digits"),
        *("zeros", "blob", "header", "empty", "null", "no message", "bare", "short", "long", "more"),
    ],
)
def test_garbage_is_refused(ends, message):
    """Sizes are checked before anything is read, and what is read is a message of the protocol or nothing."""
    raw, _, sandbox = ends
    raw.sendall(message)
    raw.shutdown(socket.SHUT_WR)
    with pytest.raises(ProtocolError):
        sandbox.receive()


def _blob(header: dict) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(16)


FOUR = {"0": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
"""The header of a right tensor."""


@pytest.mark.parametrize(
    "header",
    [
        {"0": {"dtype": "F32", "shape": [3], "data_offsets": [0, 16]}},
        {"0": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 16]}},
        {"0": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}},
        {"1": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}},
        {"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}},
        {"0": {"dtype": "F8_E4M3", "shape": [16], "data_offsets": [0, 16]}},
        {"0": {"dtype": "F32", "shape": [4], "data_offsets": [0, 99]}},
        {"0j": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}},
        {"0j": {"dtype": "F64", "shape": [2, 1], "data_offsets": [0, 16]}},
    ],
    ids=["shape", "huge", "negative", "number", "name", "dtype", "offset", "float32", "no pairs"],
)
def test_tensors_that_misdescribe_themselves_are_refused(ends, header):
    """Shape, name, dtype and place must fit the bytes, as those of the right tensor in front do."""
    raw, _, sandbox = ends
    raw.sendall(framed(JSON, _blob(FOUR)) + framed(JSON, _blob(header)))
    assert sandbox.receive()[1].tensors[0].tolist() == [0, 0, 0, 0]
    with pytest.raises(ProtocolError):
        sandbox.receive()


@pytest.mark.parametrize(
    "layouts",
    [
        *([[0, [0]]], [[0, [-1]]], [[0, [1, 1]]], [[0, [2**40]]], [[0, ["1"]]], [[0, None]], [[0]], {"0": [1]}, 7),
        *([[0, [True]]], [[0, [2**70]]], [["x", [1]]], [[0, [1.0]]], [[0, [1], 1]], None),
    ],
    ids=str,
)
def test_strides_that_do_not_fit_are_refused(ends, layouts):
    """Strides may not overlap, reach far, be missing or be something else; right ones in front are accepted."""
    raw, _, sandbox = ends
    for sent in ([[0, [2]]], layouts):
        raw.sendall(framed(json.dumps([FIELDS, sent]).encode(), _blob(FOUR)))
    assert sandbox.receive()[1].tensors[0].stride() == (2,)
    with pytest.raises(ProtocolError):
        sandbox.receive()


def test_a_message_that_is_too_long_is_not_sent(ends):
    """The sender hears of it: the receiver would break off."""
    with pytest.raises(ProtocolError, match="bytes of JSON"):
        encode(type(MESSAGE)(source="x" * (channel.MAX_JSON_BYTES + 1), name="cell"), [])


def test_a_string_without_an_encoding_is_not_sent():
    """Outside of trees, which spell such strings out."""
    with pytest.raises(ProtocolError, match="surrogate"):
        encode(type(MESSAGE)(source="\ud800", name="cell"), [])


def test_an_error_quotes_little_of_what_arrived(ends):
    """The instructor reads it in a log: neither a million characters nor what a terminal obeys."""
    raw, _, sandbox = ends
    for fields in (FIELDS | {"\x1b[2J" + "x" * 10**5: 1}, FIELDS | {"type": "\x1b[2J" + "x" * 10**5}):
        raw.sendall(framed(json.dumps([fields, []]).encode()))
        with pytest.raises(ProtocolError) as caught:
            sandbox.receive()
        assert len(str(caught.value)) < 500 and "\x1b" not in str(caught.value)


def test_a_message_that_breaks_off_is_the_end(ends):
    """Half a message and then the end of the stream: the other process is gone."""
    raw, _, sandbox = ends
    raw.sendall(LENGTHS.pack(10, 0) + b"[1,")
    raw.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionClosed):
        sandbox.receive()


def test_waiting_ends_at_the_deadline(ends):
    """Receiving ends, also in the middle of a message; so does sending to a process that does not read."""
    raw, runner, sandbox = ends
    raw.sendall(LENGTHS.pack(10, 0) + b"[1,")
    sandbox.deadline = time.monotonic() + 0.05
    with pytest.raises(DeadlineExceeded):
        sandbox.receive()
    with pytest.raises(DeadlineExceeded):
        sandbox.receive()
    runner.deadline = time.monotonic() + 0.05
    with pytest.raises(DeadlineExceeded):
        runner.send(type(MESSAGE)(source="x" * 2**23, name="cell"), [])


def test_no_except_clause_of_a_test_catches_a_lost_process():
    """`except Exception` in a test cell catches the exceptions of student code, and a hang is not one of them."""
    assert not issubclass(ConnectionClosed, Exception) and not issubclass(DeadlineExceeded, Exception)
