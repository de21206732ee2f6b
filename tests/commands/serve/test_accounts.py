"""Tokens: made once, stored as salted hashes, and unknown if one character is wrong."""

import os
import stat
from pathlib import Path

import pytest

from grader.classroom.students.names import require_name
from grader.classroom.students.roster import read_roster
from grader.commands.cli import main
from grader.commands.serve.accounts import ACCOUNTS, TOKENS, Accounts, make_tokens
from grader.errors import GraderError
from tests.commands.serve.serving import tokens


def test_a_token_is_its_students_and_no_other_text_is(tmp_path: Path) -> None:
    """Not a part of it, not its hash, not the secret of one with the key of another."""
    made = make_tokens(tmp_path, ["ann", "bob"])
    accounts, (ann, bob) = Accounts(tmp_path), made.values()
    assert tokens(tmp_path) == made and [accounts.student(ann), accounts.student(bob)] == ["ann", "bob"]
    stored = (tmp_path / ACCOUNTS).read_text()
    wrong = ["", ".", ann[:-1], ann + "x", ann.swapcase(), ann.partition(".")[0], stored, "\udcff.\udcff"]
    mixed = ann.partition(".")[0] + "." + bob.partition(".")[2]
    assert [accounts.student(text) for text in (*wrong, mixed)] == [None] * 9
    assert not any(token.partition(".")[2] in stored for token in (ann, bob))


def test_a_line_of_the_tokens_can_be_pasted(tmp_path: Path) -> None:
    """It ends with a line feed alone: TOML and shells take no carriage return."""
    made = make_tokens(tmp_path, ["ann"])
    assert (tmp_path / TOKENS).read_bytes() == f"id,token\nann,{made['ann']}\n".encode()


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    """Whatever the umask is."""
    before = os.umask(0)
    try:
        make_tokens(tmp_path, ["ann"])
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (TOKENS, ACCOUNTS)] == [0o600, 0o600]


def test_a_student_keeps_the_token_until_it_is_renewed(tmp_path: Path) -> None:
    """The service reads new accounts without a restart; a renewed token replaces the old one."""
    old = make_tokens(tmp_path, ["ann"])["ann"]
    accounts = Accounts(tmp_path)
    assert accounts.student(old) == "ann"
    with pytest.raises(GraderError, match="hand out its tokens and remove it first"):
        make_tokens(tmp_path, ["bob"])
    (tmp_path / TOKENS).unlink()
    assert make_tokens(tmp_path, ["ann"]) == {} and not (tmp_path / TOKENS).exists()
    made = make_tokens(tmp_path, ["ann", "bob"], renew=["ann"])
    assert set(made) == {"ann", "bob"} and accounts.student(old) is None and accounts.student(made["ann"]) == "ann"


def test_the_command_reads_nbgraders_roster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints no token; a second time, there is nothing to do."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "roster.csv").write_text("\ufeffid,first_name\nann,Ann\nbob,Bob\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["tokens", "roster.csv"]) == 0
    out = capsys.readouterr().out
    assert "the tokens of 2 students" in out and not any(token in out for token in tokens(tmp_path).values())
    (tmp_path / TOKENS).unlink()
    assert main(["tokens", "roster.csv"]) == 0 and "every student has a token" in capsys.readouterr().out
    assert main(["tokens", "nowhere.csv"]) == 1 and "nowhere.csv cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "name\nann\n", "id\n\n", "id\n../ann\n", "id\na:b\n", "id\na\na\n"])
def test_a_roster_without_usable_names_is_refused(tmp_path: Path, text: str) -> None:
    """A name becomes the name of a folder."""
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(GraderError, match="roster"):
        read_roster(tmp_path / "roster.csv").require_usable()


def test_usual_names_are_usable() -> None:
    """Numbers, addresses, other alphabets."""
    names = ["s", "123456", "ann.lee@example.org", "ann_lee-2", "žofie", "pat.o'hara@x.org"]
    assert [require_name(name) for name in names] == names
