"""Makes small data for the notebooks on the spot: nothing is downloaded, and everything can be checked by hand."""

import torch

TOKENS = ("she", "sat", "by", "the", "river", "bank")
"""The sentence of the course. What "bank" means depends on a neighbour, which is what attention is for."""


def sentence_vectors() -> torch.Tensor:
    """Return a vector for each of TOKENS, (L, D) = (6, 2): how much it has to do with water, and with people."""
    return torch.tensor([[0.0, 2.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [1.0, 1.0]])


def index_lookup(
    n: int, *, length: int, n_symbols: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return n rows of the index-lookup task: a sequence of symbols, an index, and the symbol at that index.

    Args:
        n: the number of rows.
        length: the length of each sequence.
        n_symbols: how many symbols there are.
        generator: the source of random numbers.

    Returns:
        symbols (n, length) in 0..n_symbols-1, index (n,) in 0..length-1 and answer (n,), all of dtype int64.
    """
    symbols = torch.randint(n_symbols, (n, length), generator=generator)  # (n, L)
    index = torch.randint(length, (n,), generator=generator)  # (n,)
    return symbols, index, symbols.gather(1, index.unsqueeze(1)).squeeze(1)


SHAPES = ("horizontal bar", "vertical bar", "cross", "square")
"""The shapes that `pictures` draws; the index of a name is its label."""


def pictures(n: int, *, size: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return n small noisy pictures of one of SHAPES at a random place: about 1 where there is ink, else about 0.

    Args:
        n: the number of pictures.
        size: height and width in dots, at least 5; a shape is about 0.4 of it wide.
        generator: the source of random numbers.

    Returns:
        images (n, 1, size, size) and label (n,) in 0..3, of dtype int64.
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
    """Return n random sequences of symbols numbered from 3: 0 is padding, 1 and 2 begin (BOS) and end (EOS) a sequence.

    Args:
        n: the number of sequences.
        shortest: the smallest length.
        longest: the largest length.
        n_symbols: how many symbols there are.
        generator: the source of random numbers.

    Returns:
        symbols (n, longest) in 3..2+n_symbols, then 0 to the end of the row, and lengths (n,) in shortest..longest,
        both of dtype int64. The symbols contain neither BOS nor EOS.
    """
    lengths = torch.randint(shortest, longest + 1, (n,), generator=generator)  # (n,)
    symbols = torch.randint(3, 3 + n_symbols, (n, longest), generator=generator)  # (n, L)
    return symbols * (torch.arange(longest) < lengths.unsqueeze(1)), lengths


MARKS = ("###/.../###", "#.#/#.#/#.#", ".#./###/.#.", "#.#/.#./#.#")
"""The marks of `two_marks`, three rows each: two horizontal lines, two vertical lines, a plus and an x."""


def two_marks(n: int, *, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return n pictures of 4 x 4 cells, 4 x 4 dots each, with two of MARKS in cells that do not touch, and some noise.

    Args:
        n: the number of pictures.
        generator: the source of random numbers.

    Returns:
        images (n, 1, 16, 16), same (n,): 1 if both marks are of one kind (about half), else 0, and cells (n, 2): the
        cells of the marks, numbered 0..15 row by row. The last two are of dtype int64.
    """
    far = [(a, b) for a in range(16) for b in range(16) if max(abs(a // 4 - b // 4), abs(a % 4 - b % 4)) > 1]
    cells = torch.tensor(far)[torch.randint(len(far), (n,), generator=generator)]  # (n, 2)
    same = torch.randint(2, (n,), generator=generator)  # (n,)
    first = torch.randint(4, (n,), generator=generator)  # (n,)
    other = first + torch.randint(1, 4, (n,), generator=generator)  # (n,)
    kinds = torch.stack([first, torch.where(same == 1, first, other % 4)], 1)  # (n, 2)
    ink = torch.tensor([[[dot == "#" for dot in f"{row}."] for row in f"{mark}/...".split("/")] for mark in MARKS])
    images = torch.zeros(n, 4, 4, 4, 4)  # (n, row of cells, row of dots, column of cells, column of dots)
    for cell, kind in zip(cells.T, kinds.T, strict=True):
        images[torch.arange(n), cell // 4, :, cell % 4] = ink[kind].to(images.dtype)
    noise = 0.1 * torch.randn(n, 1, 16, 16, generator=generator)
    return images.reshape(n, 1, 16, 16) + noise, same, cells
