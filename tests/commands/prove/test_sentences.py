"""`grader prove --sentences` finds sentences that name a cause for an answer that does not have it."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.commands.cli import main
from grader.commands.prove.matrix import AnswerRow, Kind
from grader.commands.prove.sentences.assertions import said, sentences
from grader.commands.prove.sentences.leads import leads
from tests.support.notebooks import answer, check, hidden, notebook
from tests.support.records import MISTAKE, write
from tests.support.small_class import NAME

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]

CHECK = """# Run this cell.
got = scaled(2, 3)
assert got is not None, "scaled returned nothing: is a return missing?"
for number, say in ((3, "Yours is the second number alone."), (5, "Yours adds them.")):
    assert got != number, say
assert got == 6, f"Twice three is 6, not {got}."
"""
TIES = """
[[sentence]]
says = "the second number alone"
means = ["takes by"]

[[sentence]]
says = "Yours adds them"
means = ["adds"]

[[sentence]]
says = "is a return missing"
always = "the check got None"
"""
MISTAKES = MISTAKE.format(name="takes by", replace="by") + MISTAKE.format(name="adds", replace="x + by")


def save(folder: Path, code: str = CHECK, toml: str = MISTAKES + TIES, one: str = "scaled(5, -1) == -5") -> None:
    """Write the course with this visible check, list of mistakes and condition of the hidden test."""
    cells = (
        answer("scaled", "def scaled(x, by):\n    ### BEGIN SOLUTION\n    return x * by\n    ### END SOLUTION"),
        check("scaled-check", code),
        hidden("scaled-test-one", "By -1, the sign changes.", f"assert {one}, f'Five is taken off: {{scaled(5, -1)}}'"),
    )
    write(folder / "source" / NAME / "misconceptions/scaled.toml", toml)
    nbformat.write(notebook(*cells), folder / "source" / NAME / "small.ipynb")


def proved(capsys: Capture, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit status of the command, and what it says about sentences."""
    status = main(["prove", "--sentences", "--json", *options])
    (exercise,) = json.loads(capsys.readouterr().out)["exercises"]
    found = exercise["leads"]
    errors = [name for name in ("untied", "false", "dead", "stale", "misnamed") if found[name]]
    assert exercise["proven"] == (status == 0) and bool(errors) <= (status == 1)
    return status, found | {"errors": errors}


def test_sentences_that_come_for_what_they_mean_are_proven(course: Path, capsys: Capture) -> None:
    """Also with a tenth of the rows or trivial answers alone: nothing is dead because no row is there to get it."""
    status, found = proved(capsys)
    assert status == 0 and found["causes"] == 3 and not found["errors"]
    assert proved(capsys, "--tenth", "1")[1]["errors"] == []
    assert proved(capsys, "--trivial")[1]["errors"] == []
    assert main(["prove", "--sentences"]) == 0
    out = capsys.readouterr().out
    assert "sentences of" in out and "The tests find all that is wrong" in out
    assert main(["prove"]) == 0
    assert "sentences of" not in capsys.readouterr().out


