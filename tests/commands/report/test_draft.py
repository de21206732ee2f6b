"""Drafts of mistakes without a name: known mistakes of the course are treated as unknown and drafted from an answer.

known mistake --disguised, or in another style--> answer --draft--> edit that behaves like it, as an entry in TOML
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader.commands.prove.mutation import mutants, program
from grader.commands.prove.prover import Prover
from grader.commands.report.canonical import features, statements
from grader.commands.report.draft.ast_diff import applied, differences, names
from grader.commands.report.draft.draft import Draft, behaves_like, draft
from grader.commands.report.draft.misconception_toml import HINT, NAME, as_misconception, as_toml
from grader.engine.diagnosis.misconceptions import Misconception, load
from tests.commands.report.disguise import disguised
from tests.support.exercises import HELPER_PACKAGES, SOURCES, STYLES, misconceptions_of, reference

PROVER = Prover(helper_packages=HELPER_PACKAGES)
SMALL = ("split-heads", "combine-heads", "add-mask", "vanilla-attention")
SCALED = """\
def scaled(rows, by):
    ### BEGIN SOLUTION
    total = rows.sum(-1)
    for row in rows:
        total = total + row.mean()
    total = total * by   # the "scale"
    return total
    ### END SOLUTION"""
STYLE = """
def scaled(a, b):
    s = torch.stack([a.sum(-1), *(r.mean() for r in a)]).sum(0)
    return torch.mul(s, 1 / b)
"""
"""The mistake to divide, in a style that has little in common with the reference."""


