"""What is put back waits again, what is graded is an attempt, and a student's hand-ins take a bounded room."""

import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from grader.commands.serve.policy import Attempts, Refusal
from grader.commands.serve.store import (
    GRADED,
    GRADING,
    KEPT,
    SUPERSEDED,
    WAITING,
    Graded,
    Store,
    hand_in,
    utc_now,
)
from grader.engine.report import Report

ROOM = 10
"""Bytes that the hand-ins of a student may have."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store without hand-ins."""
    store = Store(f"sqlite:///{tmp_path / 'hand_ins.db'}")
    yield store
    store.close()


def accepted(store: Store, content: bytes, student: str = "ann", notebook: str = "small") -> str:
    """The id of a hand-in."""
    return store.accept(student, "01", notebook, content, content.decode(), ROOM, lambda now, attempts: None)[0].id


def graded(store: Store, content: bytes, notebook: str = "small", *, counts: bool = True) -> str:
    """The id of a hand-in with a report."""
    key = accepted(store, content, notebook=notebook)
    store.start(key)
    store.finish(key, Graded({"points": 1.0, "given_up": False}, "page", counts))
    return key


def handed_in(
    store: Store, content: bytes, answers: str, check: Callable[[datetime, Attempts], None] = lambda now, attempts: None
) -> tuple[str, bool]:
    """The id of a hand-in with these answers, and whether it is new."""
    row, is_new = store.accept("ann", "01", "small", content, answers, ROOM, check)
    return row.id, is_new


def state(store: Store, key: str) -> tuple[str, str | None]:
    """The state of a hand-in, and the one that superseded it."""
    row = store.get(key)
    assert row is not None
    return row.state, row.superseded_by


def has_bytes(store: Store, key: str) -> bool:
    """Whether the bytes of a hand-in are kept."""
    try:
        return bool(store.content(key))
    except AssertionError:
        return False


def test_a_hand_in_that_was_being_graded_waits_again_or_gives_way_to_a_newer_one(store: Store) -> None:
    """The newer one came meanwhile. A database that fails when it is asked for the bytes leaves a hand-in waiting."""
    older = accepted(store, b"1")
    store.put_back(older)
    assert state(store, older) == (WAITING, None) and store.start(older) == b"1"
    store.put_back(older)
    assert state(store, older) == (WAITING, None)
    store.start(older)
    newer = accepted(store, b"2")
    assert state(store, older) == (GRADING, None)
    store.put_back(older)
    assert state(store, older) == (SUPERSEDED, newer) and state(store, newer) == (WAITING, None)


def test_only_the_last_one_that_was_superseded_has_bytes(store: Store) -> None:
    """It waits again if the newest is refused; if it is refused itself, nothing does."""
    first, second, third = (accepted(store, content) for content in (b"1", b"2", b"3"))
    assert [has_bytes(store, key) for key in (first, second, third)] == [False, True, True]
    assert store.start(third) == b"3"
    again = store.refuse(third, "no notebook")
    assert again is not None and again.id == second and store.start(second) == b"2"
    assert store.refuse(second, "no notebook") is None and state(store, first) == (SUPERSEDED, second)


@pytest.mark.parametrize("stage", [WAITING, GRADING, GRADED])
def test_the_same_answers_are_the_same_attempt(store: Store, stage: str) -> None:
    """In every state of the first one, at any time, and no rule is asked: it costs nothing, and starts no pause."""
    key, _ = handed_in(store, b"1", "answers")
    if stage != WAITING:
        store.start(key)
    if stage == GRADED:
        store.finish(key, Graded(Report().as_json(), "", counts=True))
    age(store, days=1)
    before = store.attempts("ann", "01", "small")

    def refuse(now: datetime, attempts: Attempts) -> None:
        raise Refusal(403, "past the due time, and without an attempt left")

    assert handed_in(store, b"2", "answers", refuse) == (key, False)
    assert store.attempts("ann", "01", "small") == before and state(store, key) == (stage, None)
    with pytest.raises(Refusal):
        handed_in(store, b"1", "other answers", refuse)
    assert handed_in(store, b"1", "other answers")[1]


def test_answers_are_graded_again_if_others_came_between_or_grading_did_not_end(store: Store) -> None:
    """The last hand-in counts, and the machine may have been busy. Within a minute a client has lost the receipt."""
    first, second = graded(store, b"1"), graded(store, b"2")
    third, is_new = handed_in(store, b"1", "1")
    assert is_new and len({first, second, third}) == 3
    store.start(third)
    store.finish(third, Graded(Report(given_up=True).as_json(), "", counts=False))
    assert handed_in(store, b"2", "1") == (third, False)
    age(store, minutes=2)
    assert handed_in(store, b"2", "1")[1]


