"""Groups of identical answers are marked together, over what a person saw, and every program sees the same marks."""

import sqlite3
from base64 import b64decode

import nbformat
import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import MarkBook, NewMark
from grader.classroom.gradebook.reader import read_ledger
from grader.classroom.record.entry import Kind
from grader.classroom.record.record import RECORD, Record
from grader.classroom.record.requests import ask, requests_of
from grader.commands.cli import main
from grader.commands.mark.groups import GroupState
from grader.commands.mark.marking import Marking, Stale
from grader.errors import GraderError
from tests.commands.mark.marked_course import NAME, by_formgrader, grade, hand_in, released
from tests.support.notebooks import answered

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WHY, PLOT, TASK, TEST = (("essay", name) for name in ("why", "plot", "collect", "two-check"))


def groups(marking: Marking, name: tuple[str, str]) -> dict[str, GroupState]:
    """Return the groups of a question by their students, as they are now."""
    question = marking.questions[name]
    marking.refresh(question)
    return {" ".join(marking.students(question, each.group)): each for each in marking.states(question)}


def points(course: CourseDir, cell: str) -> dict[str, float | None]:
    """Return what a person gave each student for a cell."""
    ledger = read_ledger(course, NAME, cells=True)
    return {name: each.notebooks["essay"].cells[cell].manual for name, each in sorted(ledger.by_student.items())}


def test_identical_answers_are_one_group(course: CourseDir) -> None:
    """Blanks behind that of spaces at the end of a line; of a task what students added, and no cell of ours."""
    marking = Marking(course, NAME)
    assert {name: list(groups(marking, name)) for name in (WHY, PLOT, TASK)} == {
        WHY: ["ann bob", "cat", "dan"],
        PLOT: ["ann bob", "cat", "dan"],
        TASK: ["cat", "ann bob dan"],
    }
    blank = groups(marking, WHY)["dan"]
    assert (blank.is_blank, blank.waits, blank.points, blank.comment) == (True, False, 0, "No response.")
    html = marking.rendered(marking.questions[TASK], groups(marking, TASK)["cat"].group).html("/")
    assert "<math>" in html and "2.71" in html and "The end." not in html and "Everything" not in html
    assert [each.question.cell for each in marking.progress()] == ["why", "plot", "collect"]
    assert [(each.students, each.waiting, each.points) for each in marking.progress()] == [
        (4, 3, 2),
        (4, 3, 3),
        (4, 4, 4),
    ]


