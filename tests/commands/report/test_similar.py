"""Pairs worth a look: a class made of right answers, known mistakes and mutants of the course, with copies in it.

right styles, mistakes, mutants --drawn--> honest students; some of them --disguised--> copies --similar--> Pair
"""

import ast
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.prove.mutation import mutants
from grader.commands.report.canonical import MAX_STATEMENTS, features, statements
from grader.commands.report.model import SimilarPair
from grader.commands.report.similar import StudentWork, passage, similar
from tests.commands.report.disguise import disguised, exchange
from tests.support.exercises import SOURCES, STYLES, misconceptions_of, reference

pytestmark = pytest.mark.slow

EXERCISES = ("vanilla-attention", "split-heads", "combine-heads", "add-mask", "scaled-dot-product-attention",
             "self-attention", "simplified-self-attention", "index-lookup")  # fmt: skip
STUDENTS, COPIES = 300, 8
GIVEN = {
    exercise: [reference(exercise), *(each.apply(reference(exercise)) for each in misconceptions_of(exercise))]
    for exercise in EXERCISES
}
SPLIT = "split-heads"
RIGHT = [style.read_text() for style in STYLES if style.parent.name in SOURCES]
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


@dataclass(frozen=True)
class Bank:
    """Answers to an exercise: right ones, and wrong ones by name."""

    right: list[str]
    mistakes: list[tuple[str, str]]
    mutants: list[tuple[str, str]]


@cache
def bank(exercise: str) -> Bank:
    """Return what is known about an exercise of the course."""
    answer = reference(exercise)
    right = [answer, *(style.read_text() for style in STYLES if style.parent.name == exercise)]
    mistakes = [(each.name, each.apply(answer)) for each in misconceptions_of(exercise)]
    return Bank(right, mistakes, [(each.name + each.edit, each.text) for each in mutants(answer)])


def honest(index: int, chance: random.Random) -> StudentWork:
    """Return the work of a student who does right what they can; some mistakes are more frequent than others."""
    work = StudentWork(index, {}, {}, {}, set())
    ability = chance.betavariate(4, 2)
    for exercise in EXERCISES:
        known, share = bank(exercise), 1.0
        if chance.random() < ability:
            answer = known.right[0] if chance.random() < 0.5 else chance.choice(known.right)
        else:
            often = min(int(chance.expovariate(1 / 6)), len(known.mistakes) - 1)
            behaviour, answer = known.mistakes[often] if chance.random() < 0.6 else chance.choice(known.mutants)
            work.behaviours[exercise], share = behaviour, 0.3  # type: ignore[index]
            if behaviour in dict(known.mistakes):
                work.known.add(exercise)  # type: ignore[attr-defined]
        work.answers[exercise], work.shares[exercise] = answer, share  # type: ignore[index]
    return work


def copied(work: StudentWork, index: int, chance: random.Random) -> StudentWork:
    """Return the same work, disguised and handed in by another student."""
    return replace(work, index=index, answers={name: disguised(text, chance) for name, text in work.answers.items()})


def classroom(seed: int) -> tuple[list[StudentWork], set[tuple[int, int]]]:
    """Return a class and the pairs in which one is a copy of the other's work, three wrong answers included.

    One of them at least is no known mistake: those alone look like chance.
    """
    chance = random.Random(seed)
    students = [honest(place, chance) for place in range(STUDENTS - COPIES)]
    copyable = [each for each in students if len(each.behaviours) >= max(3, len(each.known) + 1)]
    originals = chance.sample(copyable, COPIES)
    students += [copied(each, STUDENTS - COPIES + number, chance) for number, each in enumerate(originals)]
    return students, {(each.index, STUDENTS - COPIES + number) for number, each in enumerate(originals)}


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


@pytest.fixture(scope="module", params=range(2))
def found(request: pytest.FixtureRequest) -> tuple[list[StudentWork], set[tuple[int, int]], list[SimilarPair]]:
    """A class, the copies in it, and the pairs that are found."""
    students, planted = classroom(request.param)
    return students, planted, similar(students, GIVEN)


def test_copies_that_are_renamed_reordered_and_commented_rank_in_the_first_twenty(found) -> None:
    _, planted, pairs = found
    assert planted <= set(places(pairs[:20]))


def test_no_pair_of_honest_full_marks_is_listed(found) -> None:
    students, _, pairs = found
    right = {work.index for work in students if not work.behaviours}
    assert len(right) > STUDENTS / 20
    assert not [pair for pair in places(pairs) if right.issuperset(pair)]


def test_every_pair_has_reasons_and_answers_side_by_side(found) -> None:
    _, _, pairs = found
    for pair in pairs:
        assert pair.reasons and pair.passages
        assert {shown.exercise for shown in pair.passages} <= set(re.findall("`(.*?)`", " ".join(pair.reasons)))


def test_pairs_are_in_the_order_of_their_scores_and_do_not_depend_on_that_of_students(found) -> None:
    students, _, pairs = found
    scores = [pair.score for pair in pairs]
    assert scores == sorted(scores, reverse=True)
    mixed = random.Random(0).sample(students, len(students))
    again = {frozenset((pair.left, pair.right)): pair.score for pair in similar(mixed, GIVEN)}
    assert {again.get(frozenset((pair.left, pair.right))) for pair in pairs[:20]} == set(scores[:20])


def test_common_right_answers_say_nothing() -> None:
    """Not even if two styles are rare, and each of their authors has all in that style."""
    works = [honest(place, random.Random(place)) for place in range(2)]
    for place in range(100):
        style = place % 3 if place < 60 else 0
        answers = {exercise: bank(exercise).right[style] for exercise in EXERCISES}
        works.append(StudentWork(place, answers, dict.fromkeys(EXERCISES, 1.0), {}))
    assert similar(works[2:], GIVEN) == []


