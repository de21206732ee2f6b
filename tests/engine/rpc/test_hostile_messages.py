"""Whatever bytes a process sends, the other one gets a message of the protocol or a ProtocolError, and nothing else."""

import json
import tracemalloc
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.rpc.channel import FROM_SANDBOX, LENGTHS, TO_SANDBOX, decode, encode
from grader.engine.rpc.message import ProtocolError
from tests.support.messages import MESSAGES, example

SEARCH = settings(max_examples=150, deadline=None, derandomize=True, database=None)
TENSORS = [torch.arange(4.0), torch.eye(3)[:, 1:], torch.ones(2, 2, dtype=torch.complex64)]
LIKELY_KEYS = st.sampled_from(["type", "outputs", "error", "code", "name", "object_id", "parts", "call", "session"])
CUTS = st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 20), st.binary(max_size=8)), max_size=4)
"""Places in a message, how many bytes are cut out there, and what takes their place."""
GROWTH = 60
"""How many times as much memory as a message has bytes decoding it may take, plus a megabyte."""

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LIKELY_KEYS | st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)
messages = st.builds(lambda kind, seed: example(kind[0], seed), st.sampled_from(MESSAGES), st.integers(0, 50))


def is_refused_or_a_message(data: bytes) -> bool:
    """Whether both processes refuse the bytes or make a message of them, at a bounded cost."""
    for decoder in (TO_SANDBOX, FROM_SANDBOX):
        tracemalloc.start()
        try:
            decode(data, decoder, watch=True)
        except ProtocolError as error:
            assert len(str(error)) < 1_000
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < GROWTH * len(data) + 2**20
    return True


def framed(content: Any, tensors: bytes = b"") -> bytes:
    """The bytes of a message whose JSON holds `content`."""
    text = json.dumps(content).encode()
    return LENGTHS.pack(len(text), len(tensors)) + text + tensors


@SEARCH
@given(head=st.integers(0, 2**32 - 1), rest=st.binary(max_size=200))
def test_any_bytes(head: int, rest: bytes) -> None:
    """With lengths that fit and lengths that do not."""
    assert is_refused_or_a_message(LENGTHS.pack(head, 0) + rest)
    assert is_refused_or_a_message(LENGTHS.pack(len(rest), 0) + rest)


@pytest.mark.slow
@SEARCH
@given(content=anything, layouts=anything)
def test_any_json(content: Any, layouts: Any) -> None:
    """In the place of a message, and in the place of the layouts of its tensors."""
    assert is_refused_or_a_message(framed([content, layouts]))
    assert is_refused_or_a_message(framed(content))


@pytest.mark.slow
@SEARCH
@given(message=messages, data=st.data())
def test_a_message_with_one_part_replaced(message: Any, data: st.DataObject) -> None:
    """By anything, at any depth: by a value of another type, a number out of range, a field too many."""
    sent = encode(message, [])
    content = json.loads(sent[LENGTHS.size :])
    place, steps = content, data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    for step in steps:
        keys = list(place) if isinstance(place, dict) else range(len(place)) if isinstance(place, list) else []
        if not keys:
            break
        key = keys[step % len(keys)]
        if step == steps[-1] or not isinstance(place[key], dict | list):
            place[key] = data.draw(anything)
            break
        place = place[key]
    assert is_refused_or_a_message(framed(content))


@SEARCH
@given(message=messages, cuts=CUTS)
def test_a_message_with_tensors_and_some_bytes_replaced(message: Any, cuts: list[tuple[int, int, bytes]]) -> None:
    """In the lengths, the JSON, the header of the tensors or their numbers."""
    data = encode(message, TENSORS)
    for place, length, new in cuts:
        place %= len(data)
        data = data[:place] + new + data[place + length :]
    if len(data) >= LENGTHS.size:
        assert is_refused_or_a_message(data)
