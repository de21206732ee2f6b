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


def described(header: object, layouts: object = ()) -> bytes:
    """A right message with four numbers, whose header and layouts say this about them."""
    text = json.dumps(header).encode()
    return framed(json.dumps([FIELDS, layouts]).encode(), len(text).to_bytes(8, "little") + text + bytes(16))


def four(name: str = "0", dtype: str = "F32", shape: tuple[int, ...] = (4,), end: int = 16) -> dict[str, object]:
    """The header of a right tensor, or of one that misdescribes itself."""
    return {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}}


GARBAGE = {
    "json": LENGTHS.pack(channel.MAX_JSON_BYTES + 1, 0),
    "tensors": LENGTHS.pack(2, channel.MAX_TENSOR_BYTES + 1),
    "lengths": b"\xff" * 8,
    "text": framed(b"nope"),
    "bytes": framed(b"\xff\xfe"),
    "string": framed(JSON.replace(b"cell", b"\xff\xfe")),
    "surrogate": framed(JSON.replace(b"cell", b"\\ud800")),
    "deep": framed(b"[" * 100_000),
    "deep field": framed(JSON.replace(b'"cell"', b"[" * 100_000)),
    "digits": framed(b"9" * 5000),
    "not a number": framed(JSON.replace(b'"cell"', b"NaN")),
    "infinite": framed(JSON.replace(b'"cell"', b"1e999")),
    "two types": framed(JSON.replace(b'"source": ""', b'"source": "", "type": "Call"')),
    "zeros": framed(JSON, b"\x00" * 8),
    "blob": framed(JSON, b"\xff" * 20),
    "header": framed(JSON, b"\x02" + b"\x00" * 7 + b"[]"),
    "empty": framed(b""),
    "null": framed(b"null"),
    "no message": framed(b"[null,[]]"),
    "bare": framed(json.dumps(FIELDS).encode()),
    "short": framed(json.dumps([FIELDS]).encode()),
    "long": framed(json.dumps([FIELDS, [], 1]).encode()),
    "more": framed(JSON + b"[]"),
    "shape": described(four(shape=(3,))),
    "huge shape": described(four(shape=(2**40,))),
    "nothing of a huge shape": described(four(shape=(0, 2**62), end=0)),
    "negative shape": described(four(shape=(-4,))),
    "number": described(four("1")),
    "name": described(four("x")),
    "dtype": described(four(dtype="F8_E4M3", shape=(16,))),
    "offset": described(four(end=99)),
    "float32 pairs": described(four("0j", shape=(2, 2))),
    "no pairs": described(four("0j", "F64", (2, 1))),
    **{
        f"strides {layouts}": described(four(), layouts)
        for layouts in (
            *([[0, [0]]], [[0, [-1]]], [[0, [1, 1]]], [[0, [2**40]]], [[0, ["1"]]], [[0, None]], [[0]], {"0": [1]}, 7),
            *([[0, [True]]], [[0, [2**70]]], [["x", [1]]], [[0, [1.0]]], [[0, [1], 1]], None, [7], [[True, [1]]]),
        )
    },
}
"""Sizes, texts, messages, headers of tensors and strides that break a rule of the protocol."""


@pytest.mark.parametrize("message", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused(ends, message):
    """Sizes are checked before anything is read; shapes and strides must fit, as those of the message in front do."""
    raw, _, sandbox = ends
    raw.sendall(described(four(), [[0, [2]]]) + message)
    raw.shutdown(socket.SHUT_WR)
    right = sandbox.receive()[1].tensors[0]
    assert right.tolist() == [0, 0, 0, 0] and right.stride() == (2,)
    with pytest.raises(ProtocolError):
        sandbox.receive()


def test_a_message_that_the_receiver_would_refuse_is_not_sent():
    """The sender hears of one that is too long, and of a string without an encoding outside of trees."""
    for source, rule in (("x" * (channel.MAX_JSON_BYTES + 1), "bytes of JSON"), ("\ud800", "surrogate")):
        with pytest.raises(ProtocolError, match=rule):
            encode(type(MESSAGE)(source=source, name="cell"), [])


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
