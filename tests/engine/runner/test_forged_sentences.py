"""No sentence of a student's or an author's is taken for one of the grader's: a view is made of fields, not of text."""

import pytest

from grader.commands.report.mistakes import without_details
from grader.engine.explanation import Cause, Explanation, KnownMistake, Where
from grader.engine.grading import grade
from grader.engine.view import WRONG, ExerciseView, views
from tests.support.notebooks import answer, answered, check, hidden, notebook

OURS = sorted(
    {
        Explanation(
            "A truth.", cause, detail, "ValueError", where, "torch", got_none=got_none, judged_with=used, **more
        ).message
        for cause in Cause
        for detail in ("", "a detail")
        for where in (None, Where("one", 2, "x = 1"))
        for got_none in (False, True)
        for used in ((), ("one",), ("one", "two"))
        for more in ({}, {"misconceptions": (KnownMistake("is right", "Well done."),)})
    }
    - {""}
)
"""Every sentence that the grader can say, alone and together with others."""
SOURCE = notebook(
    answer("one", "def one():\n    return 1"),
    check("one-check", "assert one() == 1, 'one() is 1.'"),
    answer("two", "def two():\n    return 2"),
    check("two-check", "assert two() == 2, 'two() is 2.'"),
    hidden("two-test-a", "two() is even.", "assert two() % 2 == 0"),
)


def two(raised: str, test: str = "") -> ExerciseView:
    """What is shown of `two` when its answer raises this, or its visible check has this message."""
    code = f"def two():\n    raise ValueError({raised!r})" if raised else "def two():\n    return 4"
    source = notebook(*SOURCE.cells)
    if test:
        source.cells[3] = check("two-check", f"assert two() == 2, {test!r}")
    _, shown = views(grade(source, answered(source, one="def one():\n    return 3", two=code)).results)
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("sentences", [OURS[start::10] for start in range(10)])
def test_what_a_student_raises_stays_the_text_of_an_error(sentences: list[str]) -> None:
    """Neither a diagnosis, nor our answer in its place, nor something to mend first; the whole text is there."""
    for sentence in sentences:
        shown = two(sentence)
        assert (shown.state, shown.diagnosis, shown.judged_with) == (WRONG, "", ())
        (reason,) = shown.reasons
        assert reason.sentence.startswith(f"Your code raised ValueError: {sentence} (in two, line 2: ")
        assert (reason.first, reason.is_shared, reason.tests) == ("", False, ("two-check", "two-test-a"))
        assert reason.claims == ("two() is even.",)


@pytest.mark.parametrize("sentence", ["Your code raised no error; it must raise ValueError.", *OURS[::20]])
def test_what_an_author_writes_stays_the_message_of_the_test(sentence: str) -> None:
    """Also if it begins as a sentence of the grader does."""
    (reason,) = two("", sentence).reasons
    assert (reason.sentence, reason.tests, reason.is_shared) == (Explanation("", Cause.PROPERTY, sentence).claim,
                                                                 ("two-check",), False)  # fmt: skip


def test_answers_that_raise_other_sentences_of_ours_behave_in_other_ways() -> None:
    """The report on the class cuts nothing out of an error's text."""
    said = {without_details(Explanation("", Cause.RAISED, text, "ValueError")) for text in ("a", "a. " + OURS[0])}
    assert len(said) == 2
