"""Pairs worth a look share what few others have. In a class with a known truth, copies come first
(tests/commands/report/test_class_report.py)."""

import ast
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.prove.mutation import mutants
from grader.commands.report.canonical import MAX_STATEMENTS, features, statements
from grader.commands.report.model import SimilarPair
from grader.commands.report.similar import StudentWork, passage, similar
from tests.commands.report.disguise import disguised
from tests.support.exercises import SOURCES, STYLES, misconceptions_of, reference

pytestmark = pytest.mark.slow

EXERCISES = ("vanilla-attention", "split-heads", "combine-heads", "add-mask", "scaled-dot-product-attention",
             "self-attention", "simplified-self-attention", "index-lookup")  # fmt: skip
GIVEN = {
    exercise: [reference(exercise), *(each.apply(reference(exercise)) for each in misconceptions_of(exercise))]
    for exercise in EXERCISES
}
SPLIT = "split-heads"
RIGHT = [style.read_text() for style in STYLES if style.parent.name in SOURCES]
MISTAKES = [(each.name, each.apply(reference(SPLIT))) for each in misconceptions_of(SPLIT)]
WRONG = [each.apply(reference(each.exercise)) for exercise in EXERCISES for each in misconceptions_of(exercise)]
UNUSUAL = """
def split_heads(x, n_heads):
    rows = x.tolist()
    width = len(rows[0][0]) // n_heads
    cut = [[[word[h * width : (h + 1) * width] for word in words] for h in range(n_heads)] for words in rows]
    flat = sum(sum(sum(cut, []), []), [])
    made = torch.tensor(flat, dtype=x.dtype)
    logs = made.exp().log()
    return logs.reshape(len(cut), n_heads, -1, width)
"""
"""A wrong answer that no one else writes."""


def places(pairs: Sequence[SimilarPair]) -> list[tuple[int, int]]:
    """Return who is in each pair."""
    return [(pair.left, pair.right) for pair in pairs]


def alike(
    answers: Mapping[int, str], behaviour: str = "", students: int = 40, exercise: str = SPLIT
) -> list[StudentWork]:
    """Return a class in which all have full marks for the reference but those with other, wrong answers."""
    works = [StudentWork(place, {exercise: reference(exercise)}, {exercise: 1.0}, {}) for place in range(students)]
    for place, answer in answers.items():
        works[place] = StudentWork(
            place, {exercise: answer}, {exercise: 0.2}, {exercise: behaviour} if behaviour else {}
        )
    return works


def test_common_right_answers_say_nothing() -> None:
    """Not even if two styles are rare, and each of their authors has all in that style."""
    styles = {
        each: [reference(each), *(style.read_text() for style in STYLES if style.parent.name == each)]
        for each in EXERCISES
    }
    works = []
    for place in range(100):
        answers = {exercise: styles[exercise][place % 3 if place < 60 else 0] for exercise in EXERCISES}
        works.append(StudentWork(place, answers, dict.fromkeys(EXERCISES, 1.0), {}))
    assert similar(works, GIVEN) == []


def test_a_frequent_mistake_says_nothing() -> None:
    """Twelve of forty students make it."""
    name, answer = MISTAKES[0]
    assert similar(alike(dict.fromkeys(range(12), answer), name), GIVEN) == []


def test_rare_wrong_behaviour_counts_in_whatever_way_it_is_written() -> None:
    """Twice is no chance, though the texts have nothing in common; once is not enough."""
    texts = [
        "def split_heads(x, n_heads):\n    return x + n_heads",
        "def split_heads(x, n_heads):\n    return n_heads - -x",
    ]
    once = alike(dict(enumerate(texts)), "adds")
    twice = [
        replace(
            work,
            answers=work.answers | {"add-mask": work.answers[SPLIT]},
            shares=work.shares | {"add-mask": work.shares[SPLIT]},
            behaviours=work.behaviours and {SPLIT: "adds", "add-mask": "adds"},
        )
        for work in once
    ]
    assert similar(once, GIVEN) == []
    [pair] = similar(twice, GIVEN)
    assert pair.reasons == [
        f"their wrong answers to `{exercise}` behave alike in every test, as only 2 of 40 do"
        for exercise in (SPLIT, "add-mask")
    ]


