"""A marking scheme becomes comments with points."""

import pytest
from traitlets.config import Config

from grader.commands.mark.questions import questions_in
from grader.commands.mark.scheme import MAX_COMMENTS, MAX_TEXT, comments_of
from grader.engine.notebook.cells import CellType
from tests.support.exercises import NOTEBOOKS
from tests.support.notebooks import cell, notebook, task


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("One point for the two parts, half for one of them.", [("The two parts", 1), ("One of them", 0.5)]),
        ("Two points for each formula.", [("Each formula", 2)]),
        ("1.5 points for a drawing; half a point if it has no axes.", [("A drawing", 1.5), ("It has no axes", 0.5)]),
        ("One point for the way: it (a; b) works; half for its end.", [("The way", 1), ("Its end", 0.5)]),
        ("One point for 1: it rains. Really.", [("Part 1: it rains", 1)]),
        ("One point for (b), both cases: yes.", [("Part (b), both cases", 1)]),
        (
            '*Common mistakes:* "no" (no point); none at all.',
            [('A common mistake: "no"', None), ("A common mistake: none at all", None)],
        ),
        ("One point for a sentence that\nan editor broke.", [("A sentence that an editor broke", 1)]),
        ("The weights sum to one for each word; there is no half.", []),
        ("", []),
    ],
)  # fmt: skip
def test_what_gives_points_is_a_comment(scheme: str, expected: list[tuple[str, float | None]]) -> None:
    """What is worth no points stays prose, and a list of mistakes becomes words without points."""
    assert [(each.text, each.points) for each in comments_of(scheme)] == expected


def test_any_text_gives_few_short_comments() -> None:
    """Whatever is in a scheme."""
    for text in (
        "One point for " * 5000,
        "half a point for (((" * 500,
        "one point for x;\n" * 300,
        "\u2028½ point if \\$" * 99,
    ):
        found = comments_of(text)
        assert len(found) <= MAX_COMMENTS and all(0 < len(each.text) <= MAX_TEXT + 2 for each in found)


def test_the_schemes_of_the_course_give_comments() -> None:
    """Nine of ten are worth together what the question is worth; in the others a sentence says `for each`."""
    enough = []
    for path, source in NOTEBOOKS.items():
        for question in questions_in(path.stem, source, Config()):
            if question.kind is not CellType.MANUAL_ANSWER:
                continue
            answer = cell(source, question.cell)
            assert question.scheme and "MARK SCHEME" not in question.scheme + question.prompt, question.name
            assert question.prompt and question.ours == answer.source
            worth = sum(each.points or 0 for each in question.suggested)
            enough.append(worth >= answer.metadata.nbgrader.points)
    assert len(enough) > 40 and sum(enough) >= 0.9 * len(enough)


def test_the_markers_of_a_course_count() -> None:
    """nbgrader lets a course change them."""
    config = Config()
    config.ClearMarkScheme.begin_mark_scheme_delimeter = "FOR US"
    config.ClearMarkScheme.end_mark_scheme_delimeter = "FOR ALL"
    text = "Do it.\nFOR US\nOne point for doing it.\nFOR ALL\nNow."
    (question,) = questions_in("n", notebook(task("t", text)), config)
    assert (question.prompt, question.scheme) == ("Do it.\nNow.", "One point for doing it.")
    assert [each.text for each in question.suggested] == ["Doing it"]
