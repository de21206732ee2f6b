"""What crosses: values and tensors come out as they went in, and nothing else comes in at all."""

import json
import socket
import time

import numpy
import pytest
import torch

from course.grading import values, wire
from course.grading.values import Reference, pack, unpack
from course.grading.wire import LENGTHS, Channel, Closed, Late, WireError

DTYPES = [
    *(torch.complex128, torch.complex64, torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint64, torch.uint32, torch.uint16, torch.uint8),
]


@pytest.fixture
def ends():
    """The two ends of a connection, and the raw socket behind the first."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Channel(ours), Channel(theirs)


def refuse(item):
    raise WireError(f"no {type(item).__name__}")


def crossed(tensors, ends):
    _, ours, theirs = ends
    ours.send(None, tensors)
    return theirs.receive()[1].tensors


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (2, 3)], ids=str)
def test_tensors_of_every_kind_and_shape_cross(ends, dtype, shape):
    """Empty ones and those without a dimension too, bit for bit."""
    tensor = (torch.rand(shape) * 3).to(dtype)
    (got,) = crossed([tensor], ends)
    assert got.dtype is dtype and got.shape == tensor.shape and torch.equal(got, tensor)


def test_tensors_keep_their_order_in_memory(ends):
    """Transposed and strided ones arrive so, for `.view` must fail there where it fails here."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    views = [x.transpose(0, 2), x[:, ::2], x[:, :, 1:3], x.permute(2, 0, 1)[1:], x[:, 0], x.flip(0), x[0, 0, 1]]
    views += [torch.polar(x, x).mT.conj(), torch.polar(x, x).to(torch.complex128).mT.conj()]
    for view, got in zip(views, crossed(views, ends), strict=True):
        assert torch.equal(got, view) and got.stride() == view.stride()


def test_a_tensor_that_overlaps_itself_is_put_in_order(ends):
    """Expanded ones and windows arrive as the values they show; a gradient's wish does not travel this way."""
    x = torch.arange(6.0, requires_grad=True)
    views = [x[0].expand(5), x.unfold(0, 3, 1), x[::2].expand(2, 3)]
    for view, got in zip(views, crossed(views, ends), strict=True):
        assert torch.equal(got, view) and got.is_contiguous() and not got.requires_grad


def test_what_lies_between_the_numbers_stays_here(ends):
    """A test that hands over one column of a table does not hand over the table."""
    table = torch.arange(12.0).reshape(4, 3)
    (got,) = crossed([table[:, 0]], ends)
    assert torch.equal(got, table[:, 0])
    behind = torch.tensor([], dtype=torch.float32).set_(got.untyped_storage())
    assert behind.tolist() == [0, 0, 0, 3, 0, 0, 6, 0, 0, 9]


def test_floats_that_are_no_numbers_cross(ends):
    """NaN and the infinities, in tensors and on their own."""
    _, ours, theirs = ends
    ours.send([float("nan"), float("inf"), -float("inf")], [torch.tensor([float("nan"), float("inf"), -0.0])])
    (nan, inf, minus), packed = theirs.receive()
    assert nan != nan and inf == float("inf") and minus == -inf
    assert packed.tensors[0].isnan().tolist() == [True, False, False] and packed.tensors[0][2].signbit()


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(1, dtype=torch.float8_e5m2), torch.eye(2).to_sparse(), torch.zeros(1, device="meta")],
    ids=["float8", "sparse", "meta"],
)
def test_other_tensors_are_refused_by_name(ends, tensor):
    """The message says what crosses and what this one is."""
    with pytest.raises(WireError, match="cross; (got|expected)"):
        ends[1].send(None, [tensor])


