"""Files are replaced whole, locked against other processes, and known to have changed."""

import os
from pathlib import Path

import pytest

from grader.files import locked, replace_file, stamp


def test_a_lock_keeps_others_away_until_its_block_ends(tmp_path: Path) -> None:
    """A file is made for it; a folder is locked as it is. The kernel counts each opening as another holder."""
    for path, flags in ((tmp_path / "lock", os.O_RDWR | os.O_CREAT), (tmp_path, os.O_DIRECTORY)):
        with locked(path, flags), pytest.raises(BlockingIOError), locked(path, flags):
            pass
        with locked(path, flags):
            pass


def test_a_link_is_not_locked(tmp_path: Path) -> None:
    """It could lead to another user's file, which would be made or held."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError), locked(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_new_file_of_the_same_size_has_another_stamp(tmp_path: Path) -> None:
    """Even if it was written in the same instant; a file that is not there has none."""
    file = tmp_path / "file"
    assert stamp(file) is None
    replace_file(file, "one")
    before = stamp(file)
    replace_file(file, "two")
    os.utime(file, ns=(before[0], before[0]))
    assert before == stamp(file)[:2] + (before[2],) and before != stamp(file)


def test_a_private_file_is_never_readable_by_others(tmp_path: Path) -> None:
    """Not even before it has its name."""
    replace_file(tmp_path / "new" / "private", "secret", mode=0o600)
    assert (tmp_path / "new" / "private").stat().st_mode & 0o777 == 0o600
