"""The rules for handing in: times, attempts, the growing pause, and what a student learns."""

import copy
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from nbformat import NotebookNode
from traitlets import TraitError
from traitlets.config import Config

from grader.commands.serve.policy import Attempts, Refusal, SubmissionPolicy, fingerprint
from tests.support.notebooks import answered, cell, code, notebook, task, text
from tests.support.small_class import RIGHT, SOURCE

NOW = datetime(2026, 3, 2, 10)
HOUR = timedelta(hours=1)


def rules(**settings: Any) -> SubmissionPolicy:
    """The rules of a course with these settings."""
    return SubmissionPolicy(Config(SubmissionPolicy=settings))


def refused(settings: dict[str, Any], due: datetime | None = None, used: int = 0, ago: float = 0) -> Refusal | None:
    """Why a hand-in is refused now; the last attempt was `ago` seconds before."""
    attempts = Attempts(used, NOW - timedelta(seconds=ago) if used else None)
    try:
        rules(**settings).require_allowed(due, NOW, attempts)
    except Refusal as refusal:
        return refusal
    return None


def test_the_default_accepts_three_attempts_at_once_and_late_ones() -> None:
    """The due time refuses nothing unless the rules say so; nbgrader's plugin takes its penalty."""
    assert [refused({}, used=used) for used in range(4)] == [None] * 4
    assert refused({}, due=NOW - HOUR) is None


def test_the_pause_doubles_from_the_fourth_attempt_on() -> None:
    """From 15 seconds to ten minutes; after it, the next attempt is accepted."""
    assert [rules().pause(n) for n in (0, 3, 4, 5, 6, 9, 10, 1000)] == [0, 0, 15, 30, 60, 480, 600, 600]
    assert rules(cooldown=0).pause(50) == 0
    refusal = refused({}, used=4, ago=5)
    assert refusal is not None and refusal.status == 429 and refusal.retry_after == 10
    assert refused({}, used=4, ago=16) is None


def test_attempts_end() -> None:
    """The number of those left is known; 0 stands for any number."""
    assert refused({"attempts": 2}, used=1) is None
    refusal = refused({"attempts": 2}, used=2, ago=9999)
    assert refusal is not None and refusal.status == 403 and "all 2 attempts" in refusal.why
    assert [rules(attempts=2).left(used) for used in (0, 1, 2, 3)] == [2, 1, 0, 0] and rules().left(7) is None


def test_an_assignment_opens_and_closes() -> None:
    """A zone counts."""
    refusal = refused({"open": "2026-03-02 12:00 Europe/Berlin"})
    assert refusal is not None and "opens at 2026-03-02 11:00:00 UTC" in refusal.why and refusal.retry_after == 3600
    assert refused({"open": "2026-03-02 10:59 Europe/Berlin"}) is None
    refusal = refused({"late": "refuse"}, due=NOW - HOUR)
    assert refusal is not None and refusal.status == 403 and "was due at" in refusal.why
    assert refused({"late": "refuse"}, due=NOW + HOUR) is None and refused({"late": "refuse"}) is None
    assert rules(due="2026-03-01 00:00").own_due == datetime(2026, 3, 1) and rules().own_due is None


def test_an_assignment_may_have_rules_of_its_own() -> None:
    """The others keep the rules of the course."""
    course = rules(attempts=5, assignments={"02": {"attempts": 1, "counts": "best"}})
    two, one = course.for_assignment("02"), course.for_assignment("01")
    assert (one.attempts, one.counts, two.attempts, two.counts) == (5, "last", 1, "best")
    assert course.attempts == 5 and course.for_assignment("02").attempts == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"attempts_": 3}, "no c.SubmissionPolicy.attempts_"),
        ({"assignments": {"01": {"dew": ""}}}, "no c.SubmissionPolicy.dew"),
        ({"assignments": {"01": {"telling": "points"}}}, "no c.SubmissionPolicy.telling"),
        ({"assignments": {"01": {"late": "maybe"}}}, "late"),
        ({"due": "soon"}, "c.SubmissionPolicy.due is a time such as"),
        ({"counts": "first"}, "counts"),
        ({"attempts": -1}, "attempts"),
        ({"told": "all"}, "SubmissionPolicy"),
    ],
)
@pytest.mark.parametrize("section", ["SubmissionPolicy", "HandIn"])
def test_a_wrong_rule_is_refused(section: str, settings: dict[str, Any], words: str) -> None:
    """A misspelt name too, which traitlets would ignore, and one under an earlier name, as it is called today."""
    with pytest.raises(TraitError, match=words):
        SubmissionPolicy(Config({section: settings})).for_assignment("01")


