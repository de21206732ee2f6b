"""Files of a submission are read with care: only files, only the student's own, only so long."""

import os

import pytest

from course.grading.handed_in import Unreadable, contents


def test_a_file_is_read(tmp_path):
    """Bytes as they are."""
    (tmp_path / "one.ipynb").write_bytes(b"{}")
    assert contents(tmp_path / "one.ipynb", 1) == b"{}"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: os.mkfifo(path), "is no file"),
        (lambda path: path.mkdir(), "is no file"),
        (lambda path: path.symlink_to(__file__), "cannot be read"),
        (lambda path: path.symlink_to("/dev/zero"), "cannot be read"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2 * 2**20), "has 2 MB, and 1 MB"),
        (lambda path: None, "No such file"),
    ],
    ids=["pipe", "folder", "link to somebody else's", "link to a device", "hole", "nothing"],
)
def test_whatever_else_lies_there_is_named(tmp_path, make, why):
    """It is that student's trouble: nobody waits for a pipe, and nobody reads another one's work through a link."""
    make(tmp_path / "one.ipynb")
    with pytest.raises(Unreadable, match=why):
        contents(tmp_path / "one.ipynb", 1)