def test_a_known_mistake_counts_much_less_than_another() -> None:
    """People make it independently. Several of them are worth a look, and the reasons call them known."""
    name, answer = MISTAKES[0]
    given = GIVEN | {SPLIT: [*GIVEN[SPLIT], answer]}

    def shared(exercises: int, *, is_known: bool) -> list[StudentWork]:
        names = [f"{SPLIT}-{number}" for number in range(exercises)]
        return [
            replace(
                work,
                answers=dict.fromkeys(names, work.answers[SPLIT]),
                shares=dict.fromkeys(names, work.shares[SPLIT]),
                behaviours=dict.fromkeys(names, name) if work.behaviours else {},
                known=names if work.behaviours and is_known else (),
            )
            for work in alike({3: answer, 30: answer}, name)
        ]

    texts = {f"{SPLIT}-{number}": given[SPLIT] for number in range(9)}
    [unknown], [known] = (similar(shared(9, is_known=each), texts) for each in (False, True))
    assert known.score < unknown.score / 2
    assert similar(shared(1, is_known=True), texts) == similar(shared(3, is_known=True), texts) == []
    assert known.reasons[0] == f"their wrong answers to `{SPLIT}-0` are the same known mistake, made by 2 of 40"


def test_unusual_text_counts_without_a_known_behaviour() -> None:
    """The pair has its share, and the order of students changes nothing."""
    other = UNUSUAL.replace("len(rows[0][0])", "rows.width").replace(".exp().log()", "")
    for text, share in ((disguised(UNUSUAL, random.Random(1)), 100), (other, 56)):
        works = alike({3: UNUSUAL, 30: text})
        [pair] = similar(works, GIVEN)
        [again] = similar(works[::-1], GIVEN)
        assert {again.left, again.right} == {3, 30} and again.score == pair.score
        assert places([pair]) == [(3, 30)] and [shown.exercise for shown in pair.passages] == [SPLIT]
        assert pair.reasons == [f"{share}% of the unusual lines of `split-heads` match after renaming"]


def test_the_pair_that_shares_most_comes_first() -> None:
    """In any order of the class."""
    short = "def split_heads(x, n_heads):\n    rows = x.tolist()\n    return rows[::2] + rows[1::2] + [n_heads] * 7"
    assert places(similar(alike({1: short, 2: short, 3: UNUSUAL, 30: UNUSUAL}), GIVEN)) == [(3, 30), (1, 2)]


def test_unusual_text_says_little_where_both_have_full_marks_or_it_was_given_to_everybody() -> None:
    """The same text counts where both lose points."""
    wrong = alike({3: UNUSUAL, 30: UNUSUAL})
    right = [replace(work, shares={SPLIT: 1.0}) for work in wrong]
    assert similar(wrong, GIVEN)
    assert similar(right, GIVEN) == [] == similar(wrong, {SPLIT: [*GIVEN[SPLIT], UNUSUAL]})


def test_answers_with_a_syntax_error_are_compared_too() -> None:
    """Line by line, and even with one that has none."""
    broken = UNUSUAL.replace("width =", "width = (").replace("return", "ret urn")
    assert statements(broken) != statements(UNUSUAL)
    with pytest.raises(SyntaxError):
        ast.parse(broken)
    renamed = broken.replace("width", "w").replace("rows", "table") + "\n# done"
    for other in (renamed, UNUSUAL.replace("rows", "table")):
        assert places(similar(alike({3: broken, 30: other}), GIVEN)) == [(3, 30)]


def test_exercises_that_ended_differently_speak_against_a_pair() -> None:
    """A pair without that exercise scores more."""
    works = alike({3: UNUSUAL, 30: UNUSUAL})
    differ = [
        replace(
            work,
            answers=work.answers | {"add-mask": "def add_mask(x, mask):\n    return " + "x" * (1 + work.index % 2)},
            shares=work.shares | {"add-mask": 0.0},
            behaviours={"add-mask": f"mistake {work.index % 2}"},
        )
        for work in works
    ]
    [alone], [beside] = similar(works, GIVEN), similar(differ, GIVEN)
    assert beside.score < alone.score


def test_a_class_that_is_empty_or_answers_alike_has_no_pairs() -> None:
    """With one wrong answer, line by line: what all have in common is no evidence against two of them."""
    wrong = "def split_heads(x, n_heads):\n    return x + n_heads"
    for students in range(6):
        assert similar(alike(dict.fromkeys(range(students), wrong), "adds", students=students), GIVEN) == []


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(RIGHT + WRONG), st.integers(0, 2**32))
def test_names_order_comments_and_layout_change_nothing(answer: str, seed: int) -> None:
    other = disguised(answer, random.Random(seed))
    assert other != answer
    assert features(statements(other)) == features(statements(answer))


