"""Draws what goes on inside a small model: kept and replaced guesses, patterns of heads, and vectors cut into slots.

    numbers, words, alt  ->  one matplotlib Figure  ->  figures.Picture

As in `figures.py`, every picture can be read without colour, and nothing about a model is computed here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure

from course import figures


def acceptance(p: figures.Numbers, q: figures.Numbers, *, names: Sequence[str], alt: str) -> figures.Picture:
    """Draw how guesses become the words of a large model: a bar for each word, as high as the larger probability.

    Its solid part is the smaller probability, that of guesses that are kept. A striped part above it is for guesses
    that are rejected, a dotted part for replacements.

    Args:
        p: what the large model says, one probability for each name.
        q: what the small model says, one probability for each name.
        names: the words.
        alt: what a person sees, in words.

    Raises:
        ValueError: there is not one probability for each name.
    """
    large, small = (torch.as_tensor(numbers, dtype=torch.float64) for numbers in (p, q))
    if large.shape != small.shape or large.shape != (len(names),):
        raise ValueError(f"expected {len(names)} probabilities of each model, got {len(large)} and {len(small)}")
    kept = torch.minimum(large, small)  # (V,)
    figure = Figure(figsize=(max(4.5, 1.1 * len(names)), 3.2), layout="constrained")
    axis = figure.subplots()
    parts: dict[str, tuple[torch.Tensor, dict[str, Any]]] = {
        "rejected guesses": (small - kept, {"facecolor": "white", "hatch": "////"}),
        "replacements": (large - kept, {"facecolor": "white", "hatch": "..."}),
    }
    axis.bar(range(len(names)), kept.tolist(), 0.7, color=figures.GREYS[2], edgecolor="black", label="kept guesses")
    for label, (part, style) in parts.items():
        axis.bar(range(len(names)), part.tolist(), 0.7, kept.tolist(), edgecolor="black", label=label, **style)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel("probability")
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figures.picture(figure, alt)


def patterns(
    weights: Mapping[str, torch.Tensor],
    *,
    words: Sequence[str],
    alt: str,
    marks: Sequence[tuple[int, int]] = (),
) -> figures.Picture:
    """Draw the weights of heads side by side: row t is who word t listens to, dark is large.

    Args:
        weights: the weights by title, each of shape (L, L).
        words: the L words.
        alt: what a person sees, in words.
        marks: places (row, column) that get a ring: where a head is expected to look.

    Raises:
        ValueError: some weights have another shape.
    """
    size = 0.25 * len(words) + 0.7
    figure = Figure(figsize=(size * len(weights), size + 0.4), layout="constrained")
    axes = figure.subplots(1, len(weights), squeeze=False)[0]
    for position, (axis, (title, matrix)) in enumerate(zip(axes, weights.items(), strict=True)):
        if tuple(matrix.shape) != (len(words), len(words)):
            raise ValueError(f"expected weights for each pair of {len(words)} words, got {tuple(matrix.shape)}")
        axis.imshow(matrix.detach().tolist(), cmap="Greys", vmin=0, vmax=1)
        axis.scatter(
            [column for _, column in marks], [row for row, _ in marks], s=70, facecolors="none", edgecolors="#8a8a8a"
        )
        axis.set_xticks(range(len(words)), words, rotation=90, fontsize=8)
        axis.set_yticks(range(len(words)), words if position == 0 else [""] * len(words), fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("is listened to", fontsize=9)
    axes[0].set_ylabel("listens", fontsize=9)
    return figures.picture(figure, alt)


def slots(
    vectors: Mapping[str, torch.Tensor], *, widths: Mapping[str, int], words: Sequence[str], alt: str
) -> figures.Picture:
    """Draw vectors that are divided into slots, before and after some steps; dark is large.

    Args:
        vectors: by title, each of shape (L, D).
        widths: how many numbers each slot has, by its name, in the order of the slots; D in all.
        words: the L words of the rows.
        alt: what a person sees, in words.

    Raises:
        ValueError: the vectors have another shape.
    """
    shape = (len(words), sum(widths.values()))
    figure = Figure(figsize=(0.13 * shape[1] + 1.2, 1.6 * len(vectors)), layout="constrained")
    axes = figure.subplots(len(vectors), 1, squeeze=False)[:, 0]
    for axis, (title, values) in zip(axes, vectors.items(), strict=True):
        if tuple(values.shape) != shape:
            raise ValueError(f"expected vectors of the shape {shape}, got {tuple(values.shape)}")
        axis.imshow(values.detach().tolist(), cmap="Greys", vmin=0, vmax=1, aspect="auto")
        axis.set_yticks(range(len(words)), words, fontsize=8)
        axis.set_title(title, fontsize=10, loc="left")
        starts, middles = [0], []
        for width in widths.values():
            middles.append(starts[-1] + width / 2 - 0.5)
            starts.append(starts[-1] + width)
        for start in starts[1:-1]:
            axis.axvline(start - 0.5, color="black", lw=1)
        axis.set_xticks(middles, widths)
        axis.tick_params(axis="x", length=0)
    return figures.picture(figure, alt)
