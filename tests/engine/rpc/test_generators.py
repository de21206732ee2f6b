"""Generators draw on the other side as on this one, and no state that comes back from there is chosen."""

import random
import struct
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy
import pytest
import torch

from grader.engine.rpc import generators
from grader.engine.rpc.generators import PCG, TWISTER, WORDS, advance, kind_of, renewed, state_of
from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.state.random_state import KnownState, accepted_state

MAKE: dict[str, Callable[[int], Any]] = {
    "Random": random.Random,
    "RandomState": numpy.random.RandomState,
    "Generator": numpy.random.default_rng,
    "torch": lambda seed: torch.Generator().manual_seed(seed),
}
DRAW: dict[str, Callable[[Any, int], Any]] = {
    "Random": lambda generator, n: [generator.random() for _ in range(n)],
    "RandomState": lambda generator, n: generator.rand(n).tolist(),
    "Generator": lambda generator, n: generator.random(n).tolist(),
    "torch": lambda generator, n: torch.rand(n, generator=generator).tolist(),
}
OTHER_DRAWS: dict[str, Callable[[Any], Any]] = {
    "Random": lambda generator: [generator.gauss(0, 1), generator.randint(0, 9), generator.random()],
    "RandomState": lambda generator: [*generator.randn(3), generator.randint(0, 9), *generator.rand(2)],
    "Generator": lambda generator: [*generator.integers(0, 9, 3), *generator.normal(size=3)],
    "torch": lambda generator: torch.randn(3, generator=generator).tolist(),
}


def as_state(data: bytes) -> torch.Tensor:
    """The bytes of a state as they cross."""
    return torch.tensor(list(data), dtype=torch.uint8)


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("draws", [0, 1, 311, 623, 624, 625, 100_000])
def test_a_generator_goes_on_where_student_code_stopped(kind: str, draws: int) -> None:
    """As in one process: the same numbers there, and the next ones here, with numbers of several kinds."""
    ours, one_process = MAKE[kind](1), MAKE[kind](1)
    assert kind_of(ours) == kind
    for _ in range(2):
        theirs = renewed(kind, state_of(ours))
        assert DRAW[kind](theirs, draws) == DRAW[kind](one_process, draws)
        assert OTHER_DRAWS[kind](theirs) == OTHER_DRAWS[kind](one_process)
        advance(ours, state_of(theirs))
    assert OTHER_DRAWS[kind](ours) == OTHER_DRAWS[kind](one_process)


def torch_state(draws: int = 5, seed: int = 1) -> torch.Tensor:
    """The state of torch's generator after so many numbers."""
    generator = MAKE["torch"](seed)
    torch.rand(draws, generator=generator)
    return generator.get_state()


def test_a_state_of_torch_that_drawing_leads_to_is_accepted() -> None:
    """From a seed that student code has set, or with the second of two normal numbers, whatever was drawn since."""
    for draws in (0, 1, 623, 624, 625, 100_000):
        assert torch.equal(accepted_state(torch_state(0), torch_state(draws, seed=2)), torch_state(draws, seed=2))
    for normals, more in product((1, 2, 3), (0, 1, 300)):
        generator = MAKE["torch"](1)
        torch.randn(normals, generator=generator), torch.rand(more, generator=generator)
        after = generator.get_state()
        assert torch.equal(accepted_state(torch_state(0), after), after)
        assert torch.equal(accepted_state(after, after), after)


def twister(word: int, place: int, second: float | None = None) -> bytes:
    """The state of a Mersenne Twister with equal words."""
    return TWISTER.pack(struct.pack("<I", word) * WORDS, place, second is not None, second or 0.0)


def made_up(begin: int, end: int, byte: int) -> bytes:
    """A state of torch with some of its bytes replaced."""
    forged = torch_state()
    forged[begin:end] = byte
    return bytes(forged.tolist())