@pytest.mark.parametrize("exercise", ["split-heads", "combine-heads", "add-mask"])
def test_every_mutant_differs(exercise: str) -> None:
    """A change of anything but names, order, comments and layout changes the features."""
    answer = reference(exercise)
    for mutant in mutants(answer):
        assert features(statements(mutant.text)) != features(statements(answer)), mutant.edit


@pytest.mark.parametrize(
    ("is_same", "one", "other"),
    [
        pytest.param(True, "x: int = 3", "x = 3", id="annotation"),
        pytest.param(True, "def f(a: int) -> int:\n    return a", "def f(a):\n    return a", id="signature"),
        pytest.param(True, 'def f():\n    """Text."""\n    return 1', "def f():\n    return 1", id="docstring"),
        pytest.param(True, "if a: b = (1)", "if (a):\n\n    b = 1  # one", id="layout"),
        pytest.param(True, "self.a = 1\nf(self.a)", "self.b = 1\nf(self.b)", id="attribute"),
        pytest.param(
            True, "def f(a): return a\nf(a=1)", "def f(b): return b\nf(b=1)", id="argument of an own function"
        ),
        pytest.param(True, "for i in x:\n    y = [j for j in i]", "for k in x:\n    z = [m for m in k]", id="loops"),
        pytest.param(True, "x = 1\ny = (", "z = 1  # broken\ny = (", id="broken"),
        pytest.param(False, "x.sum()", "x.mean()", id="name that is not its author's"),
        pytest.param(False, "f(dim=1)", "f(axis=1)", id="argument of another's function"),
        pytest.param(False, "a = 1\nb = a + a", "a = 1\nb = 1\nc = a + b", id="which names"),
        pytest.param(False, "a = f()\nb = g()\nh(a)", "a = f()\nb = g()\nh(b)", id="what sets a name"),
        pytest.param(False, "x = (1", "x = (2", id="another broken text"),
    ],
)
def test_what_says_nothing_is_left_out_and_what_counts_is_kept(is_same: bool, one: str, other: str) -> None:
    """Annotations, documentation, layout and own names say nothing."""
    assert (features(statements(one)) == features(statements(other))) is is_same


@pytest.mark.parametrize(
    "source",
    [
        "-" * 20_000 + "1",
        "-" * 800 + "1",
        "(" * 20_000,
        "1+" * 9_999 + "1",
        "x" + ".a" * 9_999,
        "f" + "()" * 9_999,
        "lambda:" * 2_800 + "1",
        "if 1: pass\n" + "elif 1: pass\n" * 1_500,
        "x = 0x" + "f" * 19_000,
        "x = (\n" * 3_000,
        '"""\n' * 4_999,
        "a;" * 9_999,
        "\0\x0c\ud800 x = 1",
        "x = 1\n" * 200_000,
        "",
    ],
    ids=lambda source: repr(source[:12]),
)
def test_any_text_is_read_at_a_bounded_cost(source: str) -> None:
    works = alike({3: source, 30: source}, "same")
    assert len(statements(source)) <= MAX_STATEMENTS
    similar(works, GIVEN)
    shown = passage(SPLIT, source, source)
    assert len(shown.left) <= 300 and max(map(len, shown.left)) <= 300


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(RIGHT + WRONG), st.integers(0, 2**32))
def test_lines_side_by_side_are_the_same_after_renaming(answer: str, seed: int) -> None:
    """Every statement of a disguised answer finds its line in the original, those that were moved as well."""
    other = disguised(answer, random.Random(seed))
    shown = passage(SPLIT, answer, other)
    assert {each.first for each in statements(other)} <= {right for _, right in shown.same}
    both = [{each.first: each.text for each in statements(text)} for text in (answer, other)]
    for left, right in shown.same:
        if left in both[0] and right in both[1]:
            assert both[0][left] == both[1][right]


def test_lines_that_differ_are_not_paired_and_the_cases_of_a_match_are_lines_of_their_own() -> None:
    """A comment between cases moves the lines below it, and no others."""
    assert passage(SPLIT, "a = 1\nb = f(a)\nc = 2", "z = 1\ny = g(z)\nc = 2").same == [(0, 0), (2, 2)]
    cases = "        case 1:\n            y = 2\n            return y\n        case _:\n            return 0\n"
    answer = f"def f(x):\n    match x:\n{cases}"
    other = answer.replace("        case _", "# one more\n        case _")
    assert set(passage(SPLIT, answer, other).same) == {(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 7)}
