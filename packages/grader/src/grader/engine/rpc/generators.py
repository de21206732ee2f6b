"""Carries the random generators of Python and numpy over the boundary, and checks the states that come back.

generator --state_of--> bytes in a tensor --message--> renewed generator --state_of--> bytes --message--> advance

As for torch (state/random_state.py), a made-up state must not choose the numbers that a test draws next. It is accepted
if drawing leads to it from the state at the beginning of the call, and otherwise replaced by one that is derived from
it.
"""

import hashlib
import math
import random
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.state.random_state import MAX_BLOCKS, accepted_state
from grader.engine.torch_if_used import torch

WORDS = 624
TWISTER = struct.Struct(f"<{4 * WORDS}sI?d")
"""The words of a Mersenne Twister, the place of the next, and the second of two normal numbers if it is kept."""
PCG = struct.Struct("<16s16s?I")
"""The state and the increment of a PCG64, and half of its last number if that is kept."""
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
MAX_DRAWS = MAX_BLOCKS * WORDS
MAX_KEPT = 4_096
"""Draws for which a PCG64 may keep half of a number."""


class Twister(NamedTuple):
    """The state of a Mersenne Twister, which both Python and numpy use."""

    words: numpy.ndarray
    place: int
    second: float | None

    def packed(self) -> bytes:
        return TWISTER.pack(self.words.tobytes(), self.place, self.second is not None, self.second or 0.0)

    @classmethod
    def unpacked(cls, data: bytes) -> "Twister":
        words, place, has_second, second = TWISTER.unpack(data)
        if place > WORDS or not math.isfinite(second):
            raise ValueError("out of range")
        return cls(numpy.frombuffer(words, numpy.uint32), place, second if has_second else None)


def _read_python(generator: Any) -> Twister:
    _, (*words, place), second = generator.getstate()
    return Twister(numpy.array(words, numpy.uint32), place, second)


def _write_python(generator: Any, state: Twister) -> None:
    generator.setstate((3, (*state.words.tolist(), state.place), state.second))


def _read_numpy(generator: Any) -> Twister:
    state = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ProtocolError(f"a RandomState must be a Mersenne Twister; this one is a {state['bit_generator']}")
    return Twister(state["state"]["key"], state["state"]["pos"], state["gauss"] if state["has_gauss"] else None)


def _write_numpy(generator: Any, state: Twister) -> None:
    generator.set_state(("MT19937", state.words, state.place, int(state.second is not None), state.second or 0.0))


def _draw_python(generator: Any) -> None:
    generator.gauss(0.0, 1.0)


def _draw_numpy(generator: Any) -> None:
    generator.standard_normal()


class Kind(NamedTuple):
    """The generators of one type: how one is made, how its state is packed and restored, and which one is accepted."""

    make: Callable[[], Any]
    packed: Callable[[Any], bytes]
    restore: Callable[[Any, bytes], None]
    accepted: Callable[[bytes, bytes], bytes]


def _twister(make: Callable[[], Any], read: Callable, write: Callable, draw: Callable) -> Kind:
    def accepted(before: bytes, after: bytes) -> bytes:
        old, new = Twister.unpacked(before), Twister.unpacked(after)
        blocks = _blocks(old, new)
        if blocks is None:
            seed = int.from_bytes(hashlib.sha256(after).digest()[:4], "little")
            return _read_numpy(numpy.random.RandomState(seed)).packed()
        if new.second in (None, old.second):
            return after
        begins = [new._replace(place=place, second=None) for place in range(new.place - 4, -1, -1)]
        if blocks:
            last = _later(old, blocks - 1)
            begins += [last._replace(place=place) for place in range(WORDS - 1, WORDS - 4, -1)]
        return (
            after if any(second_after(begin) == new.second for begin in begins) else new._replace(second=None).packed()
        )

    def second_after(state: Twister) -> float | None:
        """Return the second of two normal numbers, which are computed from four words."""
        trial = make()
        write(trial, state)
        draw(trial)
        return read(trial).second

    return Kind(
        make, lambda generator: read(generator).packed(), lambda new, data: write(new, Twister.unpacked(data)), accepted
    )


def _blocks(old: Twister, new: Twister) -> int | None:
    """Return how many blocks of words lead from one state to the other; None if that many do not."""
    generator, right = _source(old), _source(new).random_raw(WORDS)
    return next((n for n in range(MAX_BLOCKS) if numpy.array_equal(generator.random_raw(WORDS), right)), None)


def _later(state: Twister, blocks: int) -> Twister:
    generator: Any = _source(state)
    generator.random_raw((blocks + 1) * WORDS, output=False)
    return Twister(generator.state["state"]["key"], WORDS, None)


def _source(state: Twister) -> numpy.random.MT19937:
    """Return a generator of random words that begins with the first word of the state's block."""
    generator = numpy.random.MT19937(0)
    generator.state = {"bit_generator": "MT19937", "state": {"key": state.words, "pos": 0}}
    return generator


def _pack_pcg(generator: Any) -> bytes:
    state = generator.bit_generator.state
    numbers = (state["state"][name].to_bytes(16, "little") for name in ("state", "inc"))
    return PCG.pack(*numbers, bool(state["has_uint32"]), state["uinteger"])


def _restore_pcg(generator: Any, data: bytes) -> None:
    state, increment, has_half, half = PCG.unpack(data)
    inner = {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(increment, "little")}
    generator.bit_generator.state = {
        "bit_generator": "PCG64", "state": inner, "has_uint32": int(has_half), "uinteger": half
    }  # fmt: skip


