"""An array of numpy arrives as it was sent, and nothing else arrives as an array."""

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.values.tensors import DecodedTensors
from grader.engine.rpc.values.trees import arrays, pack, unpack
from tests.engine.rpc.conftest import crossed, refuse

SEARCH = settings(max_examples=150, deadline=None, derandomize=True, database=None)
TEXT_AND_DATES = ["<U1", "<U7", "|S3", "<M8[D]", "<M8[25us]", "<m8[ns]"]
MAX_SIDE = 4


def filled(dtype: str, shape: list[int], seed: int) -> numpy.ndarray:
    """An array of random numbers of a dtype, or of text made of them."""
    numbers = numpy.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 90, shape)
    return numpy.asarray(numbers.astype("int64" if dtype[1] in "mM" else dtype)).astype(dtype)


@st.composite
def any_array(draw: st.DrawFn) -> numpy.ndarray:
    """An array of any dtype, shape and memory order, perhaps a part of a larger one."""
    shape = draw(st.lists(st.integers(0, MAX_SIDE), max_size=4))
    array = filled(draw(st.sampled_from([*arrays.DTYPES, *TEXT_AND_DATES])), shape, draw(st.integers(0, 99)))
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    # With ... a part of a 0-d array is an array, too.
    array = array[(..., *(slice(None, None, draw(st.sampled_from([1, 2, -1]))) for _ in array.shape))]
    if draw(st.booleans()):
        array = numpy.array(array, order=draw(st.sampled_from("CF")))
    array.flags.writeable = draw(st.booleans())
    return array


@SEARCH
@given(array=any_array())
def test_an_array_arrives_as_it_was_sent(array: numpy.ndarray) -> None:
    """Its class, dtype, shape, content and whether code may write into it; 0-d arrays and empty ones stay arrays.

    So does the memory order of numbers: `x.reshape(-1)` is a view of the one and a copy of the other on either side.
    """
    arrived = crossed(array)
    assert type(arrived) is numpy.ndarray and (arrived.dtype, arrived.shape) == (array.dtype, array.shape)
    assert arrived.tobytes() == array.tobytes() and arrived.flags.writeable == array.flags.writeable
    if array.dtype.kind in "biufc" and all(stride >= 0 for stride in array.strides) and array.size:
        assert arrived.flags.c_contiguous == array.flags.c_contiguous
        assert arrived.flags.f_contiguous == array.flags.f_contiguous


def test_an_array_that_occurs_twice_is_one_array():
    """Wherever it occurs in a value: a write into the one shows in the other."""
    x = numpy.zeros(3)
    first, [again], names = crossed((x, [x], {"x": x}))
    assert first is again is names["x"]
    assert crossed([x, x.copy()])[0] is not first


def test_a_contiguous_array_owns_its_memory():
    """A test may resize a result, or ask whether it is a view."""
    arrived = crossed(numpy.arange(6.0).reshape(2, 3))
    assert arrived.base is None and arrived.flags.owndata
    assert crossed(numpy.arange(6.0)[::2]).base is not None


class Own(numpy.ndarray):
    """An array of a student's own class."""


@pytest.mark.parametrize(
    ("array", "rule"),
    [
        (numpy.array([None]), "no ndarray"),
        (numpy.array([[1], [1, 2]], dtype=object), "no ndarray"),
        (numpy.zeros(2, "f4,i4"), "no ndarray"),
        (numpy.zeros(2, ">f8"), "dtype >f8"),
        (numpy.zeros(2, numpy.longdouble), "dtype float128"),
        (numpy.zeros(2, "V3"), "no ndarray"),
        (numpy.broadcast_to(numpy.zeros(1), (2**40,)), "may hold"),
        (numpy.zeros((1, 1)).view(numpy.matrix), "no matrix"),
        (numpy.ma.array([1]), "no MaskedArray"),
        (numpy.zeros(2).view(numpy.recarray), "no recarray"),
        (numpy.zeros(2).view(Own), "no Own"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_other_arrays_are_refused_by_name(array, rule):
    """Those that torch cannot hold, those that are too large, and subclasses, which could change what == says."""
    with pytest.raises(ProtocolError, match=rule):
        pack([array], refuse, [])
    assert crossed([numpy.zeros(2)])[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    "tree",
    [
        *([0], [0, 1], [0, None], ["0", True], [True, True], [-1, True], [5, True], [[0], True], [0, True, 5]),
        *([0, True, "<f8"], [0, True, "O"], [0, True, "<U"], [0, True, "<U99999999999"], [0, True, "|V8"]),
        *([0, True, "<U3"], [1, True, "<U3"], [2, True, "<U1"], [3, True], [2, True, "<M8[D]"], [1, True, "<M8[x]"]),
        *([0, True, "<U1", 1], [], 5, {}, "x", [0, True, ["<U1"]]),
    ],
    ids=str,
)
def test_arrays_that_pack_does_not_make_are_refused(tree):
    """Of numbers that are not there, of bytes that make up no such elements, and of a dtype that numpy lacks."""
    bad = torch.full((2, 4), 255, dtype=torch.uint8)
    tensors = [torch.zeros(2), torch.zeros(3, 8, dtype=torch.uint8), bad, torch.zeros(2, dtype=torch.bfloat16)]
    with pytest.raises(ProtocolError):
        unpack({"array": tree}, tensors, refuse)


def test_a_byte_that_is_no_truth_value_becomes_one():
    """Numpy computes with the bytes: two arrays that print alike would differ."""
    forged = torch.tensor([255, 2, 1, 0], dtype=torch.uint8).view(torch.bool)
    array = unpack({"array": [0, True]}, [forged], refuse)
    assert array.view(numpy.uint8).tolist() == [1, 1, 1, 0]


@SEARCH
@given(array=any_array(), data=st.data())
def test_a_write_is_found_and_repeated(array: numpy.ndarray, data: st.DataObject) -> None:
    """Wherever it is; without a write, nothing is found."""
    tensor = DecodedTensors([arrays.as_tensor(array).clone()], [bytearray()], watch=False).tensors[0]
    name = array.dtype.str if arrays.crosses_as_bytes(array.dtype) else None
    theirs = arrays.as_array(tensor, True, name)
    assert arrays.changed(theirs, tensor) is None
    if not array.size:
        return
    place = data.draw(st.integers(0, array.size - 1))
    new = numpy.zeros(1, array.dtype)[0]
    is_news = theirs.flat[place].tobytes() != new.tobytes()
    theirs.flat[place] = new
    now = arrays.changed(theirs, tensor)
    assert (now is not None) == is_news
    if now is not None:
        ours = array.copy(order="K")
        ours.flags.writeable = array.flags.writeable
        arrays.overwrite(ours, now)
        assert ours.tobytes() == theirs.tobytes() and ours.flags.writeable == array.flags.writeable


def test_content_that_does_not_fit_is_refused():
    """An array cannot grow: others may share its memory."""
    ours = numpy.ones(3)
    sizes = [torch.zeros(4), torch.zeros(2, 3, dtype=torch.float64), torch.zeros(0)]
    for content in (*sizes, torch.zeros(2, dtype=torch.bfloat16)):
        with pytest.raises(ProtocolError):
            arrays.overwrite(ours, content)
    arrays.overwrite(ours, torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64))
    assert ours.tolist() == [[1], [2], [3]]
