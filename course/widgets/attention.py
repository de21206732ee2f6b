"""Holds the figures of assignment 04: a query among keys, masks, and heads."""

import math
from collections.abc import Mapping, Sequence

from course.widgets.common import check, figure
from grader_kernel.widget import Widget


def query(
    keys: Mapping[str, Sequence[float]],
    *,
    axes: tuple[str, str] = ("x", "y"),
    angle: float = 45.0,
    length: float = 2.0,
) -> Widget:
    """Return a figure of a query that turns among keys in the plane; each key is its own value.

    Args:
        keys: token -> (x, y), two to eight tokens.
        axes: what the two entries of a key say.
        angle: the query's first angle, 0 to 360 degrees from the x axis.
        length: the query's first length, 0 to 3; a longer query has sharper weights.

    Raises:
        ValueError: a number is out of its range, there are too few or too many keys, or a key does not have two finite
            entries.
    """
    check("the number of keys", len(keys), 2, 8)
    check("angle", angle, 0, 360)
    check("length", length, 0, 3)
    return figure(
        "query",
        {
            "names": list(keys),
            "keys": _rows("keys", list(keys.values()), 2),
            "axes": list(axes),
            "angle": angle,
            "length": length,
        },
        "A figure with sliders for the angle and the length of a query: it shows the query among the keys of the "
        "sentence, the score and the weight of each key, and the output.",
    )


def mask(
    names: Sequence[str],
    scores: Sequence[Sequence[float]],
    *,
    padding: int = 0,
    causal: bool = False,
    how: str = "first",
    query: int = 0,
) -> Widget:
    """Return a figure of scores with a mask, and of the weights that a softmax makes of them.

    Args:
        names: the words, two to six; each is a query and a key.
        scores: a finite score of each query (row) for each key (column).
        padding: how many of the last words are padding at first, from 0 to all.
        causal: whether keys after the query are masked at first.
        how: what masked keys get at first: "first", a score of -inf; "zero", a score of 0; "after", a weight of 0 after
            the softmax.
        query: the position of the query that the text describes at first.

    Raises:
        ValueError: a number is out of its range, `how` is another word, or the scores are not finite or not one for
            each pair.
    """
    check("the number of names", len(names), 2, 6)
    check("padding", padding, 0, len(names))
    check("query", query, 0, len(names) - 1)
    if how not in {"first", "zero", "after"}:
        raise ValueError(f"how should be 'first', 'zero' or 'after', not {how!r}")
    if len(scores) != len(names):
        raise ValueError(f"scores should have {len(names)} rows, not {len(scores)}")
    return figure(
        "mask",
        {
            "names": list(names),
            "scores": _rows("scores", scores, len(names)),
            "padding": padding,
            "causal": causal,
            "how": how,
            "query": query,
        },
        "A figure with a padding mask and a causal mask: it shows the scores of every query for every key, what the "
        "softmax makes of them, and what happens if the mask is applied in another way.",
    )


def heads(
    names: Sequence[str],
    features: Mapping[str, Sequence[float]],
    *,
    query: int = 0,
    count: int = 1,
    head: int = 0,
) -> Widget:
    """Return a figure of vectors split into heads: each head attends by itself, and their outputs are concatenated.

    Queries, keys and values are the vectors themselves, and scores are not scaled.

    Args:
        names: the words, two to six.
        features: feature -> a number for each word; two to four features.
        query: the position of the query at first.
        count: the number of heads at first; divides the number of features.
        head: the head that is looked at first, from 0.

    Raises:
        ValueError: a number is out of its range, the heads do not divide the features, or a feature does not have a
            finite number for each word.
    """
    check("the number of names", len(names), 2, 6)
    check("the number of features", len(features), 2, 4)
    check("query", query, 0, len(names) - 1)
    check("count", count, 1, len(features))
    if len(features) % count:
        raise ValueError(f"count should divide the number of features; {count} does not divide {len(features)}")
    check("head", head, 0, count - 1)
    columns = _rows("features", list(features.values()), len(names))
    return figure(
        "heads",
        {
            "names": list(names),
            "features": list(features),
            "x": [list(row) for row in zip(*columns, strict=True)],
            "query": query,
            "heads": count,
            "head": head,
        },
        "A figure of vectors split into heads: it shows the features that each head sees, its weights, and its "
        "part of the output.",
    )


def _rows(name: str, rows: Sequence[Sequence[float]], width: int) -> list[list[float]]:
    for row in rows:
        if len(row) != width or not all(map(math.isfinite, row)):
            raise ValueError(f"each row of {name} should have {width} finite numbers, not {list(row)}")
    return [list(map(float, row)) for row in rows]