FORGED = {
    "Random": [twister(0, 5), twister(7, 624), twister(2**32 - 1, 1)],
    "RandomState": [twister(0, 5), twister(7, 624), twister(2**32 - 1, 1)],
    "Generator": [
        PCG.pack(bytes(16), bytes(16), False, 0),
        PCG.pack(bytes(16), b"\x01" * 16, True, 3),
        PCG.pack(*PCG.unpack(bytes(state_of(numpy.random.default_rng(5)).tolist()))[:2], False, 0),
    ],
    # Words, the next place, how many are left, too short a state.
    "torch": [made_up(24, 24 + 624 * 8, 0), made_up(16, 24, 1), made_up(8, 12, 3), bytes(3)],
}


@pytest.mark.parametrize(("kind", "forged"), [(kind, state) for kind, states in FORGED.items() for state in states])
def test_student_code_cannot_choose_the_numbers_that_come_next(kind: str, forged: bytes) -> None:
    """A state that no drawing leads to is replaced, always by the same one, from which numbers look like any others."""
    drawn = []
    for _ in range(2):
        ours = MAKE[kind](1)
        advance(ours, as_state(forged))
        drawn.append(DRAW[kind](ours, 1_000))
    assert drawn[0] == drawn[1] and 0.4 < numpy.mean(drawn[0]) < 0.6 and len(set(drawn[0])) > 990
    assert kind == "torch" or DRAW[kind](renewed(kind, as_state(forged)), 1_000) != drawn[0]


@pytest.mark.parametrize("kind", MAKE)
def test_student_code_cannot_choose_what_a_generator_keeps(kind: str) -> None:
    """A second normal number, or half of a number, that no words of the state lead to is dropped."""
    theirs, ours, honest = (MAKE[kind](1) for _ in range(3))
    DRAW[kind](theirs, 5), DRAW[kind](honest, 5)
    state = bytes(state_of(theirs).tolist())
    if kind == "torch":
        torch.randn(1, generator=theirs)
        kept = bytes(theirs.get_state()[5016:].tolist())
        state = state[:5016] + kept[:8] + struct.pack("<d", 12345.0) + kept[16:]
    elif kind == "Generator":
        state = PCG.pack(*PCG.unpack(state)[:2], True, 12345)
    else:
        state = TWISTER.pack(*TWISTER.unpack(state)[:2], True, 12345.0)
    advance(ours, as_state(state))
    assert OTHER_DRAWS[kind](ours) == OTHER_DRAWS[kind](honest)


def test_what_is_no_state_is_refused() -> None:
    """With a message of the protocol: another size, another dtype, or a place from which numpy would read beyond."""
    sizes = [as_state(b""), as_state(bytes(5)), torch.zeros(TWISTER.size), as_state(bytes(9_999))]
    places = [as_state(twister(1, 625)), as_state(twister(1, 2**31)), as_state(twister(1, 1, float("nan")))]
    for kind in ("Random", "RandomState", "Generator"):
        for state in sizes:
            with pytest.raises(ProtocolError, match="random state"):
                advance(MAKE[kind](0), state)
    for kind, state in product(("Random", "RandomState"), places):
        with pytest.raises(ProtocolError, match="out of range"):
            advance(MAKE[kind](0), state)
    with pytest.raises(ProtocolError, match="tensor of bytes; this one .* torch.bfloat16"):
        KnownState().take(torch.zeros(5056, dtype=torch.bfloat16))
    accepted = accepted_state(torch_state(0), torch.zeros(5056))
    assert torch.equal(accepted, accepted_state(torch_state(0), torch.zeros(5056))) and accepted.dtype is torch.uint8


def test_other_generators_are_no_generators_of_the_protocol() -> None:
    """A subclass, or another algorithm of numpy."""

    class Mine(random.Random):
        pass

    for other in (Mine(0), random.SystemRandom(), numpy.random.Generator(numpy.random.Philox(0)), numpy.random, 5):
        assert kind_of(other) is None


def test_the_two_global_generators_cross_together() -> None:
    """Student code draws what the test would have drawn, and the test goes on after it."""
    generators.seed_own(3)
    before = generators.own_states()
    right = random.random(), numpy.random.rand(), random.random(), numpy.random.rand()
    generators.restore_own(before)
    first = random.random(), numpy.random.rand()
    after = generators.own_states()
    generators.restore_own(before)
    generators.advance_own(after)
    assert (*first, random.random(), numpy.random.rand()) == right
    with pytest.raises(ProtocolError, match="bytes; got"):
        generators.advance_own(after[1:])
