"""Identifies the students of a class without a hub: each has a token, stored only as a salted hash.

roster.csv --grader tokens--> tokens.csv, to hand out once; hand_in_accounts.json, with the hashes

A token is KEY.SECRET: the key finds the account. The secret has 256 random bits, so a fast hash is enough.
"""

import csv
import hashlib
import hmac
import io
import json
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.classroom.students.names import require_name
from grader.errors import GraderError
from grader.files import Stamp, replace_file, stamp

ACCOUNTS = "hand_in_accounts.json"
TOKENS = "tokens.csv"


def make_tokens(folder: Path, students: Iterable[str], renew: Iterable[str] = ()) -> dict[str, str]:
    """Create a token for each student without one, store its hash, and return the new tokens by student.

    Args:
        folder: the course folder.
        students: the names.
        renew: students who lost their token; the old one becomes invalid.

    Raises:
        GraderError: an earlier tokens.csv would be overwritten.
    """
    written = folder / TOKENS
    if written.exists():
        raise GraderError(f"{written} already exists: hand out its tokens and remove it first")
    accounts = _read(folder / ACCOUNTS)
    renewed = set(map(require_name, renew))
    accounts = {key: account for key, account in accounts.items() if account["student"] not in renewed}
    known = {account["student"] for account in accounts.values()}
    tokens = {}
    for student in (*students, *renewed):
        if student in known or student in tokens:
            continue
        key, secret = secrets.token_urlsafe(9), secrets.token_urlsafe(32)
        accounts[key] = {"student": student, "hash": _hash(key, secret)}
        tokens[student] = f"{key}.{secret}"
    if tokens:
        _write_tokens(folder, [("id", "token"), *tokens.items()])
        replace_file(folder / ACCOUNTS, json.dumps(accounts, indent=1), mode=0o600)
    return tokens


def has_account(folder: Path, student: str) -> bool:
    """Return whether a student of a course folder has a token."""
    return any(account["student"] == student for account in _read(folder / ACCOUNTS).values())


def rename_account(folder: Path, before: str, after: str | None) -> None:
    """Give the token of a student to the same student under another name, or make it invalid.

    Args:
        folder: the course folder.
        before: the student's name so far.
        after: the new name; None for a student who is removed.
    """
    accounts = _read(folder / ACCOUNTS)
    changed = {
        key: {**account, "student": after} if account["student"] == before else account
        for key, account in accounts.items()
        if after is not None or account["student"] != before
    }
    if changed != accounts:
        replace_file(folder / ACCOUNTS, json.dumps(changed, indent=1), mode=0o600)
    if (folder / TOKENS).exists():
        header, *rows = csv.reader((folder / TOKENS).read_text(encoding="utf-8").splitlines())
        renamed = [[after or "", *cells[1:]] if cells[:1] == [before] else cells for cells in rows]
        _write_tokens(folder, [header, *(cells for cells in renamed if cells and cells[0])])


class Accounts:
    """The accounts of a course folder, read again when the file changes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ACCOUNTS
        self._accounts: dict[str, dict[str, str]] = {}
        self._stamp: Stamp | None = None

    def student(self, token: str) -> str | None:
        """Return the student with this token, or None."""
        key, _, secret = token.partition(".")
        account = self._current().get(key, {"student": "", "hash": "0" * 64})
        is_right = hmac.compare_digest(_hash(key, secret), account["hash"])
        return account["student"] or None if is_right else None

    def __len__(self) -> int:
        return len(self._current())

    def _current(self) -> dict[str, dict[str, str]]:
        now = stamp(self._path)
        if now != self._stamp:
            self._accounts, self._stamp = _read(self._path), now
        return self._accounts


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        accounts: dict[str, dict[str, str]] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        raise GraderError(f"{path} is damaged: restore it from a backup, or remove it and make new tokens") from None
    return accounts


def _write_tokens(folder: Path, rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    replace_file(folder / TOKENS, text.getvalue(), mode=0o600)


def _hash(key: str, secret: str) -> str:
    return hashlib.sha256(f"{key}.{secret}".encode(errors="replace")).hexdigest()