@pytest.mark.slow
def test_one_who_has_not_handed_in_has_no_answer(course: CourseDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that nbgrader needs for an extension wait for no mark; the hand-in does, when it is graded."""
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2030-01-02 12:00:00")
        gradebook.add_student("eve")
    monkeypatch.chdir(course.root)
    assert main(["extend", "eve", NAME, "2030-01-05"]) == 0
    marking = Marking(course, NAME)
    assert [(each.question.cell, each.students, each.waiting) for each in marking.progress()] == [
        ("why", 4, 3), ("plot", 4, 3), ("collect", 4, 4),
    ]  # fmt: skip
    assert list(groups(marking, WHY)) == ["ann bob", "cat", "dan"]
    hand_in(course.root, "eve", answered(released(course.root), why="It rains."))
    grade(course)
    assert sum(each.waiting for each in marking.progress()) > 10 and "eve" in " ".join(groups(marking, WHY))
    marking.close()


def test_a_mark_goes_to_all_of_a_group_and_into_the_record(course: CourseDir) -> None:
    """The formgrader shows it, the record says who gave it to whom, and the page says by whom; after a restart, too."""
    marking = Marking(course, NAME)
    before = groups(marking, WHY)["ann bob"]
    state = marking.give(marking.questions[WHY], before.group, before.version, 1.5, " Good.\n", "ada")
    assert (state.points, state.comment, state.waits, state.by) == (1.5, "Good.", False, "ada")
    assert points(course, "why") == {"ann": 1.5, "bob": 1.5, "cat": None, "dan": None}
    with course.gradebook() as gradebook:
        grade_row = gradebook.find_grade("why", "essay", NAME, "bob")
        assert (grade_row.score, grade_row.needs_manual_grade) == (1.5, False)
        assert gradebook.find_comment("why", "essay", NAME, "bob").comment == "Good."
    entries = Record(course.root).entries()
    assert [(each.kind, each.who, each.student, each.cell, each.before, each.after) for each in entries] == [
        (Kind.MARK, "ada", "ann", "why", None, 1.5),
        (Kind.MARK, "ada", "bob", "why", None, 1.5),
    ]
    assert "Good." in entries[0].why and "2 identical" in entries[0].why
    seen = marking.touch(marking.questions[WHY], [])
    again = Marking(course, NAME)
    assert groups(again, WHY)["ann bob"].by == "ada"
    # A page that is older than the server is followed on: what changes now has a larger number than all before.
    assert len(again.states(again.questions[WHY], seen)) == 3
    assert [each.after for each in again.history(again.questions[WHY], state.group)] == [1.5]


@pytest.mark.slow
def test_a_mark_over_another_one_is_refused(course: CourseDir) -> None:
    """Of another marker or of the formgrader; the state tells what is there now, and with it the mark can be given.

    Nor is it undone. What the formgrader gave is in the history under its name, because it does not say by whom.
    """
    ada, bob = Marking(course, NAME), Marking(course, NAME)
    seen = groups(bob, WHY)["ann bob"]
    ada.give(ada.questions[WHY], groups(ada, WHY)["ann bob"].group, seen.version, 2, "Ada's.", "ada")
    for change in (lambda: None, lambda: by_formgrader(course, "ann", "why", 0.5)):
        change()
        with pytest.raises(Stale) as stale:
            bob.give(bob.questions[WHY], seen.group, seen.version, 1, "Bob's.", "bob")
        assert points(course, "why")["bob"] == 2
    state = stale.value.state
    assert state.differs and state.points is None and state.by == ""
    Marking(course, NAME)  # the next start finds what the formgrader gave
    bob.give(bob.questions[WHY], seen.group, state.version, 1, "Bob's.", "bob")
    assert points(course, "why") == {"ann": 1, "bob": 1, "cat": None, "dan": None}
    assert groups(ada, WHY)["ann bob"].by == "bob"
    by_formgrader(course, "ann", "why", 2)
    with pytest.raises(Stale):
        bob.undo("bob")
    assert points(course, "why") == {"ann": 2, "bob": 1, "cat": None, "dan": None}
    history = bob.history(bob.questions[WHY], seen.group)
    assert [(each.who, each.after) for each in history] == [
        ("formgrader", 2), ("bob", 1), ("formgrader", 0.5), ("ada", 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_changed_answer_is_not_marked_unseen(course: CourseDir) -> None:
    """A student hands in again, and the class is graded, while a person reads the earlier answer."""
    marking = Marking(course, NAME)
    seen = groups(marking, WHY)
    marking.give(marking.questions[WHY], seen["cat"].group, seen["cat"].version, 1, "", "ada")
    for student in ("bob", "cat"):
        hand_in(course.root, student, answered(released(course.root), why="It is *new*.", plot="print('a')"))
    grade(course)
    with pytest.raises(Stale) as stale:
        marking.give(marking.questions[WHY], seen["ann bob"].group, seen["ann bob"].version, 2, "", "ada")
    assert stale.value.state.students == 1 and points(course, "why")["ann"] is None
    now = groups(marking, WHY)
    assert list(now) == ["ann", "", "dan", "bob cat"], "a group without students stays, and numbers do not change"
    assert now["bob cat"].differs and now["bob cat"].waits and now[""].students == 0
    with pytest.raises(Stale):
        marking.give(marking.questions[WHY], seen["cat"].group, seen["cat"].version, 2, "", "ada")


def test_undo_restores_what_was_there(course: CourseDir) -> None:
    """Points, comment and waiting, one mark after the other, of this marker alone."""
    marking = Marking(course, NAME)
    question, before = marking.questions[WHY], {name: state for name, state in groups(marking, WHY).items()}
    first = marking.give(question, before["ann bob"].group, before["ann bob"].version, 1, "First.", "ada")
    second = marking.give(question, first.group, first.version, 2, "Second.", "ada")
    marking.give(question, before["cat"].group, before["cat"].version, 0, "", "bob")
    assert marking.undo("ada").state == first
    undone = marking.undo("ada")
    assert (undone.question, undone.state) == (question, before["ann bob"]) and second.version != first.version
    with pytest.raises(GraderError, match="no mark of yours"):
        marking.undo("ada")
    assert points(course, "why") == {"ann": None, "bob": None, "cat": 0, "dan": None}
    assert [each.why for each in Record(course.root).entries()][-1] == "undone"


def test_a_test_that_a_person_set_is_shown_with_its_answer(course: CourseDir) -> None:
    """Once one was set; it can get its automatic points back, and its comment is that of the answer."""
    by_formgrader(course, "cat", "two-check", 2.5)
    marking = Marking(course, NAME)
    assert [each.question.name for each in marking.progress()] == [WHY, PLOT, TEST, TASK]
    found = groups(marking, TEST)
    assert list(found) == ["ann", "bob", "cat", "dan"] or list(found) == ["ann dan", "bob", "cat"]
    html = marking.rendered(marking.questions[TEST], found["cat"].group).html("/")
    assert "return" in html and "two() is 2" in html
    assert (found["cat"].points, found["cat"].automatic, found["cat"].most) == (2.5, 0, 4)
    back = marking.give(marking.questions[TEST], found["cat"].group, found["cat"].version, None, "It counts.", "ada")
    assert (back.points, back.given, back.waits, back.comment) == (0, None, False, "It counts.")
    *_, entry = Record(course.root).entries()
    assert (entry.kind, entry.before, entry.after) == (Kind.OVERRIDE, 2.5, None)


def test_nothing_counts_that_cannot_be_written(course: CourseDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many points are extra credit, which the formgrader gives; a record that cannot be written refuses a mark.

    The entry is there before the commit; if that fails, so is the way back.
    """
    marking = Marking(course, NAME)
    before = groups(marking, WHY)["cat"]

    def give(given: float) -> None:
        marking.give(marking.questions[WHY], before.group, before.version, given, "", "ada")

    for given in (-0.5, 2.01, float("nan"), float("inf")):
        with pytest.raises(GraderError, match="give from 0 to 2 points"):
            give(given)
    assert not (course.root / RECORD).exists()
    (course.root / RECORD).mkdir()
    with pytest.raises(GraderError, match="record.jsonl cannot be"):
        give(1)
    assert points(course, "why")["cat"] is None
    (course.root / RECORD).rmdir()

    def fails(self: MarkBook, changes: list[tuple[object, NewMark]], before_commit: object) -> None:
        before_commit()  # type: ignore[operator]
        raise GraderError("the gradebook cannot be written")

    monkeypatch.setattr(MarkBook, "write", fails)
    with pytest.raises(GraderError, match="cannot be written"):
        give(1)
    assert [(each.before, each.after) for each in Record(course.root).entries()] == [(None, 1), (1, None)]


def test_pictures_of_an_answer_have_addresses(course: CourseDir) -> None:
    """Whether pasted into a text or printed by a cell; there is no other number, and the text of one is no picture."""
    place = course.root / "autograded" / "ann" / NAME / "essay.ipynb"
    notebook = nbformat.read(place, as_version=4)
    data = f"data:image/png;base64,{PICTURE}"
    for cell in notebook.cells:
        match cell.metadata.get("nbgrader", {}).get("grade_id"):
            case "why":
                cell.source = f'One ![a]({data}) two <img src="{data}"> `src="{data}"`'
            case "plot":
                output = nbformat.v4.new_output("display_data", {"image/png": PICTURE, "text/plain": "a plot"})
                cell.outputs = [output]
    nbformat.write(notebook, place)
    marking = Marking(course, NAME)
    for name, number in ((WHY, 2), (PLOT, 1)):
        question, state = marking.questions[name], groups(marking, name)["ann"]
        html = marking.rendered(question, state.group).html("/picture/")
        assert html.count('src="/picture/') == html.count("<img ") == number
        for each in range(number):
            assert marking.picture(question, state.group, each) == ("image/png", b64decode(PICTURE))
        assert marking.picture(question, state.group, number) is None


def test_what_cannot_be_read_is_said(course: CourseDir) -> None:
    """In the place of the answer, and the other students can be marked."""
    folder = course.root / "autograded"
    (folder / "ann" / NAME / "essay.ipynb").write_text("{")
    (folder / "bob" / NAME / "essay.ipynb").unlink()
    marking = Marking(course, NAME)
    found = groups(marking, WHY)
    texts = {name: marking.rendered(marking.questions[WHY], state.group).html("/") for name, state in found.items()}
    assert "cannot be read" in texts["ann"] and "was not handed in" in texts["bob"] and "No idea" in texts["cat"]
    with pytest.raises(GraderError, match="no assignment '02' in source/"):
        Marking(course, "02")
    with sqlite3.connect(course.root / "gradebook.db") as database:
        database.execute("update assignment set name = 'other'")
    with pytest.raises(GraderError, match=f"run 'grader grade {NAME}' first"):
        Marking(course, NAME)


@pytest.mark.slow
def test_a_request_for_a_regrade_is_with_its_answer(course: CourseDir) -> None:
    """Until a marker answers it; the student reads the points before and after, and not who answered."""
    record, marking = Record(course.root), Marking(course, NAME)
    first = groups(marking, WHY)["ann bob"]
    marking.give(marking.questions[WHY], first.group, first.version, 1, "", "ada")
    asked = ask(record, "bob", NAME, "essay", "why", "It <b>also</b> snows.").asked
    ask(record, "cat", NAME, "essay", "two", "Why 0?")
    ask(record, "cat", NAME, "essay", "", "Look at everything.")
    assert {each.question.cell: each.requests for each in marking.progress()} == {
        "why": 1, "plot": 0, "two-check": 1, "collect": 0,
    }  # fmt: skip
    state = groups(marking, WHY)["ann bob"]
    assert [(each.id, each.text) for each in state.requests] == [(asked.id, "It <b>also</b> snows.")]
    ask(record, "cat", NAME, "essay", "why", "I am cat.")
    history = marking.history(marking.questions[WHY], groups(marking, WHY)["cat"].group)
    assert [(each.who, each.student) for each in history] == [("the student", "")], "names are hidden"
    state = marking.give(marking.questions[WHY], state.group, state.version, 2, "", "ada")
    with pytest.raises(GraderError, match="the text is empty"):
        marking.answer_request(marking.questions[WHY], state.group, asked.id, " ", "ada")
    done = marking.answer_request(marking.questions[WHY], state.group, asked.id, "You are right.", "ada")
    assert done.requests == () and [each.cell for each in marking.requests()] == ["two", "", "why"]
    (told,) = [each.as_json()["answer"] for each in requests_of(record.entries(), NAME, "bob")]
    assert (told["text"], told["before"], told["after"]) == ("You are right.", 1, 2) and "ada" not in str(told)
    with pytest.raises(GraderError, match="already been answered"):
        marking.answer_request(marking.questions[WHY], state.group, asked.id, "Again.", "ada")
