"""A file is one's own if no one but oneself and root may change it."""

import grp
import os
import pwd
from pathlib import Path

import pytest

from grader_kernel.owners import why_not_own


@pytest.mark.parametrize(
    ("mode", "group", "members", "words"),
    [
        (0o644, "class", ["eve"], ""),
        (0o600, "class", [], ""),
        (0o444, "class", ["eve"], ""),
        (0o666, "me", [], "other users may write to it"),
        (0o646, "me", [], "other users may write to it"),
        (0o664, "me", [], ""),
        (0o664, "me", ["me"], ""),
        (0o664, "me", ["me", "eve"], "other users may write to it"),
        (0o664, "class", [], "other users may write to it"),
    ],
)
def test_the_mode_and_the_group_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, group: str, members: list[str], words: str
) -> None:
    """A group of one's own name, in which no one else is, is oneself: many systems let it write by default."""
    file = tmp_path / "file"
    file.touch()
    file.chmod(mode)
    own = pwd.struct_passwd(("me", "x", os.geteuid(), 7, "", "/", ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: own)
    monkeypatch.setattr(grp, "getgrgid", lambda _: grp.struct_group((group, "x", 7, members)))
    assert why_not_own(file.stat()) == words


@pytest.mark.parametrize(
    ("user", "mode", "owner", "words"),
    [
        (1234, 0o644, 0, ""), (1234, 0o644, 1234, ""), (1234, 0o644, 1235, "it belongs to another user"),
        (4_000_000, 0o664, 4_000_000, "other users may write to it"),
    ],
)  # fmt: skip
def test_the_owner_is_oneself_or_root(
    monkeypatch: pytest.MonkeyPatch, user: int, mode: int, owner: int, words: str
) -> None:
    """Root may change every file in any case; a user without a name, as in a container, has no group."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert why_not_own(os.stat_result((0o100000 | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))) == words


def test_windows_has_no_such_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts."""
    monkeypatch.setattr(os, "name", "nt")
    assert why_not_own(os.stat_result((0o100666, 0, 0, 1, 5, 0, 0, 0, 0, 0))) == ""