def _accepted_pcg(before: bytes, after: bytes) -> bytes:
    (old, increment, *kept), (new, other, has_half, half) = PCG.unpack(before), PCG.unpack(after)
    begin, end, step = (int.from_bytes(number, "little") for number in (old, new, increment))
    if increment != other or step % 2 == 0 or (draws := _distance(begin, end, step)) > MAX_DRAWS:
        return _pack_pcg(numpy.random.default_rng(int.from_bytes(hashlib.sha256(after).digest(), "little")))
    if has_half and [has_half, half] != kept:
        trial, look_back = numpy.random.default_rng(0), min(draws, MAX_KEPT)
        _restore_pcg(trial, PCG.pack(new, other, False, 0))
        source: Any = trial.bit_generator
        source.advance(2**128 - look_back)
        if half not in source.random_raw(look_back) >> numpy.uint64(32):
            return PCG.pack(new, other, False, 0)
    return after


def _distance(state: int, end: int, step: int) -> int:
    """Return how many draws lead from one state of a PCG64 to another, found bit by bit from the lowest."""
    modulus, factor, draws = 2**128, MULTIPLIER, 0
    for bit in range(128):
        if (state ^ end) >> bit & 1:
            state, draws = (state * factor + step) % modulus, draws | 1 << bit
        factor, step = factor * factor % modulus, (factor + 1) * step % modulus
    return draws


_KINDS: dict[str, Kind] = {
    "Random": _twister(lambda: random.Random(0), _read_python, _write_python, _draw_python),
    "RandomState": _twister(lambda: numpy.random.RandomState(0), _read_numpy, _write_numpy, _draw_numpy),
    "Generator": Kind(lambda: numpy.random.default_rng(0), _pack_pcg, _restore_pcg, _accepted_pcg),
}
TORCH = "torch"
_TWISTERS: dict[type, str] = {random.Random: "Random", numpy.random.RandomState: "RandomState"}
_OWN = {"Random": getattr(random, "_inst"), "RandomState": getattr(numpy.random.mtrand, "_rand")}  # noqa: B009
"""The generators of the functions of `random` and `numpy.random`."""


def kind_of(item: Any) -> str | None:
    """Return the name of a generator's kind in messages, or None for anything else."""
    if isinstance(item, torch.Generator):
        return TORCH
    if type(item) is numpy.random.Generator:
        return "Generator" if type(item.bit_generator) is numpy.random.PCG64 else None
    return _TWISTERS.get(type(item))


def state_of(generator: Any) -> torch.Tensor:
    """Return the state of a generator as a tensor of bytes."""
    kind = kind_of(generator)
    if kind is None:
        raise ProtocolError(f"a generator of another kind came instead of one of {', '.join(_KINDS)}")
    return generator.get_state() if kind == TORCH else _tensor(_KINDS[kind].packed(generator))


def renewed(kind: str, state: torch.Tensor) -> Any:
    """Return a new generator of this kind with this state."""
    if kind == TORCH:
        return torch.Generator().set_state(state)
    generator = _KINDS[kind].make()
    _KINDS[kind].restore(generator, _bytes(state))
    return generator


def advance(generator: Any, after: torch.Tensor) -> None:
    """Give a generator of a test the state that student code left, or one derived from a state that is made up.

    Args:
        generator: the generator, as it was at the beginning of the call.
        after: the state that student code claims to have left.

    Raises:
        ProtocolError: it is no state of such a generator.
    """
    if isinstance(generator, torch.Generator):
        generator.set_state(accepted_state(generator.get_state(), after))
        return
    kind = _KINDS[kind_of(generator) or ""]
    try:
        kind.restore(generator, kind.accepted(kind.packed(generator), _bytes(after)))
    except (struct.error, ValueError) as error:
        raise ProtocolError(f"a random state must be one of its generator; this one is not ({error})") from None


def own_states() -> torch.Tensor:
    """Return the states of the generators of `random` and of `numpy.random`."""
    return _tensor(b"".join(_KINDS[kind].packed(generator) for kind, generator in _OWN.items()))


def restore_own(states: torch.Tensor) -> None:
    """Restore the states of both, as the test's process sent them."""
    for (kind, generator), state in zip(_OWN.items(), _split(states), strict=True):
        _KINDS[kind].restore(generator, state)


def advance_own(states: torch.Tensor) -> None:
    """Advance both, as `advance` does with the states that student code left."""
    for generator, state in zip(_OWN.values(), _split(states), strict=True):
        advance(generator, _tensor(state))


def _split(states: torch.Tensor) -> list[bytes]:
    data, size = _bytes(states), TWISTER.size
    if len(data) != len(_OWN) * size:
        raise ProtocolError(f"the states of {len(_OWN)} generators have {len(_OWN) * size} bytes; got {len(data)}")
    return [data[place : place + size] for place in range(0, len(data), size)]


def seed_own(number: int) -> None:
    """Seed the generators of `random` and of `numpy.random`."""
    random.setstate(_seeded(number))  # as `random.seed` does it, in a third of the time
    numpy.random.seed(number)


@lru_cache(maxsize=64)
def _seeded(number: int) -> tuple[Any, ...]:
    return random.Random(number).getstate()


def _tensor(data: bytes) -> torch.Tensor:
    return torch.from_numpy(numpy.frombuffer(bytearray(data), numpy.uint8))


def _bytes(state: torch.Tensor) -> bytes:
    if state.dtype is not torch.uint8:
        raise ProtocolError(f"a random state is a tensor of bytes; this one has dtype {state.dtype}")
    return state.numpy().tobytes()
