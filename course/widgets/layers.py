"""Holds the figures of assignments 01 to 03: a sliding filter, gates and beam search."""

import math
from collections.abc import Mapping, Sequence

from course.widgets.common import check, figure
from grader_kernel.widget import Widget

_LARGEST = 7
"""The number of pixels per side for which there is room in the figure of a filter."""
_LINES = 16
"""The number of sequences for which there is room in the figure of beam search."""


def convolution(
    picture: Sequence[Sequence[int]],
    filters: Mapping[str, Sequence[Sequence[int]]],
    *,
    size: int,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    position: int = 0,
) -> Widget:
    """Return a figure of a filter that slides over a picture, one position after another.

    Args:
        picture: rows of integers from -9 to 9, as many rows as columns, 2 to 7.
        filters: filters to choose from, by name: rows of integers from -9 to 9, as many rows as columns, 1 to 3. The
            first comes first.
        size: how many rows and columns of the picture are the input at first, from 1.
        stride: the first stride, 1 to 4.
        padding: the first number of zeros at each end, 0 to 2.
        dilation: the first dilation, 1 to 3.
        position: the first position of the filter, row by row from 0; the last one if there are fewer.

    Raises:
        ValueError: the picture or a filter is not a square of such integers, there is no filter, or one of the numbers
            is out of its range.
    """
    _check_square("picture", picture, 2, _LARGEST)
    if not filters:
        raise ValueError("filters should hold at least one filter")
    for name, weight in filters.items():
        _check_square(f"the filter {name!r}", weight, 1, 3)
    check("size", size, 1, len(picture))
    check("stride", stride, 1, 4)
    check("padding", padding, 0, 2)
    check("dilation", dilation, 1, 3)
    check("position", position, 0, (_LARGEST + 4) ** 2)
    options = [[[list(row) for row in weight], name] for name, weight in filters.items()]
    return figure(
        "convolution",
        {
            "picture": [list(row) for row in picture],
            "filters": options,
            "weight": options[0][0],
            "size": size,
            "stride": stride,
            "padding": padding,
            "dilation": dilation,
            "position": position,
        },
        "A figure that slides a filter over a picture: for each position it shows the window, the products with the "
        "weights and their sum. Controls change the filter, the size of the input, stride, padding and dilation.",
    )


def _check_square(name: str, rows: Sequence[Sequence[int]], least: int, most: int) -> None:
    if not least <= len(rows) <= most or any(len(row) != len(rows) for row in rows):
        raise ValueError(f"{name} should have as many rows as columns, {least} to {most}, not {[*map(list, rows)]}")
    if not all(isinstance(number, int) and -9 <= number <= 9 for row in rows for number in row):
        raise ValueError(f"{name} should hold integers from -9 to 9, not {[*map(list, rows)]}")


def gates(kind: str = "LSTM", *, steps: int = 10, **pre_activations: float) -> Widget:
    """Return a figure of an LSTM or a GRU with one number as its state, and gates that stay as they are.

    Args:
        kind: the cell that is shown first, "LSTM" or "GRU".
        steps: the first number of steps, 0 to 50.
        pre_activations: the first values of the gates and candidates before their sigmoid or tanh, from -6 to 6: f, i,
            g and o of the LSTM, r, z and n of the GRU. In a GRU, the candidate is tanh(n + r * h). 0 where not given.

    Raises:
        ValueError: there is no such cell or gate, or one of the numbers is out of its range.
    """
    if kind not in {"LSTM", "GRU"}:
        raise ValueError(f"kind should be 'LSTM' or 'GRU', not {kind!r}")
    check("steps", steps, 0, 50)
    values = dict.fromkeys("figozrn", 0.0)
    for name, number in pre_activations.items():
        if name not in values:
            raise ValueError(f"there is no gate {name!r}; the gates and candidates are {', '.join(values)}")
        check(name, number, -6, 6)
    return figure(
        "gates",
        {"kind": kind, "steps": steps, **values, **pre_activations},
        "A figure with sliders for the gates of an LSTM or a GRU with one number as its state: it shows what becomes "
        "of two old states over 50 steps, and how much of their difference is left.",
    )


def beam(
    names: Sequence[str],
    table: Mapping[tuple[int, ...], Sequence[float]],
    *,
    start: str,
    bos: int = 1,
    eos: int = 2,
    beam_size: int = 2,
    widest: int = 4,
    max_length: int = 3,
) -> Widget:
    """Return a figure of beam search over a table of next-word probabilities.

    Args:
        names: the word of each token id.
        table: the probabilities of the next token id, one for each name, after each sequence of token ids that can
            occur. A sequence starts with bos.
        start: what bos represents, shown where the search begins.
        bos: the token id with which all sequences start.
        eos: the token id that ends a sequence, not bos.
        beam_size: the first beam size, from 1.
        widest: the largest beam size, 2 to 8.
        max_length: the maximum number of tokens after bos, 1 to 3.

    Raises:
        ValueError: one of the numbers is out of its range, a row of the table is missing or does not hold probabilities
            that sum to 1, or more than 16 sequences are possible.
    """
    check("bos", bos, 0, len(names) - 1)
    check("eos", eos, 0, len(names) - 1)
    if bos == eos:
        raise ValueError(f"bos and eos should differ; both are {bos}")
    check("widest", widest, 2, 8)
    check("beam_size", beam_size, 1, widest)
    check("max_length", max_length, 1, 3)
    ends = 0
    unfinished: list[tuple[int, ...]] = [(bos,)]
    for _ in range(max_length):
        longer = []
        for sequence in unfinished:
            row = table.get(sequence)
            if row is None:
                raise ValueError(f"the table should have a row for {sequence}, which can occur")
            if len(row) != len(names) or min(row) < 0 or not math.isclose(sum(row), 1, abs_tol=1e-6):
                raise ValueError(
                    f"the row for {sequence} should have {len(names)} probabilities that sum to 1, not {list(row)}"
                )
            possible = [(*sequence, token) for token, probability in enumerate(row) if probability > 0]
            longer += [each for each in possible if each[-1] != eos]
            ends += len(possible) - sum(each[-1] != eos for each in possible)
        unfinished = longer
    check("the number of possible sequences", ends + len(unfinished), 1, _LINES)
    return figure(
        "beam",
        {
            "names": list(names),
            "table": [[list(sequence), list(map(float, row))] for sequence, row in table.items()],
            "start": start,
            "bos": bos,
            "eos": eos,
            "beam": beam_size,
            "widest": widest,
            "longest": max_length,
            "half": 1,
        },
        "A figure that takes the steps of beam search one after another: it shows the candidates of each step with "
        "their total log-probabilities, and which of them are kept and pruned. A slider changes the beam size.",
    )
