"""Holds the figures of positions and of assignment 07: rotations, caches, tiles and sampling."""

import math
from collections.abc import Mapping, Sequence

from course.widgets.common import check, figure
from grader_kernel.widget import Widget

_LENGTH = 61
"""The number of positions in the figure of sinusoidal waves."""
_POSITIONS = 13
"""The number of positions that rotary arrows can have."""


def waves(*, dim: int = 32, position: int, other: int, hand: int = 0) -> Widget:
    """Return a figure of two positions: their clock hands, the waves of one hand, and their dot product.

    Args:
        dim: the model dimension, even, 2 to 32.
        position: the first position, 0 to 60.
        other: the second position, 0 to 60.
        hand: the hand whose waves are drawn first, from 0.

    Raises:
        ValueError: one of the numbers is out of its range, or dim is odd.
    """
    check("dim", dim, 2, 32)
    if dim % 2:
        raise ValueError(f"dim should be even, because each hand has two features; it is {dim}")
    check("position", position, 0, _LENGTH - 1)
    check("other", other, 0, _LENGTH - 1)
    check("hand", hand, 0, dim // 2 - 1)
    return figure(
        "waves",
        {"dim": dim, "length": _LENGTH, "position": position, "other": other, "hand": hand},
        "A figure with sliders for two positions and for a hand of the clock: it shows the hands of both positions, "
        "the sine and the cosine of the hand, and the dot product of the two rows by their distance.",
    )


def rotary(
    *,
    query: int,
    key: int,
    base: float = 100.0,
    query_vector: Sequence[float] = (1, 0, 1, 0),
    key_vector: Sequence[float] = (1, 0, 1, 0),
) -> Widget:
    """Return a figure in which a query and a key of two pairs of features are rotated by their positions.

    Args:
        query: the query's first position, 0 to 12.
        key: the key's first position, 0 to 12.
        base: the first base, 10, 100 or 10,000; in 4 dimensions pair 1 rotates by 1 / base^(1/2) per position.
        query_vector: the query before it is rotated, four features.
        key_vector: the key before it is rotated, four features.

    Raises:
        ValueError: a position or the base is out of its range, or a vector does not have four finite features.
    """
    check("query", query, 0, _POSITIONS - 1)
    check("key", key, 0, _POSITIONS - 1)
    if base not in {10, 100, 10000}:
        raise ValueError(f"base should be 10, 100 or 10000, not {base}")
    for name, vector in (("query_vector", query_vector), ("key_vector", key_vector)):
        if len(vector) != 4 or not all(map(math.isfinite, vector)):
            raise ValueError(f"{name} should have four finite features, not {list(vector)}")
    vectors = {"q": list(map(float, query_vector)), "k": list(map(float, key_vector))}
    return figure(
        "rotary",
        {"query": query, "key": key, "base": int(base), "positions": _POSITIONS, **vectors},
        "A figure with sliders for the positions of a query and a key: it shows how two pairs of their features are "
        "rotated, and the score by their distance.",
    )


def window(names: Sequence[str], *, window: int, sinks: int, written: int = 1) -> Widget:
    """Return a figure of a sliding window with sinks, which writes one token after another.

    Args:
        names: the tokens, at least two, at most 16.
        window: the first number of newest tokens kept, from 1 to the number of tokens.
        sinks: the first number of tokens kept for ever, 0 to 4.
        written: how many tokens have been written at first, from 1.

    Raises:
        ValueError: one of the numbers is out of its range, or there are too few or too many tokens.
    """
    check("the number of names", len(names), 2, 16)
    check("window", window, 1, len(names))
    check("sinks", sinks, 0, 4)
    check("written", written, 1, len(names))
    return figure(
        "window",
        {"names": list(names), "window": window, "sinks": sinks, "written": written},
        "A figure that writes one token after another: it shows to which keys each query attends, and what the cache "
        "holds. Sliders change the window and the number of sinks.",
    )


def cache(
    *,
    power: float = 12.0,
    groups: int = 8,
    layers: int = 32,
    heads: int = 32,
    head_dim: int = 128,
    window: int = 4096,
    sinks: int = 4,
    free: int = 8 * 10**9,
) -> Widget:
    """Return a figure of the key-value caches of four kinds of heads, as a chat grows.

    Args:
        power: the first number of tokens per chat is 2 to this power, 8 to 20.
        groups: the first number of key-value heads of grouped-query attention; divides heads; neither 1 nor heads.
        layers: the number of layers, at least 1.
        heads: the number of query heads, 4 to 64; not a prime number.
        head_dim: the head dimension, at least 1.
        window: the number of newest tokens that the window keeps, at least 1.
        sinks: the number of tokens kept for ever, at least 0.
        free: the number of bytes left for the cache, at least 1.

    Raises:
        ValueError: one of the numbers is out of its range, or groups does not divide heads.
    """
    check("power", power, 8, 20)
    check("heads", heads, 4, 64)
    check("groups", groups, 2, heads - 1)
    if heads % groups:
        raise ValueError(f"groups should divide heads; {groups} does not divide {heads}")
    for name, number, least in (
        ("layers", layers, 1),
        ("head_dim", head_dim, 1),
        ("window", window, 1),
        ("sinks", sinks, 0),
        ("free", free, 1),
    ):
        check(name, number, least, 2**50)
    sizes = {"layers": layers, "heads": heads, "dim": head_dim, "window": window, "sinks": sinks, "free": free}
    return figure(
        "cache",
        {"power": power, "chats": 1, "groups": groups, "bytes": 2, **sizes},
        "A figure with sliders for the number of tokens and of chats: it shows the size of the key-value cache of "
        "multi-head, grouped-query and multi-query attention and of a sliding window, and which of them fit in memory.",
    )


def online(
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    rows: Mapping[str, Sequence[float]],
    *,
    tile: int = 2,
    step: int = 0,
) -> Widget:
    """Return a figure of the online softmax, which reads one tile of scores after another.

    Args:
        names: the words, at least three.
        values: a value for each word, all of one dimension, finite.
        rows: rows of scores to choose from, by name; a score for each word. -inf masks a word. The first comes first.
        tile: the first number of positions per tile: 1, 2, 3, or all.
        step: how many tiles have been read at first.

    Raises:
        ValueError: the numbers of names, values and scores differ, a number is out of its range, or not finite.
    """
    check("the number of names", len(names), 3, 12)
    if tile not in {1, 2, 3, len(names)}:
        raise ValueError(f"tile should be 1, 2, 3 or {len(names)}, not {tile}")
    check("step", step, 0, math.ceil(len(names) / tile))
    if len(values) != len(names) or len({len(value) for value in values}) != 1:
        raise ValueError(f"there should be {len(names)} values of one dimension, one for each word")
    if not all(math.isfinite(number) for value in values for number in value):
        raise ValueError("values should be finite")
    if not rows:
        raise ValueError("rows should hold at least one row of scores")
    for name, row in rows.items():
        if len(row) != len(names) or not all(math.isfinite(score) or score == -math.inf for score in row):
            raise ValueError(f"the row {name!r} should have {len(names)} scores, finite or -inf")
    # JSON has no infinity.
    scores = [[None if score == -math.inf else float(score) for score in row] for row in rows.values()]
    return figure(
        "online",
        {
            "names": list(names),
            "values": [list(map(float, value)) for value in values],
            "rows": [[row, name] for name, row in zip(rows, scores, strict=True)],
            "scores": scores[0],
            "tile": tile,
            "step": step,
        },
        "A figure that reads a row of scores tile by tile: it shows the running maximum, the sum and the output of the "
        "online softmax after each tile.",
    )


def speculative(
    names: Sequence[str], target: Sequence[float], draft: Sequence[float], *, drafts: int = 3, likeness: float = 0.0
) -> Widget:
    """Return a figure of speculative decoding, which judges one draft token after another.

    Args:
        names: the tokens, two to six.
        target: the target model's probability of each token, whatever came before.
        draft: the draft model's probability of each token.
        drafts: the first number of draft tokens per step, 1 to 8.
        likeness: 0 leaves the draft model as it is, and 1 makes it the target model.

    Raises:
        ValueError: the probabilities are not one for each token, are negative or do not sum to 1, or a number is out of
            its range.
    """
    check("the number of names", len(names), 2, 6)
    check("drafts", drafts, 1, 8)
    check("likeness", likeness, 0, 1)
    for name, row in (("target", target), ("draft", draft)):
        if len(row) != len(names) or min(row) < 0 or not math.isclose(sum(row), 1, abs_tol=1e-6):
            raise ValueError(f"{name} should have {len(names)} probabilities that sum to 1, not {list(row)}")
    state = {"names": list(names), "target": list(map(float, target)), "draft": list(map(float, draft))}
    return figure(
        "speculative",
        {**state, "drafts": drafts, "likeness": likeness, "steps": 1, "shown": 0},
        "A figure that judges the tokens of a draft model one by one: it shows which are accepted, what replaces a "
        "rejected one, and how often each token comes out in many steps.",
    )


def sampling(names: Sequence[str], logits: Sequence[float]) -> Widget:
    """Return a figure of what temperature, top-k and top-p leave of the probabilities of the next token.

    Args:
        names: the tokens, at least two.
        logits: a finite logit for each token.

    Raises:
        ValueError: the numbers of names and logits differ, there is only one, or a logit is not finite.
    """
    check("the number of names", len(names), 2, 12)
    if len(logits) != len(names) or not all(map(math.isfinite, logits)):
        raise ValueError(f"there should be {len(names)} finite logits, one for each token, not {list(logits)}")
    return figure(
        "sampling",
        {"names": list(names), "logits": list(map(float, logits)), "temperature": 1, "k": 0, "p": 1},
        "A figure with sliders for temperature, top-k and top-p: it shows "
        "which tokens are left, with their probabilities.",
    )
