"""The generators of Python and numpy draw on the other side as on this one, and no state that comes back is chosen."""

import random
import struct
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from grader.engine.rpc import generators
from grader.engine.rpc.generators import PCG, TWISTER, WORDS, advance, kind_of, renewed, state_of
from grader.engine.rpc.message import ProtocolError

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


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("draws", [0, 1, 311, 624, 100_000])
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


def twister(word: int, place: int, second: float | None = None) -> bytes:
    """The state of a Mersenne Twister with equal words."""
    return TWISTER.pack(struct.pack("<I", word) * WORDS, place, second is not None, second or 0.0)


FORGED = {
    "Random": [twister(0, 5), twister(7, 624), twister(2**32 - 1, 1)],
    "RandomState": [twister(0, 5), twister(7, 624), twister(2**32 - 1, 1)],
    "Generator": [
        PCG.pack(bytes(16), bytes(16), False, 0),
        PCG.pack(bytes(16), b"\x01" * 16, True, 3),
        PCG.pack(*PCG.unpack(bytes(state_of(numpy.random.default_rng(5)).tolist()))[:2], False, 0),
    ],
}


@pytest.mark.parametrize(("kind", "forged"), [(kind, state) for kind, states in FORGED.items() for state in states])
def test_student_code_cannot_choose_the_numbers_that_come_next(kind: str, forged: bytes) -> None:
    """A state that no drawing leads to is replaced, always by the same one, from which numbers look like any others."""
    drawn = []
    for _ in range(2):
        ours = MAKE[kind](1)
        advance(ours, torch.tensor(list(forged), dtype=torch.uint8))
        drawn.append(DRAW[kind](ours, 1_000))
    assert drawn[0] == drawn[1] and 0.4 < numpy.mean(drawn[0]) < 0.6 and len(set(drawn[0])) > 990
    free = renewed(kind, torch.tensor(list(forged), dtype=torch.uint8))
    assert DRAW[kind](free, 1_000) != drawn[0]


@pytest.mark.parametrize("kind", ["Random", "RandomState"])
def test_student_code_cannot_choose_the_second_of_a_pair(kind: str) -> None:
    """A second normal number that no words of the state lead to is dropped."""
    theirs, ours, honest = MAKE[kind](1), MAKE[kind](1), MAKE[kind](1)
    DRAW[kind](theirs, 5), DRAW[kind](honest, 5)
    words, place, *_ = TWISTER.unpack(bytes(state_of(theirs).tolist()))
    advance(ours, torch.tensor(list(TWISTER.pack(words, place, True, 12345.0)), dtype=torch.uint8))
    assert OTHER_DRAWS[kind](ours) == OTHER_DRAWS[kind](honest)


def test_student_code_cannot_choose_half_of_a_number() -> None:
    """Nor the half that numpy's Generator keeps."""
    theirs, ours, honest = (numpy.random.default_rng(1) for _ in range(3))
    theirs.random(5), honest.random(5)
    state, increment, *_ = PCG.unpack(bytes(state_of(theirs).tolist()))
    advance(ours, torch.tensor(list(PCG.pack(state, increment, True, 12345)), dtype=torch.uint8))
    assert OTHER_DRAWS["Generator"](ours) == OTHER_DRAWS["Generator"](honest)


@pytest.mark.parametrize("kind", FORGED)
@pytest.mark.parametrize(
    "state",
    [
        torch.zeros(0, dtype=torch.uint8),
        torch.zeros(5, dtype=torch.uint8),
        torch.zeros(TWISTER.size),
        torch.zeros(9_999, dtype=torch.uint8),
    ],
    ids=["empty", "short", "floats", "long"],
)
def test_a_state_of_another_size_is_refused(kind: str, state: torch.Tensor) -> None:
    """With a message of the protocol."""
    with pytest.raises(ProtocolError, match="random state"):
        advance(MAKE[kind](0), state)


@pytest.mark.parametrize("state", [twister(1, 625), twister(1, 2**31), twister(1, 1, float("nan"))], ids=range(3))
def test_a_place_outside_of_the_words_is_refused(state: bytes) -> None:
    """numpy would read beyond them."""
    for kind in ("Random", "RandomState"):
        with pytest.raises(ProtocolError, match="out of range"):
            advance(MAKE[kind](0), torch.tensor(list(state), dtype=torch.uint8))


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
