"""What is put back after a failure waits again, and never gives way to itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.service.store import Store
from grader.service.table import GRADING, SUPERSEDED, WAITING


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store without hand-ins."""
    store = Store(f"sqlite:///{tmp_path / 'hand_ins.db'}")
    yield store
    store.close()


def accepted(store: Store, content: bytes) -> str:
    """The id of a hand-in."""
    return store.accept("ann", "01", "small", content, lambda now, attempts: None)[0].id


def state(store: Store, key: str) -> tuple[str, str | None]:
    """The state of a hand-in, and the one that superseded it."""
    row = store.get(key)
    assert row is not None
    return row.state, row.superseded_by


def test_grading_that_did_not_begin_leaves_a_hand_in_waiting(store: Store) -> None:
    """As after a database that failed when it was asked for the bytes."""
    key = accepted(store, b"1")
    store.put_back(key)
    assert state(store, key) == (WAITING, None) and store.start(key) == b"1"


def test_a_hand_in_that_was_being_graded_waits_again_or_gives_way_to_a_newer_one(store: Store) -> None:
    """The newer one came while the older was being graded."""
    older = accepted(store, b"1")
    store.start(older)
    store.put_back(older)
    assert state(store, older) == (WAITING, None)
    store.start(older)
    newer = accepted(store, b"2")
    assert state(store, older) == (GRADING, None)
    store.put_back(older)
    assert state(store, older) == (SUPERSEDED, newer) and state(store, newer) == (WAITING, None)
