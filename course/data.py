"""Small data that the notebooks make on the spot: nothing is downloaded, everything fits in the head."""

import torch

TOKENS = ("she", "sat", "by", "the", "river", "bank")
"""The sentence of the course. What "bank" means depends on a neighbour, which is what attention is for."""


def sentence_vectors() -> torch.Tensor:
    """A vector of width 2 for each of TOKENS, (L, D) = (6, 2): how much it has to do with water, and with people."""
    return torch.tensor([[0.0, 2.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [1.0, 1.0]])


def index_lookup(
    n: int, *, length: int, n_symbols: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """n rows of the index-lookup task: a sequence of symbols, a place in it, and the symbol that stands there.

    Returns symbols (n, length) in 0..n_symbols-1, index (n,) in 0..length-1 and answer (n,), all of dtype int64.
    """
    symbols = torch.randint(n_symbols, (n, length), generator=generator)  # (n, L)
    index = torch.randint(length, (n,), generator=generator)  # (n,)
    return symbols, index, symbols.gather(1, index.unsqueeze(1)).squeeze(1)


SHAPES = ("horizontal bar", "vertical bar", "cross", "square")
"""What `pictures` draws; the place of a name is its label."""


def pictures(n: int, *, size: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """n small noisy pictures, one of SHAPES in each at a random place: about 1 where there is ink, about 0 elsewhere.

    size: height and width in dots, at least 5; a shape is about 0.4 of it wide.
    Returns images (n, 1, size, size) and label (n,) in 0..3, of dtype int64.
    """
    reach = size // 5
    label = torch.randint(len(SHAPES), (n,), generator=generator)  # (n,)
    centre = torch.randint(reach, size - reach, (n, 2, 1), generator=generator)  # (n, 2, 1)
    away = (torch.arange(size) - centre).abs()  # (n, 2, size): from the centre, down and across
    down, across = away[:, 0, :, None], away[:, 1, None, :]  # (n, size, 1), (n, 1, size)
    level, upright = down == 0, across == 0
    bars = level.expand(n, size, size), upright.expand(n, size, size)
    drawn = torch.stack([*bars, level | upright, (down == reach) | (across == reach)])  # (4, n, size, size)
    ink = drawn[label, torch.arange(n)] & (down <= reach) & (across <= reach)  # (n, size, size)
    noise = 0.3 * torch.randn(n, size, size, generator=generator)
    return (ink + noise).unsqueeze(1), label


def symbol_sequences(
    n: int, *, shortest: int, longest: int, n_symbols: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """n random sequences of symbols numbered from 3, for 0 is padding, 1 begins (BOS) and 2 ends (EOS) a sequence.

    Returns symbols (n, longest) in 3..2+n_symbols, then 0 to the end of the row, and lengths (n,) in shortest..longest,
    both of dtype int64. Neither BOS nor EOS is in the symbols.
    """
    lengths = torch.randint(shortest, longest + 1, (n,), generator=generator)  # (n,)
    symbols = torch.randint(3, 3 + n_symbols, (n, longest), generator=generator)  # (n, L)
    return symbols * (torch.arange(longest) < lengths.unsqueeze(1)), lengths
