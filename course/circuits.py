"""Draws what goes on inside a small model: accepted and resampled tokens, attention patterns, vectors cut into slots.

    numbers, tokens, alt  ->  one matplotlib Figure  ->  figures.Picture

As in `figures.py`, every picture can be read without colour, and nothing about a model is computed here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure

from course import figures


def acceptance(p: figures.Numbers, q: figures.Numbers, *, names: Sequence[str], alt: str) -> figures.Picture:
    """Draw how draft tokens become tokens of the target model: a bar for each token, as high as the larger probability.

    Its solid part is the smaller probability, that of accepted drafts. A striped part above it is for rejected drafts,
    a dotted part for resampled tokens.

    Args:
        p: the probabilities of the target model, one for each name.
        q: the probabilities of the draft model, one for each name.
        names: the tokens.
        alt: what a person sees, in words.

    Raises:
        ValueError: there is not one probability for each name.
    """
    target, draft = (torch.as_tensor(numbers, dtype=torch.float64) for numbers in (p, q))
    if target.shape != draft.shape or target.shape != (len(names),):
        raise ValueError(f"expected {len(names)} probabilities of each model, got {len(target)} and {len(draft)}")
    accepted = torch.minimum(target, draft)  # (V,)
    figure = Figure(figsize=(max(4.5, 1.1 * len(names)), 3.2), layout="constrained")
    axis = figure.subplots()
    parts: dict[str, tuple[torch.Tensor, dict[str, Any]]] = {
        "rejected drafts": (draft - accepted, {"facecolor": "white", "hatch": "////"}),
        "resampled": (target - accepted, {"facecolor": "white", "hatch": "..."}),
    }
    axis.bar(
        range(len(names)), accepted.tolist(), 0.7, color=figures.GREYS[2], edgecolor="black", label="accepted drafts"
    )
    for label, (part, style) in parts.items():
        axis.bar(range(len(names)), part.tolist(), 0.7, accepted.tolist(), edgecolor="black", label=label, **style)
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel("probability")
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figures.picture(figure, alt)


def patterns(
    weights: Mapping[str, torch.Tensor],
    *,
    tokens: Sequence[str],
    alt: str,
    marks: Sequence[tuple[int, int]] = (),
) -> figures.Picture:
    """Draw the attention weights of heads side by side: row t is query position t, dark is large.

    Args:
        weights: the weights by title, each of shape (L, L).
        tokens: the L tokens.
        alt: what a person sees, in words.
        marks: entries (row, column) that get a ring: where a head is expected to look.

    Raises:
        ValueError: some weights have another shape.
    """
    size = 0.25 * len(tokens) + 0.7
    figure = Figure(figsize=(size * len(weights), size + 0.4), layout="constrained")
    axes = figure.subplots(1, len(weights), squeeze=False)[0]
    for number, (axis, (title, matrix)) in enumerate(zip(axes, weights.items(), strict=True)):
        if tuple(matrix.shape) != (len(tokens), len(tokens)):
            raise ValueError(f"expected weights for each pair of {len(tokens)} tokens, got {tuple(matrix.shape)}")
        axis.imshow(matrix.detach().tolist(), cmap="Greys", vmin=0, vmax=1)
        axis.scatter(
            [column for _, column in marks], [row for row, _ in marks], s=70, facecolors="none", edgecolors="#8a8a8a"
        )
        axis.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=8)
        axis.set_yticks(range(len(tokens)), tokens if number == 0 else [""] * len(tokens), fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("key", fontsize=9)
    axes[0].set_ylabel("query", fontsize=9)
    return figures.picture(figure, alt)


def slots(
    vectors: Mapping[str, torch.Tensor], *, sizes: Mapping[str, int], tokens: Sequence[str], alt: str
) -> figures.Picture:
    """Draw vectors that are divided into slots, before and after some steps; dark is large.

    Args:
        vectors: by title, each of shape (L, D).
        sizes: the number of features of each slot, by its name, in the order of the slots; D in all.
        tokens: the L tokens of the rows.
        alt: what a person sees, in words.

    Raises:
        ValueError: the vectors have another shape.
    """
    shape = (len(tokens), sum(sizes.values()))
    figure = Figure(figsize=(0.13 * shape[1] + 1.2, 1.6 * len(vectors)), layout="constrained")
    axes = figure.subplots(len(vectors), 1, squeeze=False)[:, 0]
    for axis, (title, values) in zip(axes, vectors.items(), strict=True):
        if tuple(values.shape) != shape:
            raise ValueError(f"expected vectors of the shape {shape}, got {tuple(values.shape)}")
        axis.imshow(values.detach().tolist(), cmap="Greys", vmin=0, vmax=1, aspect="auto")
        axis.set_yticks(range(len(tokens)), tokens, fontsize=8)
        axis.set_title(title, fontsize=10, loc="left")
        starts, middles = [0], []
        for size in sizes.values():
            middles.append(starts[-1] + size / 2 - 0.5)
            starts.append(starts[-1] + size)
        for start in starts[1:-1]:
            axis.axvline(start - 0.5, color="black", lw=1)
        axis.set_xticks(middles, sizes)
        axis.tick_params(axis="x", length=0)
    return figures.picture(figure, alt)
