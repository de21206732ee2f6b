"""Keeps the answers to quick questions, and the cards of their review, on this computer only.

a widget's answers --keep--> questions.json in the user's home --kept--> the next time that the question is shown
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grader_kernel.contract import state_file, write_state

Kept = dict[str, dict[str, Any]]
"""Answers and review cards, by question: {"answers": [{"right": true, "answer": "...", "time": 9.0}], "card": {...}}.

Times are those of `time.time`. A question has a card once it was reviewed; see widgets/review.js.
"""


def kept() -> Kept:
    """Return all that is kept. A file that cannot be read counts as empty; a damaged one is set aside."""
    with suppress(OSError), _locked() as file:
        return _read(file)
    return {}


def keep(news: Mapping[str, Mapping[str, Any]]) -> Kept:
    """Add answers and cards to what is kept, and return all of it.

    An answer that is there already is not added again. Of two cards, the one with the later review stays; of equally
    old ones, the new one.

    Args:
        news: for each question what `Kept` says.

    Raises:
        ValueError: it has another form.
        OSError: the file cannot be written.
    """
    if not _is_kept(news):
        raise ValueError("answers must be a dict for each question, with a list of right, answer and time")
    with _locked() as file:
        everything = _read(file)
        for name, new in news.items():
            everything[name] = _merged(everything.get(name, {"answers": []}), new)
        write_state(file, everything)
        return everything


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    answers = list(old["answers"])
    answers += [answer for answer in new["answers"] if answer not in answers]
    cards = [entry["card"] for entry in (new, old) if entry.get("card")]
    merged: dict[str, Any] = {"answers": sorted(answers, key=lambda answer: answer["time"])}
    if cards:
        merged["card"] = max(cards, key=lambda card: card["last_review"])
    return merged


def _read(file: Path) -> Kept:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if isinstance(found, dict) and _is_kept(found):
        return found
    file.replace(file.with_name(f"{file.name}.damaged-{time.time_ns()}"))
    return {}


def _is_kept(found: Mapping[str, Any]) -> bool:
    try:
        return all(
            all(isinstance(answer["right"], bool) and answer["time"] + 0.0 > 0 for answer in entry["answers"])
            and (not entry.get("card") or entry["card"]["last_review"] + 0.0 > 0)
            for entry in found.values()
        )
    except (KeyError, TypeError, AttributeError):
        return False


@contextmanager
def _locked() -> Iterator[Path]:
    """Yield the path of the file while no other process reads or writes it; the lock is a file beside it."""
    file = state_file("questions.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file.with_name(f"{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor)
        yield file
    finally:
        os.close(descriptor)  # which ends the lock


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
