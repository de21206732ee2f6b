"""Sets the expected and the actual numbers of a message side by side, and marks the differences.

"the example by hand gives [[3, 1], [3, -1]]; yours is [[3, 2], [3, 1]]" --> two small tables
"""

import json
import math
import re
from itertools import zip_longest

from markupsafe import Markup

LISTS = re.compile(r"\[[-+\d.,eE\s\[\]naif]*\]")
YOURS = re.compile(r"\byours?\b", re.IGNORECASE)
MOST = 64
"""Most numbers in a table; larger tables do not help."""
CLOSE = 1e-3
"""Relative distance below which two numbers are shown as the same; messages round what they show."""

Rows = list[list[float]]


def side_by_side(message: str) -> Markup:
    """Return two tables for a message with a list of expected numbers and then the student's; otherwise nothing.

    Args:
        message: the sentence of a test.
    """
    lists = [(match, rows) for match in LISTS.finditer(message) if (rows := _rows(match[0]))]
    if len(lists) != 2:
        return Markup()
    (first, expected), (second, yours) = lists
    if not YOURS.search(message, first.end(), second.start()) or YOURS.search(message, 0, first.start()):
        return Markup()
    if sum(map(len, expected)) > MOST or sum(map(len, yours)) > MOST:
        return Markup()
    tables = _table("expected", expected, expected) + _table("yours", yours, expected)
    return Markup('<div class="numbers">{}</div>').format(tables)


def _rows(text: str) -> Rows:
    """Return the numbers of a list, or of a list of lists of one length; nothing for anything else."""
    try:
        found = json.loads(
            re.sub(r"\binf\b", "Infinity", re.sub(r"\bnan\b", "NaN", re.sub(r"\.(?=[,\s\]])", "", text)))
        )
    except ValueError:
        return []
    rows = found if found and all(isinstance(row, list) for row in found) else [found]
    is_table = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1 - (len(rows) > 1)
    return rows if is_table and all(isinstance(number, int | float) for row in rows for number in row) else []


def _table(title: str, rows: Rows, expected: Rows) -> Markup:
    lines = Markup()
    nothing: list[float] = []
    for row, other in zip_longest(rows, expected[: len(rows)], fillvalue=nothing):
        cells = Markup()
        for number, right in zip_longest(row, other[: len(row)]):
            sign = Markup() if _same(number, right) else Markup('<span class="hidden"> differs</span>')
            cells += Markup("<td{}>{}{}</td>").format(
                Markup(' class="differs"') if sign else "", f"{number:.4g}".replace("-", "\N{MINUS SIGN}"), sign
            )
        lines += Markup("<tr>{}</tr>").format(cells)
    return Markup("<table><caption>{}</caption><tbody>{}</tbody></table>").format(title, lines)


def _same(number: float, other: float | None) -> bool:
    if other is None:
        return False
    are_nan = math.isnan(number) and math.isnan(other)
    return are_nan or number == other or abs(number - other) <= CLOSE * max(1.0, abs(other))
