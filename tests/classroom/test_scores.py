"""The scores of a class are shown in tables of limited length."""

import io
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from grader.classroom.gradebook.reader import SubmissionScore
from grader.classroom.gradebook.rules import NotebookScore
from grader.commands.grade.console import ROWS, score_tables

OVERRIDES = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Classes of characters that change the direction of the text after them."""


def test_every_student_has_one_row_in_a_class_of_any_size() -> None:
    """A class with one student more than a table holds fills two; a student without a score has a row too.

    Where the roster has names, they are in the table, with those who handed in nothing; without one there is no column.
    """
    score = {"small": NotebookScore(1.0, 2.0, 0.0, 3.0)}

    def rows(students: list[str], people: dict[str, str], count: int = 1) -> list[list[str]]:
        known = {student: SubmissionScore(student, notebooks=score) for student in students}
        tables = list(score_tables("01", known, {"bob": "could not be graded"}, people))
        assert len(tables) == count
        shown = io.StringIO()
        for table in tables:
            Console(file=shown, width=200).print(table)
        lines = [line for line in shown.getvalue().splitlines() if line.startswith("│")]
        return [[part.strip() for part in line.split("│")[1:-1]] for line in lines]

    students = [f"a{number:03}" for number in range(ROWS)]
    unnamed = rows(students, {}, 2)
    assert [row[0] for row in unnamed] == [*students, "bob"]
    assert unnamed[0] == ["a000", "1 / 2", "0 / 3", ""] and unnamed[-1] == ["bob", "-", "-", "could not be graded"]
    assert rows(["ann"], {"ann": "Ann Lee", "cat": "Cat Roe"}) == [
        ["ann", "Ann Lee", "1 / 2", "0 / 3", ""],
        ["bob", "", "-", "-", "could not be graded"],
        ["cat", "Cat Roe", "-", "-", "has not handed in"],
    ]
    assert rows(["ann"], {"cat": ""})[-1] == ["cat", "-", "-", "has not handed in"]


@pytest.mark.slow
@given(name=st.text(st.characters(codec=None), min_size=1))
@example(name="\x1b]0;owned\x07\x1b[2J")
@example(name="eve \u202e001 / 001")
@example(name="eve\rann  8 / 8")
@example(name="\udcff")
@settings(derandomize=True, database=None, deadline=None)
def test_no_name_of_a_folder_acts_on_the_terminal(name: str) -> None:
    """A student chooses it: it moves no cursor, starts no line, and turns no text around. Remarks neither."""
    terminal = io.StringIO()
    for table in score_tables("01", {}, {name: f"there is {name}"}):
        Console(file=terminal, width=400, force_terminal=True, color_system=None).print(table)
    shown = terminal.getvalue()
    shown.encode()
    assert len(shown.splitlines()) == 6 and not [
        character for character in shown if unicodedata.category(character) in ("Cc", "Cs") and character != "\n"
    ]
    assert not [character for character in shown if unicodedata.bidirectional(character) in OVERRIDES]