def test_what_was_written_into_is_known(ends):
    """By content: writing the same value is no write, `.data` is one."""
    _, ours, theirs = ends
    ours.send(None, [torch.ones(2), torch.ones(2), torch.ones(0)])
    _, packed = theirs.receive(watch=True)
    packed.tensors[0].fill_(1)
    packed.tensors[1].data[0] = 2
    assert packed.written() == [1]


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ([[]] * (values.MAX_NODES + 1), "parts"),
        (10**5000, "digits"),
        (object(), "no object"),
        ({1, 2}, "no set"),
        (torch.float8_e5m2, "do not cross"),
    ],
    ids=["many", "long", "object", "set", "dtype"],
)
def test_values_out_of_bounds_are_not_packed(value, rule):
    """The sender hears which rule its value breaks."""
    with pytest.raises(WireError, match=rule):
        pack(value, refuse, [])


def test_depth_is_bounded_at_both_ends():
    """What packs may be exactly as deep as what unpacks."""
    value = "leaf"
    for _ in range(values.MAX_DEPTH):
        value = [value]
    assert unpack(pack(value, refuse, []), [], refuse) == value
    with pytest.raises(WireError, match="levels"):
        pack([value], refuse, [])
    with pytest.raises(WireError, match="levels"):
        unpack([value], [], refuse)


def test_keys_that_collide_are_refused():
    """A dict of 40,000 keys with one hash would take half a minute; as many keys of an honest dict cross."""
    cannot_refer = lambda item: Reference({})  # noqa: E731
    collide = dict.fromkeys(number * (2**61 - 1) for number in range(1_001))
    with pytest.raises(WireError, match="1000 keys of a dict"):
        unpack(pack(collide, cannot_refer, []), [], lambda said: None)
    honest = {number: str(number) for number in range(40_000)}
    assert unpack(pack(honest, cannot_refer, []), [], lambda said: None) == honest


@pytest.mark.parametrize("name", values.NUMPY_DTYPES)
def test_a_number_of_numpy_stays_one(name):
    """Of the same dtype, to the last bit, and as a key of a dict."""
    number = numpy.dtype(name).type(1 / 3)
    [[key, got]] = unpack(json.loads(json.dumps(pack({number: number}, refuse, []))), [], refuse).items()
    assert type(got) is type(key) is type(number) and got == key == number


def test_a_number_of_numpy_that_no_tensor_can_hold_is_refused():
    """Dates, and floats that are longer on some processors than on others."""
    for number in (numpy.datetime64("2026-01-01"), numpy.longdouble(1)):
        with pytest.raises(WireError, match="no "):
            pack(number, refuse, [])


def test_a_reference_says_what_the_sender_says():
    """What does not cross is named by the sender and made of that by the receiver."""
    tensors = []
    tree = pack([object()], lambda item: Reference({"number": 3, "of": torch.ones(1)}), tensors)
    assert unpack(json.loads(json.dumps(tree)), tensors, lambda said: (said["number"], said["of"].item())) == [(3, 1.0)]


@pytest.mark.parametrize(
    "tree",
    [
        *({"tensor": 0}, {"tensor": -1}, {"tensor": "0"}, {"tuple": 3}, {"dict": [[1]]}, {"dict": [[[], 1]]}),
        *({"dict": [1]}, {"slice": [1, 2]}, {"dtype": "float8"}, {"dtype": "__class__"}, {"says": 1}, {}, {"x": 1}),
        *({"dict": {"a": 1}}, {"tensor": None}, [{"tuple": [{"tensor": 7}]}]),
        *({"named": ["Pair", ["a"], [1, 2]]}, {"named": ["Pair", ["a", "a"], [1, 2]]}, {"named": ["Pair", 7, [1]]}),
        *({"named": ["a b", ["a"], [1]]}, {"named": ["Pair", ["a=print()"], [1]]}, {"named": ["Pair", ["_a"], [1]]}),
        *({"named": ["Pair", ["a"]]}, {"named": ["Pair", [["a"]], [1]]}, {"named": [7, ["a"], [1]]}, {"named": "Pair"}),
        *({"named": ["Pair", [f"a{number}" for number in range(200)], [0] * 200]}, {"named": ["P" * 200, ["a"], [1]]}),
        *(
            {"numpy": ["int64", "00"]},
            {"numpy": ["int64", "0" * 32]},
            {"numpy": ["int64", "x"]},
            {"numpy": ["int64", 1]},
        ),
        *({"numpy": ["object", "0" * 16]}, {"numpy": [["int64"], "0" * 16]}, {"numpy": ["int64"]}, {"numpy": "int64"}),
    ],
    ids=lambda tree: str(tree)[:60],
)
def test_trees_that_pack_does_not_make_are_refused(tree):
    """However they are made up, they end in a WireError and in nothing else."""
    with pytest.raises(WireError):
        unpack(tree, [], refuse)