def test_a_table_of_an_earlier_version_gets_fingerprints(tmp_path: Path) -> None:
    """When they are needed, from the bytes; where these are gone, equal bytes are the same. Nothing is lost."""
    store = Store(f"sqlite:///{tmp_path / 'old.db'}")
    keys = [graded(store, b"123", notebook) for notebook in ("small", "other")]
    store.close()
    with sqlite3.connect(tmp_path / "old.db") as database:
        database.execute("alter table hand_in drop column fingerprint")
        database.execute("update hand_in set content = null where notebook = 'other'")
    store = Store(f"sqlite:///{tmp_path / 'old.db'}")
    rows = [store.get(key) for key in keys]
    assert [row and (row.state, row.points, row.fingerprint) for row in rows] == [(GRADED, 1.0, None)] * 2
    store.add_fingerprint("ann", "01", "small", lambda content: f"answers of {content.decode()}")
    assert handed_in(store, b"456", "answers of 123") == (keys[0], False)
    store.add_fingerprint("ann", "01", "other", lambda content: "")
    store.add_fingerprint("ann", "01", "none", lambda content: "")
    assert accepted(store, b"123", notebook="other") == keys[1] != accepted(store, b"124", notebook="other")
    store.close()


def age(store: Store, **ago: float) -> None:
    """Let all hand-ins be older than they are."""
    with store._engine.begin() as connection:
        connection.execute(hand_in.update().values(received=utc_now() - timedelta(**ago)))


def test_what_waits_takes_only_the_room_of_its_student(store: Store) -> None:
    """A refusal supersedes nothing, another student gets through, and room is there again after the report."""
    keys = [accepted(store, b"1234", notebook=notebook) for notebook in ("one", "two")]
    store.start(keys[0])
    with pytest.raises(Refusal, match="all the space that you may use") as refused:
        accepted(store, b"567", notebook="two")
    assert refused.value.status == 429 and refused.value.retry_after and state(store, keys[1]) == (WAITING, None)
    assert state(store, accepted(store, b"1234567890", "bob")) == (WAITING, None)
    store.finish(keys[0], Graded({"points": 1.0, "given_up": False}, "page", counts=True))
    accepted(store, b"567", notebook="two")


def test_graded_hand_ins_make_room(store: Store) -> None:
    """The oldest that do not count lose their bytes first, and keep their reports; those of others stay."""
    other = accepted(store, b"12345", "bob")
    best = graded(store, b"123", "best")
    oldest, newer = graded(store, b"456", "best", counts=False), graded(store, b"789", "best", counts=False)
    accepted(store, b"abcd")
    assert [has_bytes(store, key) for key in (other, best, oldest, newer)] == [True, True, False, True]
    accepted(store, b"abcdef", notebook="other")
    assert [has_bytes(store, key) for key in (other, best, oldest, newer)] == [True, False, False, False]
    assert [state(store, key) for key in (best, oldest, newer)] == [(GRADED, None)] * 3
    row = store.get(oldest)
    assert row is not None and row.report and row.sha256


def test_a_flood_leaves_few_rows(store: Store) -> None:
    """Only the latest of the superseded ones are kept; others' hand-ins, a graded one and the waiting one stay."""
    other, first = accepted(store, b"1", "bob"), graded(store, b"1")
    flood = [accepted(store, b"%d" % number) for number in range(3 * KEPT)]
    assert [store.get(key) is not None for key in flood] == [False] * (2 * KEPT - 1) + [True] * (KEPT + 1)
    assert [state(store, key)[0] for key in (other, first, flood[-1])] == [WAITING, GRADED, WAITING]
    store.put_back(flood[0])  # a retry may come after its hand-in is no longer kept


@pytest.mark.parametrize("given_up", [False, True])
def test_a_report_costs_an_attempt_even_if_grading_did_not_come_to_an_end(store: Store, given_up: bool) -> None:
    """Otherwise code that has the grader give up at will would have any number of attempts, without a pause."""
    for number in (1, 2):
        key = accepted(store, str(number).encode())
        store.start(key)
        store.finish(key, Graded(Report(given_up=given_up).as_json(), "", counts=False))
        assert store.attempts("ann", "01", "small").used == number
    assert store.attempts("ann", "01", "small").last is not None
