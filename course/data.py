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
