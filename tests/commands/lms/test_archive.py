"""An archive that would harm is refused in words, entry by entry, and the rest of it comes in."""

import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.lms.archive.archive import Archive, Budget
from grader.commands.lms.settings import Archives
from grader.errors import UnreadableFile
from tests.support.platform_files import Packed, packed

GOOD = Packed("ann/one.ipynb", b"{}")
LIMITS = Archives()


def opened(data: bytes, max_entries: int = 100) -> Archive:
    """Open an archive that a student made."""
    return Archive(data, LIMITS, max_entries)


def refusals(data: bytes) -> dict[str, str]:
    """Return what is refused of an archive, with the reason, and check that the good file is not."""
    archive = opened(data)
    assert [file.path for file in archive.files if file.path == "ann/one.ipynb"]
    assert archive.read(archive.files[0], 1, Budget(1, "all")) == b"{}"
    return {file.path: why for file, why in archive.refused}


def changed(data: bytes, name: str, change: Callable[[bytearray, int], None]) -> bytes:
    """Return an archive with a changed directory entry: `change` gets all bytes, and where the entry begins."""
    made = bytearray(data)
    place = made.rindex(b"PK\x01\x02", 0, made.rindex(name.encode()))
    change(made, place)
    return bytes(made)


@pytest.mark.parametrize(
    "name",
    [
        "../one.ipynb", "ann\\..\\..\\one.ipynb", "/etc/passwd", "C:\\one.ipynb", "ann/CON", "a/" * 40 + "one.ipynb",
        "ann/\x1b[2J.ipynb", "ann/one\n.ipynb", "ann/" + "x" * 255,
    ],
)  # fmt: skip
def test_a_name_may_be_anything(name: str) -> None:
    """None becomes a path (tests/commands/lms/test_zip_collect.py), and none acts on a terminal."""
    archive = opened(packed([GOOD, Packed(name, b"x")]))
    assert archive.refused == [] and archive.read(archive.files[1], 1, Budget(1, "all")) == b"x"
    assert "\x1b" not in archive.files[1].path and "\n" not in archive.files[1].path


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ann/" + "x" * 256, "its name is too long"),
        ("x" * 256 + "/one.ipynb", "its name is too long"),
        ("ANN/One.ipynb", "2 entries have this name, apart from upper and lower case"),
        (GOOD.name, "2 entries have this name, apart from upper and lower case"),
    ],
)
def test_a_hostile_name_is_refused(name: str, why: str, recwarn: pytest.WarningsRecorder) -> None:
    """It would take hours to compare, or hide another file: both files of one name are refused."""
    archive = opened(packed([GOOD, Packed("ben/one.ipynb", b"{}"), Packed(name, b"x")]))
    refused = ["ann/one.ipynb", name] if "2 entries" in why else [name]
    assert [reason for _, reason in archive.refused] == [why] * len(refused)
    assert [file.path for file in archive.files] == ["ann/one.ipynb", "ben/one.ipynb"][len(refused) - 1 :]
    assert all("Duplicate name" in str(warning.message) for warning in recwarn)


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        *(
            (Packed("ann/two.ipynb", b"/etc/passwd", mode=mode), "it is neither a file nor a folder")
            for mode in (stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o644)
        ),
        *(
            (
                Packed("ann/two.ipynb", bytes(10_000), method=method),
                f"it is compressed in a way that is not read (method {method})",
            )
            for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        ),
        (Packed("ann/two.ipynb", bytes(3 * 2**20)), "it would be more than 200 times as large when unpacked"),
    ],
)
def test_an_entry_that_would_harm_is_refused(harm: Packed, why: str) -> None:
    """A link leads elsewhere, and a bomb or a whole block of another compression may be a thousand times larger."""
    assert refusals(packed([GOOD, harm, Packed("ann/", b"", mode=0o40755)])) == {"ann/two.ipynb": why}


