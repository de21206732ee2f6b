"""The folders that student code writes into: a process removes those of its own, and those that killed ones left."""

import os
import subprocess
import sys
import tempfile

import pytest

from course.grading.scratch import Scratch

KILLED = """
import os, signal
from course.grading.scratch import Scratch
scratch = Scratch()
deep = scratch.folder / "locked" / "deeper"
deep.mkdir(parents=True)
(deep / "file").write_text("left")
deep.parent.chmod(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, empty, of this process and of those it starts."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_with_all_in_it(temporary):
    """However deep it is, and whatever is locked in it."""
    scratch = Scratch()
    folder = scratch.folder
    for _ in range(500):
        folder = folder / "d"
        os.mkdir(folder)
    folder.parent.chmod(0)
    scratch.remove()
    assert not list(temporary.iterdir())


def test_what_a_killed_process_left_goes_with_the_next(temporary):
    """The first folder that a process makes clears those away that nobody uses any more, and no other."""
    (temporary / "course-grading-notes.txt").write_text("somebody's own")
    mine = Scratch()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED], check=False)
        # That of the first is gone once the second has made its own.
        assert len(list(temporary.glob("course-grading-*/scratch/locked"))) == 1
    assert mine.folder.is_dir()
    mine.remove()
    ends = "from course.grading.scratch import Scratch; Scratch().remove()"
    subprocess.run([sys.executable, "-c", ends], check=True)
    assert [path.name for path in temporary.iterdir()] == ["course-grading-notes.txt"]


def test_what_cannot_be_looked_at_is_full(temporary):
    """Files in a folder that is locked, or so deep that it has no path, could be of any size."""
    scratch = Scratch()
    assert not scratch.is_full(1)
    os.chdir(scratch.folder)
    try:
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
    finally:
        os.chdir(temporary)
    assert scratch.is_full(1)
    scratch.remove()
    assert not list(temporary.iterdir())