def test_a_sentence_for_another_mistake_is_a_false_lead(course: Path, capsys: Capture) -> None:
    """It is shown with the edit. In a hidden test a question names a cause; what was measured needs no tie."""
    save(course, toml=MISTAKES + MISTAKE.format(name="adds by its size", replace="x + abs(by)") + TIES)
    status, found = proved(capsys)
    (lead,) = found["false"]
    assert status == 1 and found["errors"] == ["false"]
    assert (lead["test"], lead["sentence"], lead["name"]) == ("scaled-check", "Yours adds them.", "adds by its size")
    assert lead["edit"] == "- return x * by\n+ return x + abs(by)"
    assert main(["prove", "--sentences"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "scaled-check says to the mistake 'adds by its size' what it does not mean Yours adds them." in out
    save(course, toml=MISTAKES + TIES + '[[sentence]]\nsays = "Five is taken off"\nmeans = ["adds"]\n')
    _, found = proved(capsys)
    assert found["errors"] == ["false"] and {lead["test"] for lead in found["false"]} == {"scaled-test-one"}
    assert {lead["name"] for lead in found["false"]} == {"takes by"}


def test_a_sentence_that_nothing_gets_is_dead(course: Path, capsys: Capture) -> None:
    """A number that no answer gives any more; a reason keeps the sentence, until something gets it."""
    save(course, CHECK.replace("(5, ", "(5.5, "))
    status, found = proved(capsys)
    assert status == 1 and found["dead"] == ["Yours adds them."]
    reason = TIES.replace('means = ["adds"]', 'dead = "Python of tomorrow adds so"')
    save(course, CHECK.replace("(5, ", "(5.5, "), MISTAKES + reason)
    assert proved(capsys)[0] == 0
    save(course, toml=MISTAKES + reason)
    status, found = proved(capsys)
    assert found["errors"] == ["stale"] and "is not dead: 'adds' gets it" in found["stale"][0]


def test_an_entry_that_says_what_does_not_happen_is_stale(course: Path, capsys: Capture) -> None:
    """A mistake that does not get the sentence, and a sentence that is not there."""
    save(course, toml=MISTAKES + TIES.replace('["adds"]', '["adds", "takes by"]'))
    _, found = proved(capsys)
    assert found["errors"] == ["stale"] and found["stale"] == ["'takes by' does not get 'Yours adds them'"]
    save(course, toml=MISTAKES + TIES + '[[sentence]]\nsays = "Yours divides"\nalways = "it does"\n')
    _, found = proved(capsys)
    assert found["errors"] == ["stale"] and "Yours divides" in found["stale"][0]


@pytest.mark.parametrize("cause", ["Is the first one used?", "Yours is the second number alone."])
def test_an_untied_sentence_that_names_a_cause_is_an_error(course: Path, capsys: Capture, cause: str) -> None:
    """A question, or a statement about a certain wrong number. The entry to copy names who gets it."""
    code = CHECK.replace("Yours is the second number alone.", cause)
    save(course, code, MISTAKES + TIES[TIES.index('[[sentence]]\nsays = "Yours adds') :])
    _, found = proved(capsys)
    (untied,) = found["untied"]
    assert found["errors"] == ["untied"] and untied["sentence"] == cause and untied["mistakes"] == ["takes by"]
    main(["prove", "--sentences"])
    copied = capsys.readouterr().out.split(f"\n# {NAME}/misconceptions/scaled.toml\n")[1]
    save(course, code, MISTAKES + TIES[TIES.index('[[sentence]]\nsays = "Yours adds') :] + copied)
    assert proved(capsys)[0] == 0


def test_a_right_answer_may_get_no_message(course: Path, capsys: Capture) -> None:
    """Also of a test without points, which `grader prove` alone does not see. A missing folder of answers is said."""
    main(["prove"])
    assert "there is no folder" in capsys.readouterr().err
    styles = course / "tests/correct_answers" / NAME / "scaled"
    write(styles / "right-loop.py", "def scaled(x, by):\n    return by * x")
    main(["prove"])
    assert not capsys.readouterr().err
    assert proved(capsys)[0] == 0
    write(styles / "right-float.py", "def scaled(x, by):\n    return float(x * by) if by == 3 else x * by")
    save(course, CHECK + 'assert type(got) is int, "It is a whole number."\n')
    _, found = proved(capsys)
    assert [(lead["kind"], lead["name"]) for lead in found["false"]] == [("right answer", "float")]


def test_a_mutant_that_behaves_like_a_meant_mistake_is_meant(course: Path, capsys: Capture) -> None:
    """Another one with the same number is listed, and is no error; a reason for such mutants takes it off the list."""
    save(course, CHECK.replace("scaled(2, 3)", "scaled(2, 2)").replace("== 6", "== 4").replace("(3, ", "(2, ").replace(
        "(5, ", "(99, "), MISTAKES + TIES.replace('means = ["adds"]', 'dead = "a sentence for tomorrow"'),
    )  # fmt: skip
    _, found = proved(capsys)
    assert {lead["kind"] for lead in found["vague"]} == {"mutant"} and not found["false"]
    edits = {lead["edit"] for lead in found["vague"]}
    assert "- return x * by\n+ return x" in edits


def test_a_mistake_that_is_taken_for_another_is_misnamed(course: Path, capsys: Capture) -> None:
    """The diagnosis may say nothing, as for two that behave alike, and must not say something else."""
    twice = MISTAKE.format(name="adds in a sum", replace="sum((x, by))")
    save(course, toml=MISTAKES + twice + TIES.replace('["adds"]', '["adds", "adds in a sum"]'))
    assert not proved(capsys)[1]["misnamed"]
    rows = [
        AnswerRow(Kind.MISTAKE, name, named=named)
        for name, named in (("a", ["a"]), ("b", []), ("c", ["a"]), ("d", ["d", "a"]))
    ]
    found = leads([], [], [], rows, is_sample=False)
    assert found.misnamed == {"c": ["a"], "d": ["d", "a"]} and not found.are_true()


SOURCE = """
known = ((1., "a table with a name"),)
def near(number): return abs(got - number) < 1
def told(text): return f"Look here: {text} and there"
for rotary, right, rows in ((True, 2, ((3., "a first inner table. Is it turned?"),)), (False, 2, ())):
    for number, say in (*(rows if rotary else ()), *known, (5, "a row of the loop")):
        assert not near(number), f"rotary={rotary}: it leaves as from {say}"
for name, say in {"gate": "the gate is not there", "up": "the up is not there"}.items():
    assert name != "x", say
assert got == 2, told("this is what was measured") if got else "two " "strings in one"
try:
    f()
except ValueError:
    raise AssertionError("an error that was not to come")
"""


def test_sentences_are_found_through_tables_names_and_functions() -> None:
    """Each with whether it names a cause: a question does, and a row about a certain wrong answer."""
    found = {each.text: each.names_cause for each in sentences("x-check", SOURCE)}
    assert found == {
        "rotary=…: it leaves as from …": False, "a table with a name": True, "a first inner table. Is it turned?": True,
        "a row of the loop": True, "the gate is not there": True, "the up is not there": True,
        "Look here: … and there": False, "this is what was measured": False, "two strings in one": False,
        "an error that was not to come": False,
    }  # fmt: skip
    in_hidden = {each.text: each.names_cause for each in sentences("x", "### BEGIN HIDDEN TESTS" + SOURCE)}
    assert [text for text, names_cause in in_hidden.items() if names_cause] == ["a first inner table. Is it turned?"]


def test_a_message_holds_its_sentences_and_no_others() -> None:
    """The fields of an f-string may hold anything, and of two sentences that overlap the longer one is meant."""
    known = sentences("x-check", SOURCE)
    message = "rotary=True: it leaves as from a row of\nthe loop"
    assert {each.text for each in said(known, "x-check", message)} == {
        "rotary=…: it leaves as from …",
        "a row of the loop",
    }
    assert not said(known, "another", message) and not said(known, "x-check", "it leaves")
