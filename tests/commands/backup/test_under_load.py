"""A backup that is taken while hand-ins arrive and marks are given is the course at one moment."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.record import Record
from grader.commands.cli import main
from grader.commands.mark.marking import Marking, Stale
from tests.commands.mark import marked_course
from tests.commands.serve.serving import STUDENTS, Server, make_served_course, other, written
from tests.support.small_class import NAME, ledger
from tests.support.waiting import until

pytestmark = pytest.mark.slow


def manual_scores(folder: Path) -> dict[tuple[str, str], float | None]:
    """The points that people gave, by student and cell."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        return {
            (student.id, grade.name): grade.manual_score
            for student in gradebook.students
            for submission in student.submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def recorded(folder: Path) -> dict[tuple[str, str], float | str | None]:
    """The last points of each student and cell in the record."""
    return {(each.student, each.cell): each.after for each in Record(folder).entries() if each.kind is Kind.MARK}


def test_under_load_every_mark_is_in_the_gradebook_and_in_the_record_or_in_neither(tmp_path: Path) -> None:
    """Two people mark while backups are taken; each mark that was given before a backup is in it."""
    course_dir = marked_course.make_essays(tmp_path / "course", students=40, questions=3)
    given, is_over = dict[tuple[str, str], list[float]](), threading.Event()

    def mark(number: int) -> None:
        marking, lap = Marking(course_dir, marked_course.NAME), 0
        question = list(marking.questions.values())[number]
        while not is_over.is_set():
            lap += 1
            marking.refresh(question)
            for state in marking.states(question):
                if is_over.is_set():
                    break
                points = (lap + state.number) % 5 / 2
                try:
                    marking.give(question, state.group, state.version, points, "", f"marker{number}")
                except Stale:
                    continue
                for student in marking.students(question, state.group):
                    given.setdefault((student, question.cell), []).append(points)
        marking.close()

    threads = [threading.Thread(target=mark, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    known: list[dict[tuple[str, str], int]] = []
    try:
        for number in range(3):
            until(lambda number=number: sum(map(len, given.values())) > 50 * (number + 1), "marks")  # type: ignore[misc]
            known.append({place: len(points) for place, points in given.copy().items()})
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(course_dir.root)
                assert main(["backup", str(tmp_path / f"{number}.zip")]) == 0
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    for number, before in enumerate(known):
        restored = tmp_path / f"restored{number}"
        assert main(["restore", str(tmp_path / f"{number}.zip"), str(restored)]) == 0
        in_record, in_gradebook = recorded(restored), manual_scores(restored)
        assert {place: points for place, points in in_gradebook.items() if points is not None} == in_record
        for place, count in before.items():
            assert in_record[place] in given[place][count - 1 :]
    # And when it is quiet, the gradebook is the same to its last row.
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course_dir.root)
        assert main(["backup", str(tmp_path / "quiet.zip")]) == 0
    assert main(["restore", str(tmp_path / "quiet.zip"), str(tmp_path / "quiet")]) == 0
    assert rows(tmp_path / "quiet") == rows(course_dir.root)


def rows(folder: Path) -> list[str]:
    """Everything in the gradebook."""
    with closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        return sorted(gradebook.iterdump())


def test_under_load_no_accepted_hand_in_is_lost(tmp_path: Path) -> None:
    """Hand-ins arrive from several threads and are graded, marks are given, and backups are taken meanwhile.

    Restored elsewhere, each hand-in with a receipt from before the backup is there; a service that starts there grades
    what waited, and then the scores are those of the last hand-in of each student.
    """
    server = Server(make_served_course(tmp_path / "course", "c.SubmissionPolicy.cooldown = 0\n"))
    folder, accepted, is_over = server.folder, list[tuple[str, str]](), threading.Event()

    def hand_in_often(student: str) -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            one = f"def one(x=1):\n    return x if {number} else 0"
            for place in ((written(folder, one=one), NAME, "small"), (other(folder), NAME, "other")):
                answer = server.hand_in(student, *place)
                if answer.status == 202:
                    accepted.append((student, answer.json["id"]))

    def mark_often() -> None:
        record = Record(folder)
        while not is_over.is_set():
            record.append([Entry(kind=Kind.REGRADE_REQUEST, who="ann", student="ann", why="please")])

    threads = [threading.Thread(target=hand_in_often, args=(student,)) for student in STUDENTS[:4]]
    threads.append(threading.Thread(target=mark_often))
    for thread in threads:
        thread.start()
    known: list[set[str]] = []
    try:
        for number in range(3):
            until(lambda number=number: len(accepted) > 10 * (number + 1), "hand-ins")  # type: ignore[misc]
            known.append({key for _, key in accepted})
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                assert main(["backup", str(tmp_path / f"{number}.zip")]) == 0
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert server.stop() == 0
    for number, before in enumerate(known):
        restored = tmp_path / f"restored{number}"
        assert main(["restore", str(tmp_path / f"{number}.zip"), str(restored)]) == 0
        with closing(sqlite3.connect(restored / "hand_ins.db")) as hand_ins:
            rows = hand_ins.execute("SELECT id FROM hand_in WHERE state != 'superseded' AND state != 'refused'")
            there = {key for (key,) in rows}
            newest = dict(hand_ins.execute("SELECT student, max(number) FROM hand_in GROUP BY student"))
            superseded = {key for (key,) in hand_ins.execute("SELECT id FROM hand_in WHERE state = 'superseded'")}
        assert before <= there | superseded and newest.keys() <= set(STUDENTS)
    again = Server(tmp_path / "restored2")
    for student in sorted({student for student, _ in accepted}):
        overview = again.ask("/", student).json["assignments"][NAME]["notebooks"]
        assert overview["small"]["attempts"] >= 1
    until(lambda: again.ask("/health").json["hand_ins"] == {"waiting": 0, "grading": 0}, "the hand-ins that waited")
    assert again.stop() == 0
    for scores in ledger(tmp_path / "restored2").values():
        assert scores["score"] == 12
