"""The scores of a class are shown in tables of limited length."""

import io

from rich.console import Console

from grader.classroom.scores import ROWS, StudentScore, tables


def test_every_student_has_one_row_in_a_class_of_any_size() -> None:
    """A class with one student more than a table holds fills two; a student without a score has a row too."""
    known = {f"s{number:03}": StudentScore(f"s{number:03}", 1.0, 2.0, 0.0, 3.0, False) for number in range(ROWS)}
    shown = io.StringIO()
    count = 0
    for table in tables("04-attention", known, {"zoe": "could not be graded"}):
        Console(file=shown, width=80).print(table)
        count += 1
    rows = [line.split("│")[1:-1] for line in shown.getvalue().splitlines() if line.startswith("│")]
    assert count == 2
    assert [row[0].strip() for row in rows] == [*known, "zoe"]
    assert [part.strip() for part in rows[0]] == ["s000", "1 / 2", "0 / 3", ""]
    assert [part.strip() for part in rows[-1]] == ["zoe", "-", "-", "could not be graded"]
