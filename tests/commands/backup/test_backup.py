"""A backup of a course in use, restored elsewhere, has every accepted hand-in and the same gradebook."""

import hashlib
import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.course_dir import CourseDir
from grader.classroom.record.record import Record
from grader.commands.backup.backup import LEFT_OUT
from grader.commands.backup.manifest import MANIFEST, PREFIX
from grader.commands.cli import main
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, ledger, make_course, released

NOT_KEPT = (
    *(f"{name}/content" for name in sorted(LEFT_OUT)),
    *(f"submitted/ann/{NAME}/{name}/content" for name in ("__pycache__", "node_modules", ".ipynb_checkpoints")),
    *(f"source/{NAME}/.cache/content", ".grader-serve.lock", ".report.json.new", "gradebook.db-journal"),
)
"""Files that a backup leaves out, as the docs say."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded course with accounts, a record, an empty hand-in, and things that are no part of a backup."""
    folder = make_course(tmp_path_factory.mktemp("course") / "course")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    hand_in(folder, "gus", None)
    (folder / "submitted" / "ann" / NAME / "own.db").write_bytes(b"SQLite format 3\0 and then nothing")
    (folder / "submitted" / "ann" / NAME / "my-journal").write_text("Dear diary")
    grade_class(folder)
    with CourseDir(folder).gradebook() as gradebook:
        gradebook.find_grade("why", "small", NAME, "ann").manual_score = 1.5
        gradebook.db.commit()
    (folder / "hand_in_accounts.json").write_text("{}")
    (folder / "hand_in_accounts.json").chmod(0o600)
    for left_out in NOT_KEPT:
        (folder / left_out).parent.mkdir(parents=True, exist_ok=True)
        (folder / left_out).write_bytes(b"")
    # Names of such folders that are something else.
    (folder / "source" / "venv").write_text("a file")
    (folder / "submitted" / "node_modules" / "02-not-yet").mkdir(parents=True)
    (folder / "submitted" / "node_modules" / "02-not-yet" / "notes.txt").write_text("of a student with this name")
    (folder / "linked").symlink_to("/etc")
    return folder


@pytest.fixture(scope="module")
def backup(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it."""
    file = tmp_path_factory.mktemp("backup") / "course.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course)
        assert main(["backup", str(file)]) == 0
    return file


def files(folder: Path) -> dict[str, bytes]:
    """The files of a folder, without databases, which are compared by what they hold."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "gradebook.db"
    }


