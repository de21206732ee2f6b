"""Tokens: made once, stored as salted hashes, and unknown if one character is wrong."""

import csv
import os
import stat
import tomllib
import zipfile
from pathlib import Path

import pytest

from grader.commands.cli import main
from grader.commands.lms.moodle import entry_owner
from grader.commands.serve.accounts import ACCOUNTS, TOKENS, Accounts, make_tokens
from grader.errors import GraderError
from grader_kernel.service import service_of
from tests.commands.serve.serving import tokens
from tests.support.platform_files import MOODLE_WORKSHEET, write_csv


def test_a_token_is_its_students_and_no_other_text_is(tmp_path: Path) -> None:
    """Not a part of it, not its hash, not the secret of one with the key of another; only the owner reads the files."""
    before = os.umask(0)
    try:
        made = make_tokens(tmp_path, ["ann", "bob"])
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (TOKENS, ACCOUNTS)] == [0o600, 0o600]
    accounts, (ann, bob) = Accounts(tmp_path), made.values()
    assert [accounts.student(ann), accounts.student(bob)] == ["ann", "bob"]
    # A line that ends with a line feed alone can be pasted: TOML and shells take no carriage return.
    lines = f"id,token,first_name,last_name,email\nann,{ann},,,\nbob,{bob},,,\n"
    assert (tmp_path / TOKENS).read_bytes() == lines.encode()
    stored = (tmp_path / ACCOUNTS).read_text()
    wrong = ["", ".", ann[:-1], ann + "x", ann.swapcase(), ann.partition(".")[0], stored, "\udcff.\udcff"]
    mixed = ann.partition(".")[0] + "." + bob.partition(".")[2]
    assert [accounts.student(text) for text in (*wrong, mixed)] == [None] * 9
    assert not any(token.partition(".")[2] in stored for token in (ann, bob))


def test_a_student_keeps_the_token_until_it_is_renewed(tmp_path: Path) -> None:
    """The service reads new accounts without a restart; a renewed token replaces the old one."""
    old = make_tokens(tmp_path, ["ann"])["ann"]
    accounts = Accounts(tmp_path)
    assert accounts.student(old) == "ann"
    with pytest.raises(GraderError, match="hand out what is in it and remove it first"):
        make_tokens(tmp_path, ["bob"])
    (tmp_path / TOKENS).unlink()
    assert make_tokens(tmp_path, ["ann"]) == {} and not (tmp_path / TOKENS).exists()
    made = make_tokens(tmp_path, ["ann", "bob"], renew=["ann"])
    assert set(made) == {"ann", "bob"} and accounts.student(old) is None and accounts.student(made["ann"]) == "ann"


ROSTER = """\
\ufeffid,first_name,last_name,email
ann,Ann,Lee,ann@example.org
bob,=Bob,Oduya,bob@example.org
zofie,Žofie,Šimić,zofie@example.org
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder with a roster, as the working folder."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_has_names_and_addresses(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For mail merges: no cell is a formula, and a token is never one. No token is printed, and none made twice."""
    assert main(["tokens", "roster.csv"]) == 0
    out = capsys.readouterr().out
    assert "the tokens of 3 students" in out and not any(token in out for token in tokens(course).values())
    rows = list(csv.DictReader((course / TOKENS).read_text(encoding="utf-8").splitlines()))
    assert [(row["id"], row["first_name"], row["last_name"], row["email"]) for row in rows] == [
        ("ann", "Ann", "Lee", "ann@example.org"),
        ("bob", "'=Bob", "Oduya", "bob@example.org"),
        ("zofie", "Žofie", "Šimić", "zofie@example.org"),
    ]
    (course / TOKENS).unlink()
    assert main(["tokens", "roster.csv"]) == 0 and "every student has a token" in capsys.readouterr().out
    assert main(["tokens", "nowhere.csv"]) == 1 and "nowhere.csv cannot be read" in capsys.readouterr().err
    assert all(token[0].isalnum() for token in make_tokens(course, map(str, range(100))).values())


def test_each_student_gets_a_file_that_hand_in_reads(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder with the student's name, for its eyes only; no second run overwrites what is not handed out yet."""
    assert main(["tokens", "roster.csv", "--url", "https://grader.example.org/"]) == 0
    assert "hand_in_files/STUDENT/hand_in.toml" in capsys.readouterr().out
    for student, token in tokens(course).items():
        file = course / "hand_in_files" / student / "hand_in.toml"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        service = service_of(file.parent)
        assert service is not None and (service.url, service.token) == ("https://grader.example.org", token)
    (course / TOKENS).unlink()
    assert main(["tokens", "roster.csv", "--renew", "ann", "--url", "https://grader.example.org"]) == 1
    assert "hand_in_files already exists" in capsys.readouterr().err
    assert main(["roster", "--rename", "ann", "anna"]) == 0
    assert (course / "hand_in_files" / "anna" / "hand_in.toml").exists()


def test_moodle_hands_the_files_out(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As feedback files, each in the folder that belongs to the participant, found by the address."""
    write_csv(course, MOODLE_WORKSHEET, "worksheet.csv")
    words = ["tokens", "roster.csv", "--worksheet", "worksheet.csv"]
    assert main(words) == 1 and "with --url" in capsys.readouterr().err
    assert main([*words, "--url", "https://grader.example.org"]) == 0
    with zipfile.ZipFile(course / "hand_in_files.zip") as archive:
        names = archive.namelist()
        settings = {name: tomllib.loads(archive.read(name).decode()) for name in names}
    assert names == [
        "Ann Lee_11_assignsubmission_file_/hand_in.toml",
        "Bob Oduya_12_assignsubmission_file_/hand_in.toml",
        "Žofie Šimić_13_assignsubmission_file_/hand_in.toml",
    ]
    assert [each["token"] for each in settings.values()] == [*tokens(course).values()]
    assert [entry_owner(tuple(name.split("/"))).key for name in names] == ["11", "12", "13"]


def test_a_student_without_a_row_or_a_wrong_address_is_refused_before_any_token(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No one would get the file."""
    write_csv(course, MOODLE_WORKSHEET.replace("zofie@example.org", "x@example.org").replace("Žofie", "Z"), "w.csv")
    assert main(["tokens", "roster.csv", "--url", "https://x.org", "--worksheet", "w.csv"]) == 1
    assert "w.csv has no row for zofie" in capsys.readouterr().err
    for url in ("grader.example.org", "ftp://x.org", "https://", "http://[", "https://x.org/\n"):
        assert main(["tokens", "roster.csv", "--url", url]) == 1
        assert "--url wants the address" in capsys.readouterr().err
    assert not (course / TOKENS).exists() and not (course / ACCOUNTS).exists()