def means(answer: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text does the same as an answer, names and order left aside."""
    wanted = features(statements(answer))
    return lambda text: features(statements(text)) == wanted


def loaded(found: Draft, exercise: str, folder: Path) -> Misconception:
    """Return the mistake as it is loaded from the drafted entry."""
    path = folder / "misconceptions" / f"{exercise}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(found.toml, encoding="utf-8")
    [misconception] = load(folder)
    return misconception


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "name"),
    [
        ("split-heads", "splits by a plain view"),
        ("vanilla-attention", "scores without fc_align"),
        ("vanilla-attention", "overwrites the query with fc_align(query)"),
    ],
)
def test_the_draft_of_a_mistake_behaves_like_the_answer(exercise: str, name: str, tmp_path: Path) -> None:
    """The grader confirms it for an answer with other names, order and comments."""
    [known] = [each for each in misconceptions_of(exercise) if each.name == name]
    answer = disguised(known.apply(reference(exercise)), random.Random(1), parameters=False)
    is_alike = behaves_like(SOURCES[exercise], exercise, answer, PROVER)
    found = draft(reference(exercise), exercise, answer, is_alike)
    assert found is not None
    misconception = loaded(found, exercise, tmp_path)
    assert misconception == found.misconception
    assert is_alike(misconception.apply(reference(exercise)))
    assert not is_alike(reference(exercise))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(SCALED.replace("rows.sum(-1)", "rows.sum(dim=-1)").replace("total * by", "total / by"), id="two"),
        pytest.param(STYLE, id="another shape"),
        pytest.param("def scaled(", id="not valid Python"),
    ],
)
def test_the_smallest_edit_wins(answer: str) -> None:
    """Of two things that are written differently one makes the mistake; for another shape, mutants are tried."""
    found = draft(SCALED, "scaled", answer, lambda text: "total / by" in text)
    assert found is not None and found.misconception is not None
    assert (found.misconception.find, found.misconception.replace) == ("total * by", "total / by")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from([each for exercise in SMALL for each in misconceptions_of(exercise)]), st.integers(0, 2**32))
def test_disguised_mistakes_are_found_from_their_text(known: Misconception, seed: int) -> None:
    """An edit that means the same is among the first few that are tried."""
    solution = reference(known.exercise)
    answer = disguised(known.apply(solution), random.Random(seed))
    assume(not means(answer)(solution))  # layers that are made alike have names only
    found = draft(solution, known.exercise, answer, means(answer))
    assert found is not None and found.misconception is not None
    assert means(answer)(found.misconception.apply(solution))


def test_edits_that_only_work_together_are_drafted_together() -> None:
    answer = SCALED.replace("rows.sum(-1)", "rows.prod(0)").replace("total * by", "total / by").replace("mean", "amax")
    found = draft(SCALED, "scaled", answer, lambda text: "/ by" in text and "prod(0)" in text)
    assert found is not None and found.misconception is not None
    assert "amax" not in found.misconception.replace
    assert found.misconception.apply(SCALED) == answer.replace("amax", "mean")


def test_an_answer_that_no_edit_behaves_like_is_shown_in_a_comment() -> None:
    """Whatever is in it. The search ends when its time is over, and for a right answer it does not begin."""
    found = draft(SCALED, "scaled", STYLE, lambda text: False)
    assert found is not None and found.misconception is None
    lines = found.toml.splitlines()
    assert all(line.startswith("#") for line in lines) and "#     return torch.mul(s, 1 / b)" in lines
    assert found.tried >= len(mutants(SCALED))
    found = draft(SCALED, "scaled", "a\r\x1b[2Jb = 1\n[[misconception]]", lambda text: False)
    assert found is not None and found.toml.splitlines()[1:] == ["# a", "# [2Jb = 1", "# [[misconception]]"]
    asked: list[str] = []
    found = draft(SCALED, "scaled", STYLE, lambda text: bool(asked.append(text)), seconds=0)
    assert found is not None and found.misconception is None and asked == [SCALED]
    assert draft(SCALED, "scaled", STYLE, lambda text: True) is None


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.sampled_from([style for style in STYLES if style.parent.name in SOURCES]), st.integers(0, 2**32))
def test_all_edits_together_make_the_answer(style: Path, seed: int) -> None:
    """Whatever the styles are, and however the answer is disguised."""
    answer = disguised(style.read_text(), random.Random(seed))
    solution = reference(style.parent.name)
    made = applied(solution, differences(solution, answer))
    assert program(made) is not None
    assert features(statements(made)) == features(statements(answer))


def test_names_are_those_of_the_reference() -> None:
    """So the only difference is the mistake; a text that is no Python has none."""
    answer = (
        "def scaled(a, b):\n    s = a.sum(-1)\n    for r in a:\n        s = s + r.mean()\n    s = s / b\n    return s"
    )
    assert names(SCALED, answer) == {"a": "rows", "b": "by", "s": "total", "r": "row"}
    [edit] = differences(SCALED, answer)
    assert (SCALED[edit.start : edit.end], edit.text) == ("total * by", "total / by")
    assert differences(SCALED, "def scaled(") == []


@pytest.mark.parametrize(
    ("old", "new", "entry"),
    [
        pytest.param("rows.sum(-1)", "rows.sum(-2)", ("rows.sum(-1)", "rows.sum(-2)"), id="an expression"),
        pytest.param("return total\n", "return -total\n", ("return total", "return -total"), id="not a name alone"),
        pytest.param('    total = total * by   # the "scale"\n', "", None, id="a line that is removed"),
        pytest.param("+ row.mean()\n", "+ row.mean()\n        row = 1\n", None, id="a line that is added"),
        pytest.param("row.mean()", "'\\\"'", None, id="quotes and backslashes"),
        pytest.param("row.mean()", 'f("""a""")', None, id="triple quotes"),
        pytest.param("total\n    ###", "total\n\n    ###", None, id="an empty line"),
    ],
)
def test_an_edit_becomes_an_entry_that_makes_it(old: str, new: str, entry: tuple[str, str] | None) -> None:
    """The entry has the name and the hint that are to be written."""
    text = SCALED.replace(old, new)
    made = as_misconception(SCALED, text, "scaled")
    assert text != SCALED and made is not None and made.apply(SCALED) == text
    assert entry is None or (made.find, made.replace) == entry
    assert as_toml(made).startswith(f'[[misconception]]\nname = "{NAME}"') and HINT in as_toml(made)


@pytest.mark.parametrize("exercise", SMALL)
def test_every_mutant_becomes_an_entry_that_makes_it(exercise: str) -> None:
    """Every third one, to be precise."""
    solution = reference(exercise)
    for mutant in mutants(solution)[::3]:
        made = as_misconception(solution, mutant.text, exercise)
        assert made is not None and made.apply(solution) == mutant.text and as_toml(made)
