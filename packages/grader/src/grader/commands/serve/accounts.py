"""Identifies the students of a class without a hub: each has a token, stored only as a salted hash.

roster.csv --grader tokens--> tokens.csv, to hand out once; hand_in_accounts.json, with the hashes
           --with an address--> a settings file for each student, in a folder of its own or in an archive for Moodle

A token is KEY.SECRET: the key finds the account. The secret has 256 random bits, so a fast hash is enough.
"""

import csv
import hashlib
import hmac
import io
import json
import secrets
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from grader.classroom.students.csv_files import neutral
from grader.classroom.students.names import require_name
from grader.classroom.students.roster import EnrolledStudent
from grader.classroom.submitted.helper_files import SETTINGS
from grader.commands.shared import HAND_IN_FILES
from grader.errors import GraderError
from grader.files import Stamp, replace_file, stamp

ACCOUNTS = "hand_in_accounts.json"
TOKENS = "tokens.csv"


def make_tokens(
    folder: Path,
    students: Iterable[str],
    renew: Iterable[str] = (),
    people: Mapping[str, EnrolledStudent] | None = None,
) -> dict[str, str]:
    """Create a token for each student without one, store its hash, and return the new tokens by student.

    Args:
        folder: the course folder.
        students: the names.
        renew: students who lost their token; the old one becomes invalid.
        people: the students of the roster, whose names and addresses tokens.csv has, too.

    Raises:
        GraderError: an earlier tokens.csv or settings files of students would be overwritten.
    """
    for name in (TOKENS, HAND_IN_FILES, f"{HAND_IN_FILES}.zip"):
        if (folder / name).exists():
            raise GraderError(f"{folder / name} already exists: hand out what is in it and remove it first")
    accounts = _read(folder / ACCOUNTS)
    renewed = set(map(require_name, renew))
    accounts = {key: account for key, account in accounts.items() if account["student"] not in renewed}
    known = {account["student"] for account in accounts.values()}
    tokens = {}
    for student in (*students, *renewed):
        if student in known or student in tokens:
            continue
        key, secret = _key(), secrets.token_urlsafe(32)
        accounts[key] = {"student": student, "hash": _hash(key, secret)}
        tokens[student] = f"{key}.{secret}"
    if tokens:
        rows = [(student, token, *_person((people or {}).get(student))) for student, token in tokens.items()]
        _write_tokens(folder, [("id", "token", "first_name", "last_name", "email"), *rows])
        replace_file(folder / ACCOUNTS, json.dumps(accounts, indent=1), mode=0o600)
    return tokens


def has_account(folder: Path, student: str) -> bool:
    """Return whether a student of a course folder has a token."""
    return any(account["student"] == student for account in _read(folder / ACCOUNTS).values())


def rename_account(folder: Path, before: str, after: str | None) -> None:
    """Give the token of a student to the same student under another name, or make it invalid.

    Args:
        folder: the course folder.
        before: the student's current name.
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


def write_settings(folder: Path, tokens: Mapping[str, str], url: str) -> str:
    """Write a settings file for each student into a folder with the student's name, and return where they are.

    Args:
        folder: the course folder.
        tokens: the tokens by student.
        url: the address of the service.
    """
    for student, token in tokens.items():
        replace_file(folder / HAND_IN_FILES / student / SETTINGS, settings_text(url, token), mode=0o600)
    (folder / HAND_IN_FILES).chmod(0o700)
    return f"{HAND_IN_FILES}/STUDENT/{SETTINGS}"


def write_moodle_archive(folder: Path, tokens: Mapping[str, str], url: str, places: Mapping[str, str]) -> str:
    """Write the settings files into an archive that Moodle hands out as feedback files, and return its name.

    Args:
        folder: the course folder.
        tokens: the tokens by student.
        url: the address of the service.
        places: the name by which Moodle knows each student's folder in an archive.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, token in tokens.items():
            archive.writestr(f"{places[student]}/{SETTINGS}", settings_text(url, token))
    replace_file(folder / f"{HAND_IN_FILES}.zip", packed.getvalue(), mode=0o600)
    return f"{HAND_IN_FILES}.zip"


def settings_text(url: str, token: str) -> str:
    """Return the text of a student's settings file, which `hand_in()` reads.

    Args:
        url: the address of the service.
        token: the student's token.
    """
    return f"url = {json.dumps(url)}\ntoken = {json.dumps(token)}\n"


def require_url(url: str) -> str:
    """Return the address of a service; raise GraderError if it is not one of the web."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_one = False
    if not is_one or not url.isascii() or not url.isprintable():
        raise GraderError(f"--url wants the address of the service, such as https://grader.example.org; got {url!r}")
    return url.rstrip("/")


def _key() -> str:
    """Return the public part of a token, which begins with a letter or digit: a spreadsheet runs a cell with a sign."""
    while not (key := secrets.token_urlsafe(9))[0].isalnum():
        pass
    return key


def _person(student: EnrolledStudent | None) -> tuple[str, str, str]:
    if student is None:
        return "", "", ""
    return neutral(student.first_name), neutral(student.last_name), neutral(student.email)


def _write_tokens(folder: Path, rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    replace_file(folder / TOKENS, text.getvalue(), mode=0o600)


def _hash(key: str, secret: str) -> str:
    return hashlib.sha256(f"{key}.{secret}".encode(errors="replace")).hexdigest()
