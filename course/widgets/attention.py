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


def _rows(name: str, rows: Sequence[Sequence[float]], width: int) -> list[list[float]]:
    for row in rows:
        if len(row) != width or not all(map(math.isfinite, row)):
            raise ValueError(f"each row of {name} should have {width} finite numbers, not {list(row)}")
    return [list(map(float, row)) for row in rows]
