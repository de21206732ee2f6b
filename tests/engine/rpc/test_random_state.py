"""Of the random states that student code leaves, only those that torch's generator can reach are accepted."""

import pytest
import torch

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.state.random_state import KnownState, accepted_state


def state(seed: int, draws: int = 0) -> torch.Tensor:
    """The state after so many numbers."""
    generator = torch.Generator().manual_seed(seed)
    torch.rand(draws, generator=generator)
    return generator.get_state()


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625, 100_000])
def test_a_state_that_drawing_leads_to_is_accepted(draws):
    """From the state at the beginning of the call, or from a seed that student code has set."""
    assert torch.equal(accepted_state(state(1), state(1, draws)), state(1, draws))
    assert torch.equal(accepted_state(state(1), state(2, draws)), state(2, draws))


@pytest.mark.parametrize("more", [0, 1, 300])
@pytest.mark.parametrize("normals", [1, 2, 3])
def test_an_odd_number_of_normals_leaves_the_second_of_a_pair(normals, more):
    """torch draws normal numbers in pairs and keeps the second for the next time, whatever else is drawn meanwhile."""
    generator = torch.Generator().manual_seed(1)
    torch.randn(normals, generator=generator)
    torch.rand(more, generator=generator)
    after = generator.get_state()
    assert torch.equal(accepted_state(state(1), after), after)
    assert torch.equal(accepted_state(after, after), after)


def test_student_code_cannot_choose_the_second_of_a_pair():
    """A second number that no words of the state lead to is removed: the next normal number is drawn."""
    forged = state(1, 5)
    torch.randn(1, generator=(generator := torch.Generator().set_state(forged)))
    forged[5016:] = generator.get_state()[5016:]
    forged[5024:5032] = torch.tensor([12345.0], dtype=torch.float64).view(torch.uint8)
    accepted = torch.Generator().set_state(accepted_state(state(1), forged))
    assert torch.equal(
        torch.randn(3, generator=accepted), torch.randn(3, generator=torch.Generator().set_state(state(1, 5)))
    )


def made_up(begin: int, end: int, byte: int) -> torch.Tensor:
    """A state with some of its bytes replaced."""
    forged = state(1, 5)
    forged[begin:end] = byte
    return forged


@pytest.mark.parametrize(
    "forged",
    [made_up(24, 24 + 624 * 8, 0), made_up(16, 24, 1), made_up(8, 12, 3), torch.zeros(3), torch.zeros(5056)],
    ids=["zeros", "next", "left", "short", "floats"],
)
def test_student_code_cannot_choose_the_numbers_that_come_next(forged):
    """A state that is made up is replaced, always by the same one, from which torch draws as from any other."""
    accepted = accepted_state(state(1), forged)
    assert accepted is not forged and torch.equal(accepted, accepted_state(state(1), forged))
    drawn = torch.rand(1000, generator=torch.Generator().set_state(accepted))
    assert 0.4 < drawn.mean() < 0.6


def test_a_state_of_another_dtype_is_refused():
    """With a message of the protocol, and not with an error of numpy: a sandbox may answer anything."""
    with pytest.raises(ProtocolError, match="tensor of bytes; this one .* torch.bfloat16"):
        KnownState().take(torch.zeros(5056, dtype=torch.bfloat16))
