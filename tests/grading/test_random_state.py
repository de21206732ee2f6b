"""Of the random states that student code leaves, only those that torch's generator can come to are taken over."""

import pytest
import torch

from course.grading.random_state import Known, left_behind
from course.grading.wire import WireError


def state(seed: int, draws: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    torch.rand(draws, generator=generator)
    return generator.get_state()


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625, 100_000])
def test_who_draws_leaves_the_state_that_this_leads_to(draws):
    """From the state it began with, or from a seed of its own."""
    assert torch.equal(left_behind(state(1), state(1, draws)), state(1, draws))
    assert torch.equal(left_behind(state(1), state(2, draws)), state(2, draws))


@pytest.mark.parametrize("more", [0, 1, 300])
@pytest.mark.parametrize("normals", [1, 2, 3])
def test_who_draws_an_odd_number_of_normals_leaves_the_second_of_a_pair(normals, more):
    """torch draws normal numbers in pairs and keeps the second for the next time, whatever else is drawn meanwhile."""
    generator = torch.Generator().manual_seed(1)
    torch.randn(normals, generator=generator)
    torch.rand(more, generator=generator)
    after = generator.get_state()
    assert torch.equal(left_behind(state(1), after), after)
    assert torch.equal(left_behind(after, after), after)


def test_nobody_chooses_the_second_of_a_pair():
    """One that no words lead to is not there: the next normal number is drawn."""
    forged = state(1, 5)
    torch.randn(1, generator=(generator := torch.Generator().set_state(forged)))
    forged[5016:] = generator.get_state()[5016:]
    forged[5024:5032] = torch.tensor([12345.0], dtype=torch.float64).view(torch.uint8)
    now = torch.Generator().set_state(left_behind(state(1), forged))
    assert torch.equal(
        torch.randn(3, generator=now), torch.randn(3, generator=torch.Generator().set_state(state(1, 5)))
    )


def made_up(begin: int, end: int, byte: int) -> torch.Tensor:
    forged = state(1, 5)
    forged[begin:end] = byte
    return forged


@pytest.mark.parametrize(
    "forged",
    [made_up(24, 24 + 624 * 8, 0), made_up(16, 24, 1), made_up(8, 12, 3), torch.zeros(3), torch.zeros(5056)],
    ids=["zeros", "next", "left", "short", "floats"],
)
def test_nobody_chooses_what_is_drawn_next(forged):
    """A state that somebody made up is replaced, always by the same, from which torch draws as from any other."""
    now = left_behind(state(1), forged)
    assert now is not forged and torch.equal(now, left_behind(state(1), forged))
    drawn = torch.rand(1000, generator=torch.Generator().set_state(now))
    assert 0.4 < drawn.mean() < 0.6


def test_a_state_of_another_kind_is_refused():
    """In words, and not with an error of numpy's: a candidate may answer anything."""
    with pytest.raises(WireError, match="tensor of bytes; this one is of torch.bfloat16"):
        Known().take(torch.zeros(5056, dtype=torch.bfloat16))
