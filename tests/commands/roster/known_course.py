"""A course that knows a student in every place: files, marks, comments, hand-ins, a token, an extension, a history."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Student

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.requests import ask, requests_of
from grader.classroom.returned import ReturnedFolder
from grader.classroom.submitted.times import record_time
from grader.commands.cli import main
from grader.commands.serve.accounts import ACCOUNTS, make_tokens
from grader.commands.serve.policy import Attempts
from grader.commands.serve.store import DATABASE, Store
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, hand_in, ledger, make_course, mark, released


def make_known(folder: Path) -> Path:
    """Make the course, with ann in it, graded and marked, and bob, who has only handed in."""
    course = make_course(folder)
    work = answered(released(course), **RIGHT)
    for student in ("ann", "bob"):
        hand_in(course, student, work)
    course_dir = CourseDir(course)
    course_dir.make_gradebook()
    with course_dir.gradebook() as gradebook:
        gradebook.add_assignment(NAME, duedate="2030-01-02 12:00:00")
        gradebook.add_student("ann", first_name="Ann", last_name="Lee", email="ann@x.org", lms_user_id="101")
    content = nbformat.writes(work).encode()
    record_time(course / "submitted" / "ann" / NAME, "small", content, datetime(2030, 1, 1, 10))
    (course / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2030-01-03 10:00:00 UTC")
    assert main(["extend", "ann", NAME, "2030-01-04", "--why", "ill"]) == 0 and main(["grade", NAME]) == 0
    mark(course, "ann", 3, "well said")
    assert main(["grade", NAME]) == 0  # the record finds the mark
    assert main(["feedback", NAME, "--student", "ann"]) == 0
    assert course_dir.record is not None
    ask(course_dir.record, "ann", NAME, "small", "one", "Why?")
    make_tokens(course, ["ann", "bob"])
    store = Store(f"sqlite:///{course / DATABASE}")
    for student in ("ann", "bob"):
        store.accept(student, NAME, "small", content, "print", 10**6, lambda now, attempts: None)
    store.close()
    return course


def state(course: Path, student: str, assignment: str = NAME) -> dict[str, Any]:
    """Return everything that a course knows of a student."""
    course_dir, files = CourseDir(course), dict[str, str]()
    for step in ("submitted", "autograded", "feedback"):
        for path in sorted((course / step / student).rglob("*")):
            if path.is_file():
                files[path.relative_to(course / step / student).as_posix()] = step
    with course_dir.gradebook() as gradebook:
        person = gradebook.db.get(Student, student)
        profile = person and (person.first_name, person.last_name, person.email, person.lms_user_id)
        extensions = [each.extension for each in person.submissions] if person else []
    store = Store(f"sqlite:///{course / DATABASE}")
    used: Attempts = store.attempts(student, assignment, "small")
    store.close()
    returned = ReturnedFolder(course)
    accounts = json.loads((course / ACCOUNTS).read_text())
    assert course_dir.record is not None
    entries = [entry for entry in course_dir.record.entries() if entry.student == student]
    return {
        "files": files,
        "profile": profile,
        "extensions": extensions,
        "scores": ledger(course).get(student) if assignment == NAME else None,
        "attempts": used.used,
        "tokens": sorted(key for key, account in accounts.items() if account["student"] == student),
        "in tokens.csv": (course / "tokens.csv").read_text().count(f"{student},"),
        "history": [_told(entry) for entry in entries if entry.kind not in (Kind.RENAME, Kind.REMOVAL)],
        "returned": returned.of(assignment, student) and returned.page(assignment, student, "small"),
        "requests": [each.asked.why for each in requests_of(entries, assignment, student)],
    }


def _told(entry: Entry) -> tuple[Any, ...]:
    return entry.kind, entry.cell, entry.before, entry.after, entry.why, entry.time.astimezone(UTC)
