"""A process removes the scratch folders of its sandboxes, and those that killed processes left."""

import os
import subprocess
import sys
import tempfile

import pytest

from grader.engine.supervisor.scratch import Scratch

KILLED = """
import os, signal
from grader.engine.supervisor.scratch import Scratch
scratch = Scratch()
deep = scratch.folder / "locked" / "deeper"
deep.mkdir(parents=True)
(deep / "file").write_text("left")
deep.parent.chmod(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder for the temporary files of this process and of those it starts."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_with_its_contents(temporary):
    """However deep it is, and although a folder in it is locked."""
    scratch = Scratch()
    folder = scratch.folder
    for _ in range(500):
        folder = folder / "d"
        os.mkdir(folder)
    folder.parent.chmod(0)
    scratch.remove()
    assert not list(temporary.iterdir())


def test_folders_of_a_killed_process_are_removed_by_the_next(temporary):
    """A process that makes its first folder removes those that no process uses any more, and no other."""
    (temporary / "grader-notes.txt").write_text("a file of someone else's")
    scratch = Scratch()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED], check=False)
        # The second process removes the folder of the first when it makes its own.
        assert len(list(temporary.glob("grader-*/scratch/locked"))) == 1
    assert scratch.folder.is_dir()
    scratch.remove()
    ends = "from grader.engine.supervisor.scratch import Scratch; Scratch().remove()"
    subprocess.run([sys.executable, "-c", ends], check=True)
    assert [path.name for path in temporary.iterdir()] == ["grader-notes.txt"]


def test_a_folder_that_cannot_be_read_counts_as_full(temporary):
    """Files in a folder that is too deep to have a path could be of any size."""
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