def test_a_frequent_mistake_says_nothing() -> None:
    name, answer = bank(SPLIT).mistakes[0]
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
    name, answer = bank(SPLIT).mistakes[0]
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
    [pair] = similar(alike({3: UNUSUAL, 30: disguised(UNUSUAL, random.Random(1))}), GIVEN)
    assert places([pair]) == [(3, 30)]
    assert pair.reasons == ["100% of the unusual lines of `split-heads` match after renaming"]


def test_the_share_of_unusual_lines_is_told() -> None:
    other = UNUSUAL.replace("len(rows[0][0])", "rows.width").replace(".exp().log()", "")
    [pair] = similar(alike({3: UNUSUAL, 30: other}), GIVEN)
    assert pair.reasons == ["56% of the unusual lines of `split-heads` match after renaming"]


def test_unusual_text_says_little_where_both_have_full_marks() -> None:
    wrong = alike({3: UNUSUAL, 30: UNUSUAL})
    right = [replace(work, shares={SPLIT: 1.0}) for work in wrong]
    assert similar(wrong, GIVEN) and similar(right, GIVEN) == []


def test_text_that_everybody_was_given_says_nothing() -> None:
    works = alike({3: UNUSUAL, 30: UNUSUAL})
    assert similar(works, GIVEN) and similar(works, {SPLIT: [*GIVEN[SPLIT], UNUSUAL]}) == []


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
    works = alike({3: UNUSUAL, 30: UNUSUAL})
    mistakes = bank("add-mask").mistakes
    differ = [
        replace(
            work,
            answers=work.answers | {"add-mask": mistakes[work.index % 2][1]},
            shares=work.shares | {"add-mask": 0.0},
            behaviours={"add-mask": mistakes[work.index % 2][0]},
        )
        for work in works
    ]
    [alone], [beside] = similar(works, GIVEN), similar(differ, GIVEN)
    assert beside.score < alone.score


@pytest.mark.parametrize("students", range(3))
def test_a_class_of_few_has_no_pairs(students: int) -> None:
    assert similar(alike({}, students=students), GIVEN) == []


def test_a_class_that_answers_alike_has_no_pairs() -> None:
    """With one wrong answer, line by line: what all have in common is no evidence against two of them."""
    wrong = "def split_heads(x, n_heads):\n    return x + n_heads"
    for students in range(2, 6):
        assert similar(alike(dict.fromkeys(range(students), wrong), "adds", students=students), GIVEN) == []


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(RIGHT + WRONG), st.integers(0, 2**32))
def test_names_order_comments_and_layout_change_nothing(answer: str, seed: int) -> None:
    other = disguised(answer, random.Random(seed))
    assert other != answer
    assert features(statements(other)) == features(statements(answer))


def test_many_answers_can_be_reordered() -> None:
    """So the test above is about order as well."""
    assert sum(exchange(ast.parse(answer), random.Random(0)) > 0 for answer in RIGHT + WRONG) > 100


@pytest.mark.parametrize("exercise", ["split-heads", "combine-heads", "add-mask"])
def test_every_mutant_differs(exercise: str) -> None:
    """A change of anything but names, order, comments and layout changes the features."""
    answer = reference(exercise)
    for mutant in mutants(answer):
        assert features(statements(mutant.text)) != features(statements(answer)), mutant.edit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("x: int = 3", "x = 3", id="annotation"),
        pytest.param("def f(a: int) -> int:\n    return a", "def f(a):\n    return a", id="annotated signature"),
        pytest.param('def f():\n    """Text."""\n    return 1', "def f():\n    return 1", id="docstring"),
        pytest.param("if a: b = (1)", "if (a):\n\n    b = 1  # one", id="layout"),
        pytest.param("self.a = 1\nf(self.a)", "self.b = 1\nf(self.b)", id="attribute"),
        pytest.param("def f(a): return a\nf(a=1)", "def f(b): return b\nf(b=1)", id="argument of an own function"),
        pytest.param("for i in x:\n    y = [j for j in i]", "for k in x:\n    z = [m for m in k]", id="loops"),
        pytest.param("x = 1\ny = (", "z = 1  # broken\ny = (", id="broken"),
    ],
)
def test_what_says_nothing_is_left_out(one: str, other: str) -> None:
    assert features(statements(one)) == features(statements(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("x.sum()", "x.mean()", id="name that is not its author's"),
        pytest.param("f(dim=1)", "f(axis=1)", id="argument of another's function"),
        pytest.param("a = 1\nb = a + a", "a = 1\nb = 1\nc = a + b", id="which names"),
        pytest.param("a = f()\nb = g()\nh(a)", "a = f()\nb = g()\nh(b)", id="what sets a name"),
        pytest.param("x = (1", "x = (2", id="broken"),
    ],
)
def test_what_counts_is_kept(one: str, other: str) -> None:
    assert features(statements(one)) != features(statements(other))


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


def test_lines_that_differ_are_not_paired() -> None:
    shown = passage(SPLIT, "a = 1\nb = f(a)\nc = 2", "z = 1\ny = g(z)\nc = 2")
    assert shown.same == [(0, 0), (2, 2)]


def test_the_cases_of_a_match_are_lines_of_their_own() -> None:
    """A comment between them moves the lines below it, and no others."""
    cases = "        case 1:\n            y = 2\n            return y\n        case _:\n            return 0\n"
    answer = f"def f(x):\n    match x:\n{cases}"
    other = answer.replace("        case _", "# one more\n        case _")
    assert set(passage(SPLIT, answer, other).same) == {(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 7)}