def test_a_file_and_all_files_together_have_a_limit() -> None:
    """That of a student counts in that of the archive; what is refused costs nothing."""
    archive = opened(packed([Packed(f"{number}.ipynb", os.urandom(400_000)) for number in range(6)]))
    whole = Budget(2, "the archive")
    ann, bob = Budget(1, "one student", whole), Budget(1, "one student", whole)
    for budget, file in zip([ann, ann, bob, bob], archive.files, strict=False):
        assert len(archive.read(file, 1, budget)) == 400_000
    with pytest.raises(UnreadableFile, match="would be more than the 1 MB of one student"):
        archive.read(archive.files[4], 1, ann)
    assert len(archive.read(archive.files[4], 1, Budget(1, "one student", whole))) == 400_000
    with pytest.raises(UnreadableFile, match="would be more than the 2 MB of the archive"):
        archive.read(archive.files[5], 1, Budget(1, "one student", whole))
    large = opened(packed([Packed("large.ipynb", os.urandom(2**20 + 1))]))
    with pytest.raises(UnreadableFile, match="has 1 MB, and at most 1 MB are read"):
        large.read(large.files[0], 1, Budget(9, "all"))


def test_an_encrypted_entry_and_entries_that_share_bytes_are_refused() -> None:
    """There is no password, and a small archive would hold the same large file a thousand times."""
    data = packed([GOOD, Packed("b/one.ipynb", b"12", method=0), Packed("c/one.ipynb", b"34", method=0)])
    secret = changed(data, "c/one.ipynb", lambda made, place: made.__setitem__(place + 8, made[place + 8] | 1))
    assert refusals(secret) == {"c/one.ipynb": "it is encrypted"}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        offset = archive.getinfo("b/one.ipynb").header_offset
    data = changed(data, "c/one.ipynb", lambda made, place: struct.pack_into("<L", made, place + 42, offset))
    assert refusals(data) == dict.fromkeys(["b/one.ipynb", "c/one.ipynb"], "its bytes belong to another entry as well")


def test_an_archive_of_thousands_of_entries_is_refused(tmp_path: Path) -> None:
    """Before its directory is parsed if a student made it: each entry takes memory. A platform's may be longer."""
    data = packed(Packed(f"{number}", b"") for number in range(101))
    (tmp_path / "all.zip").write_bytes(data)
    for archive in (data, tmp_path / "all.zip"):
        with pytest.raises(UnreadableFile, match="has more than 100 entries"):
            Archive(archive, LIMITS, 100)
    assert len(opened(data, 101).files) == 101


@pytest.mark.parametrize(
    "change",
    [
        lambda made, place: struct.pack_into("<L", made, place + 24, 1),  # it says that it is shorter
        lambda made, place: struct.pack_into("<L", made, place + 24, 1000),  # or longer
        lambda made, place: struct.pack_into("<L", made, place + 16, 7),  # another checksum
        lambda made, place: struct.pack_into("<L", made, place + 42, 3),  # it begins elsewhere
    ],
)
def test_an_entry_that_lies_is_damaged(change: Callable[[bytearray, int], None]) -> None:
    """What it holds is not given as something that it is not."""
    archive = opened(changed(packed([Packed("two.ipynb", b"0123456789")]), "two.ipynb", change))
    with pytest.raises(UnreadableFile, match="is damaged in the archive|is not as long as the archive says"):
        archive.read(archive.files[0], 1, Budget(1, "all"))


@pytest.mark.slow
@given(data=st.data())
@settings(derandomize=True, database=None, deadline=None, max_examples=300)
def test_a_damaged_archive_is_read_or_refused(data: st.DataObject) -> None:
    """Whatever bytes are changed: there is no other error, and no file is longer than it may be."""
    made = bytearray(packed([GOOD, Packed("ben/two.ipynb", b"{}" * 50), Packed("c/ž.ipynb", os.urandom(9), method=0)]))
    for place, byte in data.draw(
        st.dictionaries(st.integers(0, len(made) - 1), st.integers(0, 255), max_size=6)
    ).items():
        made[place] = byte
    try:
        archive = opened(bytes(made))
    except UnreadableFile:
        return
    for file in archive.files:
        try:
            assert len(archive.read(file, 1, Budget(1, "all"))) <= 2**20
        except UnreadableFile:
            continue