def test_rules_may_have_the_names_of_an_earlier_version() -> None:
    """c.HandIn and told; where a setting has both names, the current one counts, and an assignment's own rules do."""
    old = SubmissionPolicy(
        Config(HandIn={"told": "points", "attempts": 5, "assignments": {"02": {"told": "everything"}}})
    )
    assert (old.disclosure, old.attempts, old.for_assignment("02").disclosure) == ("points", 5, "everything")
    new = {"attempts": 2, "assignments": {"02": {"told": "points", "disclosure": "points and sentences"}}}
    both = SubmissionPolicy(Config(HandIn={"attempts": 5, "cooldown": 1}, SubmissionPolicy=new))
    assert (both.attempts, both.cooldown, both.for_assignment("02").disclosure) == (2, 1, "points and sentences")
    assert both.for_assignment("01").disclosure == "everything"
    for section in ("HandIn", "SubmissionPolicy"):  # one of several files may add to them
        config = Config()
        config[section].assignments.update({"02": {"attempts": 1}})
        assert SubmissionPolicy(config).for_assignment("02").attempts == 1


def test_disclosure_grows_after_the_due_time() -> None:
    """Before it, what the rules say; without one, always what the rules say."""
    course = rules(disclosure="points")
    assert course.disclosure_at(NOW, NOW + HOUR) == "points" == course.disclosure_at(NOW, None)
    assert course.disclosure_at(NOW, NOW - HOUR) == "everything"


ANSWERED = answered(SOURCE, **RIGHT)


def changed(change: Callable[[NotebookNode], object]) -> bytes:
    """A notebook with right answers, after a change."""
    notebook = copy.deepcopy(ANSWERED)
    change(notebook)
    return json.dumps(notebook).encode()


def run_all(notebook: NotebookNode) -> None:
    """Give each cell of code a count and outputs."""
    for number, each in enumerate(notebook.cells):
        if each.cell_type == "code":
            each.execution_count = number
            each.outputs = [{"output_type": "stream", "name": "stdout", "text": f"{number}\n"}]


def in_lines(notebook: NotebookNode) -> None:
    """Write sources as lists of lines that end as on Windows, with blanks below."""
    for each in notebook.cells:
        each.source = each.source.replace("\n", "\r\n").splitlines(keepends=True) + ["\r\n", "  "]


