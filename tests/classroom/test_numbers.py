"""A message with what is expected and what came is shown as two tables, in which what differs is marked."""

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.page.numbers import side_by_side


def tables(message: str) -> list[tuple[str, list[list[str]], int]]:
    """Return the caption, the cells and the number of marks of each table."""
    found = BeautifulSoup(side_by_side(message), "html.parser")
    for remark in found.select(".hidden"):
        remark.extract()
    return [
        (
            table.caption.get_text(),
            [[cell.get_text() for cell in row.select("td")] for row in table.select("tr")],
            len(table.select(".differs")),
        )
        for table in found.select("table")
    ]


def test_two_lists_become_two_tables() -> None:
    """The numbers that differ are marked in the student's table only, also where a row goes on for longer.

    Shapes may differ; nan is equal to nan and to nothing else.
    """
    assert tables("it is [1, 2]; yours is [1.0, nan, 3.0]") == [
        ("expected", [["1", "2"]], 0),
        ("yours", [["1", "nan", "3"]], 2),
    ]
    assert [marks for _, _, marks in tables("it is [nan, 1]; yours is [nan, inf]")] == [0, 1]
    message = "the example by hand gives [[3, 1], [3, -1]]; yours is [[3.0, 2.0], [3.0, -1.0]]"
    assert tables(message) == [
        ("expected", [["3", "1"], ["3", "−1"]], 0),
        ("yours", [["3", "2"], ["3", "−1"]], 1),
    ]


@pytest.mark.parametrize(
    "message",
    [
        "no numbers at all",
        "only [1, 2] is here; yours is missing",
        "yours is [1, 2], and [3, 4] is expected",
        "[1, 2] differs from [3, 4]",
        "the shapes (1, 2) and [1]; yours is [2]",
        "the rows [[1, 2], [3]]; yours is [[1, 2], [3, 4]]",
        f"all of {list(range(65))}; yours is {list(range(65))}",
        "a list [1, 2] of names ['x']; yours is [1, 2] or [2, 3]",
        "[[[1, 2]]]; yours is [[[1, 2]]]",
        "[true, false]; yours is [1, 0]",
        "[]; yours is []",
    ],
)
def test_other_messages_have_no_tables(message: str) -> None:
    """What cannot be set side by side stays a sentence."""
    assert side_by_side(message) == ""


@given(st.text(alphabet="[]0123456789.,- einfayours<>&", max_size=200))
def test_no_message_breaks_the_page(message: str) -> None:
    """Whatever a message holds, only tables come out of it."""
    assert {tag.name for tag in BeautifulSoup(side_by_side(message), "html.parser").find_all()} <= {
        "div", "table", "caption", "tbody", "tr", "td", "span"
    }  # fmt: skip