@pytest.mark.parametrize(
    "message",
    [
        LENGTHS.pack(wire.MAX_JSON_BYTES + 1, 0),
        LENGTHS.pack(2, wire.MAX_TENSOR_BYTES + 1),
        b"\xff" * 8,
        LENGTHS.pack(4, 0) + b"nope",
        LENGTHS.pack(2, 0) + b"\xff\xfe",
        LENGTHS.pack(100_000, 0) + b"[" * 100_000,
        LENGTHS.pack(5000, 0) + b"9" * 5000,
        LENGTHS.pack(9, 8) + b"[null,[]]" + b"\x00" * 8,
        LENGTHS.pack(9, 20) + b"[null,[]]" + b"\xff" * 20,
        LENGTHS.pack(9, 10) + b"[null,[]]" + b"\x02" + b"\x00" * 7 + b"[]",
        LENGTHS.pack(0, 0),
        LENGTHS.pack(4, 0) + b"null",
    ],
    ids=["json", "tensors", "lengths", "text", "bytes", "deep", "digits", "zeros", "blob", "header", "empty", "bare"],
)
def test_garbage_is_refused(ends, message):
    """Sizes are checked before anything is read, and what is read is JSON and safetensors or nothing."""
    raw, _, theirs = ends
    raw.sendall(message)
    raw.shutdown(socket.SHUT_WR)
    with pytest.raises(WireError):
        theirs.receive()


def _blob(header: dict) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(16)


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
def test_tensors_that_lie_about_themselves_are_refused(ends, header):
    """Shape, name, kind and place must fit the bytes."""
    raw, _, theirs = ends
    raw.sendall(LENGTHS.pack(9, len(_blob(header))) + b"[null,[]]" + _blob(header))
    with pytest.raises(WireError):
        theirs.receive()


@pytest.mark.parametrize(
    "layouts",
    [
        *([[0, [0]]], [[0, [-1]]], [[0, [1, 1]]], [[0, [2**40]]], [[0, ["1"]]], [[0, None]], [[0]], {"0": [1]}, 7),
        *([[0, [True]]], [[0, [2**70]]], [["x", [1]]]),
    ],
    ids=str,
)
def test_an_order_in_memory_that_does_not_fit_is_refused(ends, layouts):
    """Strides may not overlap, reach far, be missing or be something else."""
    raw, _, theirs = ends
    blob = _blob({"0": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})
    text = json.dumps([None, layouts]).encode()
    raw.sendall(LENGTHS.pack(len(text), len(blob)) + text + blob)
    with pytest.raises(WireError):
        theirs.receive()


def test_a_message_that_breaks_off_is_the_end(ends):
    """Half a message and silence for good: the other process is gone."""
    raw, _, theirs = ends
    raw.sendall(LENGTHS.pack(10, 0) + b"[1,")
    raw.shutdown(socket.SHUT_WR)
    with pytest.raises(Closed):
        theirs.receive()


def test_nobody_waits_for_ever(ends):
    """After the deadline receiving ends, also in the middle of a message; so does sending to one who does not read."""
    raw, ours, theirs = ends
    raw.sendall(LENGTHS.pack(10, 0) + b"[1,")
    theirs.deadline = time.monotonic() + 0.05
    with pytest.raises(Late):
        theirs.receive()
    with pytest.raises(Late):
        theirs.receive()
    ours.deadline = time.monotonic() + 0.05
    with pytest.raises(Late):
        ours.send("x" * 2**23, [])


def test_no_except_clause_of_a_test_swallows_a_lost_process():
    """`except Exception` in a test cell catches the student's exceptions; a hang is none."""
    assert not issubclass(Closed, Exception) and not issubclass(Late, Exception)