SAME: dict[str, Callable[[NotebookNode], object]] = {
    "run": run_all,
    "metadata of the file": lambda notebook: notebook.metadata.update(language_info={"version": "3.12"}),
    "metadata of cells": lambda notebook: [each.metadata.update(collapsed=True) for each in notebook.cells],
    "ids of cells": lambda notebook: [each.update(id=f"x{number}") for number, each in enumerate(notebook.cells)],
    "widgets": lambda notebook: notebook.metadata.update(widgets={"application/vnd.jupyter.widget-state+json": {}}),
    "cell that hands in": lambda notebook: notebook.cells.append(code("hand_in(now=True)", "not-graded")),
    "empty cells": lambda notebook: notebook.cells.extend([code(""), text(" \n")]),
    "experiment": lambda notebook: notebook.cells.append(code("one(7)", "experiment")),
    "line ends": in_lines,
    "a lost check": lambda notebook: notebook.cells.remove(cell(notebook, "one-check")),
    "number that JSON does not have": lambda notebook: notebook.metadata.update(x=float("nan")),
}
OTHER: dict[str, Callable[[NotebookNode], object]] = {
    "code": lambda notebook: cell(notebook, "one").update(source="def one(x=1):\n    return x + 1"),
    "indent": lambda notebook: cell(notebook, "one").update(source="  def one(x=1):\n    return x"),
    "written answer": lambda notebook: cell(notebook, "why").update(source="It had to be so."),
    "exchanged answers": lambda notebook: (
        cell(notebook, "one").update(source=RIGHT["two"]), cell(notebook, "two").update(source=RIGHT["one"])
    ),
    "text in a check": lambda notebook: cell(notebook, "one-check").update(source="assert True"),
    "cell of the student's own": lambda notebook: notebook.cells.append(code("one = None")),
    "another place for it": lambda notebook: notebook.cells.insert(0, code("one = None")),
    "text below a question": lambda notebook: notebook.cells.append(text("It had to be, because I say so.")),
    "emptied answer": lambda notebook: cell(notebook, "two").update(source=""),
    "lost answer": lambda notebook: notebook.cells.remove(cell(notebook, "one")),
    "code that is text now": lambda notebook: notebook.cells.append(text("one = None")),
    "half of a surrogate pair": lambda notebook: cell(notebook, "why").update(source="\ud800"),
    "picture": lambda notebook: cell(notebook, "why").update(
        source="![](attachment:a.png)", attachments={"a.png": {"image/png": "aGk="}}
    ),
    "another picture": lambda notebook: cell(notebook, "why").update(
        source="![](attachment:a.png)", attachments={"a.png": {"image/png": "aGo="}}
    ),
}  # fmt: skip


def test_what_is_not_graded_is_no_other_attempt() -> None:
    """All cells run twice, a save, another editor, and the same notebook as different bytes: the answers are the same.

    The last form has another order of keys, other indents and a byte order mark.
    """
    other_form = b"\xef\xbb\xbf" + json.dumps(ANSWERED, indent=4, sort_keys=True, ensure_ascii=False).encode()
    kinds = {name: fingerprint(changed(change), "small", SOURCE) for name, change in SAME.items()}
    kinds["form"] = fingerprint(other_form, "small", SOURCE)
    assert kinds == dict.fromkeys(kinds, fingerprint(changed(len), "small", SOURCE))


def test_every_change_of_an_answer_is_another_attempt() -> None:
    """Each of them differs from the rest, too; so does a notebook that other tests judge."""
    kinds = [fingerprint(changed(change), "small", SOURCE) for change in (len, *OTHER.values())]
    source = copy.deepcopy(SOURCE)
    cell(source, "one-check").source += "  # mended"
    kinds.append(fingerprint(changed(len), "small", source))
    assert len(set(kinds)) == len(OTHER) + 2


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"{}{}", b'{"a": }', b"PK\x03\x04", b'{"a":' + b"[" * 10**6, b"{}",
     b'{"cells": [], "nbformat": 3}', b"\x80\x81"],
)  # fmt: skip
def test_anything_else_is_no_notebook(content: bytes) -> None:
    """Cut off, of another kind, or nested deeper than anyone reads."""
    with pytest.raises(Refusal, match="save it once more in JupyterLab") as refused:
        fingerprint(content, "small", SOURCE)
    assert refused.value.status == 400


def test_every_answer_to_a_task_is_another_attempt() -> None:
    """In a cell of the student's own, wherever it stands, or in the cell of the task."""
    source = notebook(task("why", "Why?\n### BEGIN MARK SCHEME\nThus.\n### END MARK SCHEME"), text("The end."))
    above, below, typed = (answered(source, why="Why?") for _ in range(3))
    above.cells.insert(0, text("Because."))
    below.cells.append(text("Because."))
    cell(typed, "why").source += "\nSo."
    submissions = source, answered(source, why="Why?"), above, below, typed
    kinds = [fingerprint(json.dumps(each).encode(), "small", source) for each in submissions]
    assert kinds[0] == kinds[1] and len(set(kinds)) == 4
