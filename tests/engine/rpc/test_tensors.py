"""Tensors arrive as they were sent, bit for bit and in the same memory order, or are refused."""

import pytest
import torch

from grader.engine.rpc.message import ProtocolError
from tests.engine.rpc.conftest import MESSAGE

DTYPES = [
    *(torch.complex128, torch.complex64, torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint64, torch.uint32, torch.uint16, torch.uint8),
]


def crossed(tensors, ends):
    """The tensors as they arrive at the other end."""
    _, runner, sandbox = ends
    runner.send(MESSAGE, tensors)
    return sandbox.receive()[1].tensors


def test_tensors_of_every_dtype_and_shape_cross(ends):
    """Bit for bit, including empty tensors, those without dimensions, NaN, infinity and negative zero."""
    shapes = [(), (0,), (2, 0, 3), (1,), (2, 3)]
    tensors = [(torch.rand(shape) * 3).to(dtype) for dtype in DTYPES for shape in shapes]
    for tensor, arrived in zip(tensors, crossed(tensors, ends), strict=True):
        assert arrived.dtype is tensor.dtype and arrived.shape == tensor.shape and torch.equal(arrived, tensor)
    (arrived,) = crossed([torch.tensor([float("nan"), float("inf"), -0.0])], ends)
    assert arrived.isnan().tolist() == [True, False, False] and arrived[1] == float("inf") and arrived[2].signbit()


def test_tensors_keep_their_memory_order(ends):
    """Transposed and strided tensors keep their strides: `.view` must fail there where it fails here."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    views = [x.transpose(0, 2), x[:, ::2], x[:, :, 1:3], x.permute(2, 0, 1)[1:], x[:, 0], x.flip(0), x[0, 0, 1]]
    views += [torch.polar(x, x).mT.conj(), torch.polar(x, x).to(torch.complex128).mT.conj()]
    for view, arrived in zip(views, crossed(views, ends), strict=True):
        assert torch.equal(arrived, view) and arrived.stride() == view.stride()


def test_a_tensor_that_overlaps_itself_arrives_contiguous(ends):
    """Expanded tensors and windows arrive as the values they show. requires_grad does not travel this way."""
    x = torch.arange(6.0, requires_grad=True)
    views = [x[0].expand(5), x.unfold(0, 3, 1), x[::2].expand(2, 3)]
    for view, arrived in zip(views, crossed(views, ends), strict=True):
        assert torch.equal(arrived, view) and arrived.is_contiguous() and not arrived.requires_grad


def test_memory_between_the_elements_does_not_cross(ends):
    """A test that hands over one column of a table does not hand over the table."""
    table = torch.arange(12.0).reshape(4, 3)
    (arrived,) = crossed([table[:, 0]], ends)
    assert torch.equal(arrived, table[:, 0])
    memory = torch.tensor([], dtype=torch.float32).set_(arrived.untyped_storage())
    assert memory.tolist() == [0, 0, 0, 3, 0, 0, 6, 0, 0, 9]


def test_other_tensors_are_refused_by_name(ends):
    """The message says which tensors cross and what this one is."""
    for other in (torch.zeros(1, dtype=torch.float8_e5m2), torch.eye(2).to_sparse(), torch.zeros(1, device="meta")):
        with pytest.raises(ProtocolError, match="cross; (got|expected)"):
            ends[1].send(MESSAGE, [other])


def test_writes_are_detected_by_content(ends):
    """Writing the value that is there already does not count; a write through `.data` does."""
    _, runner, sandbox = ends
    runner.send(MESSAGE, [torch.ones(2), torch.ones(2), torch.ones(0)])
    _, decoded = sandbox.receive(watch=True)
    decoded.tensors[0].fill_(1)
    decoded.tensors[1].data[0] = 2
    assert decoded.written() == [1]
