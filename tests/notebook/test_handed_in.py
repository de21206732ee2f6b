"""Shows that a submitted file is read only if it is a regular file of the student's own and not too large."""

import os

import pytest

from grader.errors import UnreadableFile
from grader.notebook.files import read_bytes


def test_a_file_is_read(tmp_path):
    """Its bytes are unchanged."""
    (tmp_path / "one.ipynb").write_bytes(b"{}")
    assert read_bytes(tmp_path / "one.ipynb", 1) == b"{}"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: os.mkfifo(path), "is not a file"),
        (lambda path: path.mkdir(), "is not a file"),
        (lambda path: path.symlink_to(__file__), "cannot be read"),
        (lambda path: path.symlink_to("/dev/zero"), "cannot be read"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2 * 2**20), "has 2 MB, and at most 1 MB"),
        (lambda path: None, "No such file"),
    ],
    ids=["pipe", "folder", "link to another student's", "link to a device", "hole", "nothing"],
)
def test_anything_else_is_named(tmp_path, make, why):
    """The grader neither waits for a pipe nor reads another student's work through a link."""
    make(tmp_path / "one.ipynb")
    with pytest.raises(UnreadableFile, match=why):
        read_bytes(tmp_path / "one.ipynb", 1)
