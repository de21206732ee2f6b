"""Four people mark a class of 300 at once in browsers: each answer once, and what a page shows as saved is saved."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.marks import MarkBook
from grader.classroom.record.record import Record
from grader.commands.mark.marking import Marking
from tests.commands.mark.marked_course import NAME, make_essays
from tests.commands.mark.marker import Marker, chromium, needs_browser
from tests.commands.mark.marking_server import Server
from tests.support.waiting import until

MARKERS = ("ada", "bob", "cem", "dora")
STUDENTS, QUESTIONS, SAME = 300, 11, 30
BEFORE_KILL = 4
"""Saved groups, after which the server is killed while others are being saved."""

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class of 300 with 11 questions; tests do not change it."""
    return make_essays(tmp_path_factory.mktemp("essays") / "course", STUDENTS, QUESTIONS, SAME).root


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> CourseDir:
    """A copy of the class to change."""
    return CourseDir(shutil.copytree(graded, tmp_path / "course"))


def groups_of(course: CourseDir, name: str) -> dict[str, list[str]]:
    """Return the students of each group of a question."""
    marking = Marking(course, NAME)
    question = marking.questions["essay", name]
    marking.refresh(question)
    return {state.group: marking.students(question, state.group) for state in marking.states(question)}


def test_no_answer_is_marked_twice(course: CourseDir) -> None:
    """Each waiting answer to eleven questions, by one of four people. The formgrader agrees."""
    server = Server(course.root, *MARKERS)
    questions = [f"question-{number}" for number in range(1, QUESTIONS + 1)]

    def work(person: int) -> dict[tuple[str, str], float | None]:
        given: dict[tuple[str, str], float | None] = {}
        with chromium() as browser:
            marker = Marker(browser, server.links[MARKERS[person]])
            for name in questions:
                marker.open(f"{server.url}/{NAME}/essay/{name}")
                while marker.current():
                    marker.save(str(person % 3), *("." if person == 3 else ""), "a")
                given |= {(name, group): points for group, (points, _) in marker.saved().items()}
            assert marker.errors == []
        return given

    with ThreadPoolExecutor(len(MARKERS)) as pool:
        done = list(pool.map(work, range(len(MARKERS))))
    assert server.stop() == 0
    assert sum(map(len, done)) == len(set().union(*done)), "two pages show the same answer as saved"
    given = {key: points for each in done for key, points in each.items()}
    book = MarkBook(course, NAME)
    for name in questions:
        rows = book.read(("essay", name))
        assert len(rows) == STUDENTS and not any(row.score.needs_marking for row in rows.values())
        for group, students in groups_of(course, name).items():
            points = {rows[student].score.points for student in students}
            assert points == {given.get((name, group), 0.0)}, "what was given, or nothing for a blank answer"
    written = Counter((each.cell, each.student) for each in Record(course.root).entries())
    assert set(written.values()) == {1} and len(written) == QUESTIONS * (STUDENTS - STUDENTS // 25)
    assert {each.who for each in Record(course.root).entries()} == set(MARKERS)
    with course.gradebook() as gradebook:
        for row in gradebook.notebook_submission_dicts("essay", NAME):
            own = sum(book.read(("essay", name))[row["student"]].score.points for name in questions[:1])
            assert row["needs_manual_grade"] is False and row["score"] >= own


def test_no_mark_is_lost_when_the_server_is_killed(course: CourseDir) -> None:
    """Whatever four pages showed as saved is in the gradebook, and their next mark stays in the page, not saved."""
    server, is_dead = Server(course.root, *MARKERS), Event()

    def work(person: int) -> tuple[dict[str, tuple[float | None, str]], str]:
        with chromium() as browser:
            marker = Marker(browser, server.links[MARKERS[person]]).open(f"{server.url}/{NAME}/essay/question-1")
            while marker.current() and marker.save(str(person % 3), "a"):
                pass
            assert is_dead.wait(600) and marker.errors == []
            typed = marker.page.locator(".card.current textarea")
            return marker.saved(), typed.input_value() if typed.count() else ""

    with ThreadPoolExecutor(len(MARKERS)) as pool:
        pages = [pool.submit(work, person) for person in range(len(MARKERS))]
        groups = groups_of(course, "question-1")
        until(lambda: _marked(course, groups) >= BEFORE_KILL, "the first marks")
        server.kill()
        is_dead.set()
        done = [page.result() for page in pages]
    rows = MarkBook(course, NAME).read(("essay", "question-1"))
    for saved, _ in done:
        for group, (points, comment) in saved.items():
            for student in groups[group]:
                assert (rows[student].given.points, rows[student].given.comment) == (points, comment)
    assert any(saved for saved, _ in done)
    # Each row of a group has the mark, or none has: they are written together.
    assert all(len({rows[student].given for student in students}) == 1 for students in groups.values())
    again = Server(course.root, "ada")
    with chromium() as browser:
        marker = Marker(browser, again.links["ada"]).open(f"{again.url}/{NAME}/essay/question-1")
        for saved, _ in done:
            for group, (points, _) in saved.items():
                assert f"{points:g} of 2" in marker.card(group)
    assert again.stop() == 0


def _marked(course: CourseDir, groups: dict[str, list[str]]) -> int:
    rows = MarkBook(course, NAME).read(("essay", "question-1"))
    return sum(rows[students[0]].given.points is not None for students in groups.values())