def test_everything_comes_back(course: Path, backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same files and scores; the restored course goes on, and no one has to be graded again."""
    folder = tmp_path / "new" / "course"
    assert main(["restore", str(backup), str(folder)]) == 0
    assert "1 sound database, 2 students in the gradebook" in capsys.readouterr().out
    assert set(NOT_KEPT) <= files(course).keys()
    assert files(folder) == {name: content for name, content in files(course).items() if name not in NOT_KEPT}
    assert not any((folder / name).parent.exists() for name in NOT_KEPT if (folder / name).parent.name in LEFT_OUT)
    assert {"source/venv", "submitted/node_modules/02-not-yet/notes.txt"} <= files(folder).keys()
    assert (folder / "submitted" / "gus" / NAME).is_dir() and not (folder / "linked").exists()
    assert (folder / "hand_in_accounts.json").stat().st_mode & 0o777 == 0o600 == backup.stat().st_mode & 0o777
    assert ledger(folder) == ledger(course)
    assert [entry.after for entry in Record(folder).entries()] == [1.5]
    assert grade_class(folder) == []


def test_a_backup_replaces_nothing_and_lies_outside(
    course: Path, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An existing file, a place in the course folder and one that is not there are refused in one sentence.

    A link, whose file is elsewhere, is said to be left out.
    """
    monkeypatch.chdir(course)
    for file, says in (
        (backup, "already exists"),
        (course / "new.zip", "is in the course folder"),
        (course.parent / "none" / "new.zip", "cannot be written"),
    ):
        assert main(["backup", str(file)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line
    assert main(["backup", str(tmp_path / "x.zip")]) == 0
    assert "1 link left out, whose files are elsewhere: linked" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["x.zip"]
    monkeypatch.chdir(course.parent)
    assert main(["backup", "x.zip"]) == 1


def test_a_folder_with_files_is_not_touched(backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is a file or a link; an empty folder is taken."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = files(tmp_path)
    for name in ("full", "file", "link"):
        assert main(["restore", str(backup), str(tmp_path / name)]) == 1
        assert "is not an empty folder" in capsys.readouterr().err
    assert files(tmp_path) == before
    (tmp_path / "empty").mkdir()
    assert main(["restore", str(backup), str(tmp_path / "empty")]) == 0


def test_a_damaged_backup_is_refused_in_one_sentence(
    backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of it stays."""
    whole = backup.read_bytes()
    middle = len(whole) // 2
    flipped = bytes(each ^ 255 for each in whole[middle : middle + 64])
    for damaged in (whole[:middle], whole[:middle] + flipped + whole[middle + 64 :], whole[:-1], b"", b"x" * 99):
        (tmp_path / "damaged.zip").write_bytes(damaged)
        assert main(["restore", str(tmp_path / "damaged.zip"), str(tmp_path / "new")]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "use another backup" in line
        assert os.listdir(tmp_path) == ["damaged.zip"]


def forged(backup: Path, file: Path, change: Callable[[dict[str, bytes], dict[str, Any]], object]) -> Path:
    """Write a backup whose members and manifest are changed."""
    with zipfile.ZipFile(backup) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop(MANIFEST))
    change(members, manifest)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(MANIFEST, json.dumps(manifest))
    return file


def added(members: dict[str, bytes], manifest: dict[str, Any], path: str) -> None:
    """Add an empty file to a backup."""
    members[PREFIX + path] = b""
    manifest["files"].append({"path": path, "size": 0, "sha256": hashlib.sha256().hexdigest()})


def without_gradebook(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    """Take the gradebook out of a backup."""
    del members[f"{PREFIX}gradebook.db"]
    manifest["files"] = [each for each in manifest["files"] if each["path"] != "gradebook.db"]


CHANGED = f"{PREFIX}nbgrader_config.py"
FORGED: list[tuple[Callable[[dict[str, bytes], dict[str, Any]], object], str]] = [
    *(
        (lambda members, manifest, path=path: added(members, manifest, path), says)
        for path, says in (
            ("../outside", "holds the path '../outside'"),
            ("/etc/outside", "holds the path '/etc/outside'"),
            ("a/../../outside", "holds the path"),
            ("a//b", "holds the path"),
            ("gradebook.db/x", "is below a path that is a file"),
            ("gradebook.db", "holds 'gradebook.db' twice"),
        )
    ),
    *(
        (lambda members, _, end=end: members.update({CHANGED: members[CHANGED][::-1] + end}),
         "'nbgrader_config.py' is not the file that was backed up")
        for end in (b"", b"\nimport os")
    ),
    (lambda members, _: members.update({f"{PREFIX}more": b""}), "its files are not those of its list"),
    (lambda members, _: members.pop(f"{PREFIX}gradebook.db"), "its files are not those of its list"),
    (without_gradebook, "a database is missing"),
    (lambda _, manifest: manifest.update(format=9), "a newer version of the grader made it"),
    (lambda _, manifest: manifest.update(files=[{"path": 7}]), "it has no list backup.json"),
    (lambda _, manifest: manifest["files"][0].update(size=2**60), "it needs "),
    (lambda _, manifest: manifest.update(folders=["../../outside"]), "holds the path '../../outside'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "says"), FORGED)
def test_a_forged_backup_writes_nothing(
    backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, bytes], dict[str, Any]], object], says: str,
) -> None:  # fmt: skip
    """Neither outside of the folder nor in it."""
    file = forged(backup, tmp_path / "forged.zip", change)
    assert main(["restore", str(file), str(tmp_path / "in" / "new")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["forged.zip", "in"]
    assert not Path("/etc/outside").exists()


def test_a_database_that_was_damaged_before_is_named(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digests fit, and the restore says which database is not sound."""
    twin = shutil.copytree(course, tmp_path / "twin", symlinks=True)
    with closing(sqlite3.connect(twin / "notes.db")) as notes:
        notes.executescript("CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1), (2);")
        notes.executescript("PRAGMA writable_schema=1; UPDATE sqlite_master SET rootpage=3 WHERE name='a';")
    monkeypatch.chdir(twin)
    if main(["backup", str(tmp_path / "x.zip")]) == 0:
        assert main(["restore", str(tmp_path / "x.zip"), str(tmp_path / "new")]) == 1
        assert "notes.db is damaged" in capsys.readouterr().err and not (tmp_path / "new").exists()
    else:
        assert "a database of the course cannot be read" in capsys.readouterr().err
