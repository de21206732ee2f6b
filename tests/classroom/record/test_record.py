"""The record keeps every entry of every process, and survives a kill."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.record import RECORD, Record
from grader.errors import GraderError

MARK = Entry(
    kind=Kind.MARK, who="mia", student="ada", assignment="04", notebook="1", cell="question", before=None, after=2.0
)


def test_an_entry_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Numbers stay numbers, text stays text, and the time is in UTC, in seconds.

    Other tools read the file: each line is a JSON object without the fields that are empty.
    """
    begin = datetime.now(UTC).replace(microsecond=0)
    until = Entry(kind=Kind.EXTENSION, who="mia", student="ø'é", after="2026-12-24T17:00:00", why='ill\n"since" Monday')
    Record(tmp_path).append([MARK, until])
    assert Record(tmp_path).entries() == [MARK, until]
    assert begin <= until.time <= datetime.now(UTC) and MARK.id != until.id
    line, _ = (tmp_path / RECORD).read_text().splitlines()
    assert json.loads(line) == {
        "kind": "mark", "who": "mia", "student": "ada", "assignment": "04", "notebook": "1", "cell": "question",
        "after": 2.0, "time": MARK.time.strftime("%Y-%m-%dT%H:%M:%SZ"), "id": MARK.id,
    }  # fmt: skip


def test_an_open_record_sees_what_others_append(tmp_path: Path) -> None:
    """Only the new lines are read, also after the file was replaced by a shorter one."""
    reader, writer = Record(tmp_path), Record(tmp_path)
    assert reader.entries() == []
    for number in range(3):
        writer.append([MARK])
        assert len(reader.entries()) == number + 1
    reader.path.unlink()
    assert reader.entries() == []
    writer.append([MARK])
    assert reader.entries() == [MARK]


def _append_many(root: Path, who: str, count: int) -> None:
    for number in range(count):
        Record(root).append([Entry(kind=Kind.MARK, who=who, after=float(number), why="x" * 5000)] * 2)


def test_processes_append_at_once(tmp_path: Path) -> None:
    """No entry is lost or mixed with another one, and those of one writer stay in order."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append_many, args=(tmp_path, f"w{n}", 20)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    entries = Record(tmp_path).entries()
    for n in range(4):
        assert [entry.after for entry in entries if entry.who == f"w{n}"] == [float(i) for i in range(20) for _ in "ab"]


WRITER = """
import sys
from pathlib import Path
from grader.classroom.record.entry import Entry, Kind
from grader.classroom.record.record import Record
record = Record(Path(sys.argv[1]))
number = 0
while True:
    record.append([Entry(kind=Kind.MARK, who=sys.argv[2], after=float(number), why="y" * 20000)])
    print(number, flush=True)
    number += 1
"""


def test_kill_9_loses_no_entry_that_was_acknowledged(tmp_path: Path) -> None:
    """Killed at any moment, all entries that `append` returned for are there, whole, and the record goes on."""
    for turn in range(3):
        who = f"writer{turn}"
        command = [sys.executable, "-c", WRITER, str(tmp_path), who]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            for _ in range(5 + turn):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            acknowledged = 5 + turn + len(writer.stdout.read().split())
        Record(tmp_path).append([MARK])
        numbers = [entry.after for entry in Record(tmp_path).entries() if entry.who == who]
        assert numbers == [float(n) for n in range(len(numbers))] and len(numbers) in (acknowledged, acknowledged + 1)


@pytest.mark.parametrize("torn", [b'{"kind":"mark","wh', b"\0" * 100, b'{"kind": "\xff', b"z" * 200_000])
def test_an_incomplete_last_line_is_repaired_and_reported(tmp_path: Path, torn: bytes) -> None:
    """Readers ignore it; the next writer replaces it by an entry with its text."""
    record = Record(tmp_path)
    record.append([MARK])
    with open(record.path, "ab") as file:
        file.write(torn)
    assert record.entries() == [MARK]
    record.append([MARK])
    first, repair, last = record.entries()
    assert (first, repair.kind, last) == (MARK, Kind.REPAIR, MARK)
    assert repair.why[:10] == torn.strip(b"\0").decode(errors="replace")[:10]
    assert Record(tmp_path).entries() == [first, repair, last]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """A line that is not an entry stops the reader with its number, and is not overwritten."""
    record = Record(tmp_path)
    record.append([MARK])
    for damaged in (b"oops\n", b'{"kind":"feast","who":"x"}\n', b"\n", b"\xff\n"):
        content = record.path.read_bytes()
        with open(record.path, "ab") as file:
            file.write(damaged)
        with pytest.raises(GraderError, match=f"{RECORD}: line 2 is not an entry"):
            record.entries()
        record.path.write_bytes(content)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_record_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link, a folder and a full disk are refused in one sentence, and leave no half an entry behind."""
    (tmp_path / RECORD).symlink_to("/dev/full")
    with pytest.raises(GraderError, match="cannot be written"):
        Record(tmp_path).append([MARK])
    (tmp_path / RECORD).unlink()
    Record(tmp_path).append([MARK])
    full, really = os.open("/dev/full", os.O_WRONLY), os.write

    def write(file: int, data: bytes) -> int:
        """Write half, and then as to a full disk."""
        return really(file, data[:20]) if len(data) > 100 and data.startswith(b'{"kind"') else really(full, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(GraderError, match="No space left.*no mark is changed"):
        Record(tmp_path).append([MARK])
    monkeypatch.undo()
    os.close(full)
    assert Record(tmp_path).entries() == [MARK]


@pytest.mark.parametrize(("folder", "file"), [(0o2770, 0o660), (0o755, 0o640), (0o700, 0o600)])
def test_all_who_may_write_into_the_folder_may_write_the_record(tmp_path: Path, folder: int, file: int) -> None:
    """On a hub the service makes it, and instructors mark. The umask plays no part, and others never read it."""
    tmp_path.chmod(folder)
    before = os.umask(0o077)
    Record(tmp_path).append([MARK])
    os.umask(before)
    assert Record(tmp_path).path.stat().st_mode & 0o777 == file


def test_an_error_inside_the_lock_is_not_an_error_of_the_record(tmp_path: Path) -> None:
    """What goes wrong with other files keeps its own message, and frees the lock."""
    record = Record(tmp_path)
    with pytest.raises(FileNotFoundError), record.locked():
        (tmp_path / "missing").read_text()
    record.append([MARK])
