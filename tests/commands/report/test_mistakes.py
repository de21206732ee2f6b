"""The mistakes of a class: groups of wrong answers that behave alike, whatever else differs."""

from hypothesis import given
from hypothesis import strategies as st

from grader.commands.report.mistakes import WrongAnswer, grouped
from grader.engine.explanation import Cause, Explanation, Where
from grader.engine.report import Fingerprint, Result, Verdict

REAL = st.floats(-1e3, 1e3)
FOUR = Explanation("", Cause.PROPERTY, "It is 3, and yours is 4.")


def wrong(index: int, fingerprint: Fingerprint, said: Explanation = FOUR) -> WrongAnswer:
    """A wrong answer with one failed test."""
    failed = Result("one-test-more", "one", Verdict.FAILED, 0.0, 2.0, said, fingerprint=fingerprint)
    return WrongAnswer(index, "one", [failed], f"answer {index}")


def places(answers: list[WrongAnswer]) -> list[tuple[list[int], bool]]:
    """The groups as students, in order."""
    return sorted(([each.index for each in members], is_certain) for members, is_certain in grouped(answers))


@given(st.lists(st.tuples(REAL, REAL), min_size=1, max_size=5), st.integers(2, 6), st.floats(-1, 1), st.randoms())
def test_rounding_never_splits_a_group(
    numbers: list[tuple[float, float]], size: int, noise: float, chance: object
) -> None:
    """Students of one behaviour are one group, in whatever order they come."""
    flat = tuple(number for pair in numbers for number in (abs(pair[0]), pair[1]))
    answers = []
    for place in range(size):
        rounded = [
            number + 1e-6 * noise * place / size * abs(flat[2 * (index // 2)]) for index, number in enumerate(flat)
        ]
        answers.append(wrong(place, Fingerprint("s", "", tuple(rounded))))
    chance.shuffle(answers)  # type: ignore[attr-defined]
    ((members, is_certain),) = grouped(answers)
    assert {each.index for each in members} == set(range(size)) and is_certain


def test_other_numbers_or_words_are_another_group() -> None:
    """The numbers within a message and the place of an error do not count."""
    alike = Fingerprint("s", "", (1.0, 0.5))
    answers = [
        wrong(0, alike),
        wrong(1, alike, Explanation("", Cause.PROPERTY, "It is 3, and yours is 5.", judged_with=("zero",))),
        wrong(2, Fingerprint("s", "", (1.0, 0.6))),
        wrong(3, Fingerprint("t", "", (1.0, 0.5))),
        wrong(4, alike, Explanation("", Cause.RAISED, "", "ValueError", Where("one", 3, "f(x)  # why?"))),
        wrong(5, alike, Explanation("", Cause.RAISED, "", "ValueError", Where("one", 7, "g(y)"))),
    ]
    assert places(answers) == [([0, 1], True), ([2], True), ([3], True), ([4, 5], True)]


def test_other_parameters_hide_no_group_and_join_no_two() -> None:
    """Numbers that come from other parameters say nothing, so the words decide, unless there are two such groups."""
    first, second = Fingerprint("s", "a", (1.0, 0.5)), Fingerprint("s", "b", (7.0, 3.0))
    assert places([wrong(0, first), wrong(1, second)]) == [([0, 1], False)]
    third = Fingerprint("s", "a", (2.0, 0.5))
    assert places([wrong(0, first), wrong(1, second), wrong(2, third)]) == [([0], True), ([1], True), ([2], True)]
