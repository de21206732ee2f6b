"""Shows that a submitted file is read only if it is a regular file of the student's own and not too large."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.notebook.folder.submission_folder import MAX_ENTRIES, SubmissionFolder, read_bytes
from grader.errors import UnreadableFile

SECRET = b"the work of another student"
FOLDERS = ("eve", "homework")
"""The folders on the way to a file, below the one that the instructor chose."""


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: os.mkfifo(path), "is not a file"),
        (lambda path: path.mkdir(), "is not a file"),
        (lambda path: path.symlink_to(__file__), "it is a link, and no link is followed"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a link, and no link is followed"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2 * 2**20), "has 2 MB, and at most 1 MB"),
        (lambda path: None, "No such file"),
    ],
)
def test_anything_else_is_named(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    """The grader neither waits for a pipe nor reads another student's work through a link; a file is read as it is."""
    (tmp_path / "two.ipynb").write_bytes(b"{}")
    assert read_bytes(tmp_path / "two.ipynb", 1) == b"{}"
    make(tmp_path / "one.ipynb")
    with pytest.raises(UnreadableFile, match=why):
        read_bytes(tmp_path / "one.ipynb", 1)


def handed_in(base: Path) -> SubmissionFolder:
    """The submission of a student below `base`, and beside it the one of another student."""
    (base / "ann" / "homework").mkdir(parents=True)
    (base / "ann" / "homework" / "one.ipynb").write_bytes(SECRET)
    return SubmissionFolder(base.joinpath(*FOLDERS), base)


LINKS = [("eve", "ann"), ("eve/homework", "../ann/homework"), ("eve/homework", "."), ("eve", "/proc/self/cwd")]


@pytest.mark.parametrize(("link", "target"), LINKS)
def test_no_folder_is_reached_through_a_link(tmp_path: Path, link: str, target: str) -> None:
    """At any level below the folder that the instructor chose, which may itself lie on another disk."""
    submission = handed_in(tmp_path / "disk")
    (tmp_path / "disk" / link).parent.mkdir(exist_ok=True)
    (tmp_path / "disk" / link).symlink_to(target)
    for look in (lambda: submission.read("one.ipynb", 1), lambda: submission.has("one.ipynb"), submission.entries):
        with pytest.raises(UnreadableFile, match=f"the folder {Path(link).name} is a link, and no link is followed"):
            look()
    (tmp_path / "submitted").symlink_to("disk")
    submission = SubmissionFolder(tmp_path / "submitted" / "ann" / "homework", tmp_path / "submitted")
    assert submission.read("one.ipynb", 1) == SECRET and submission.has("one.ipynb")


def test_a_submission_is_listed_without_its_links(tmp_path: Path) -> None:
    """A link counts as neither file nor folder, what it leads to is not listed, and the list has an end."""
    submission = handed_in(tmp_path)
    (tmp_path / "eve" / "homework" / "packed").mkdir(parents=True)
    (tmp_path / "eve" / "homework" / "packed" / "one.ipynb").touch()
    (tmp_path / "eve" / "homework" / "link").symlink_to("../../ann/homework")
    found = {str(entry.path): (entry.is_file, entry.is_folder) for entry in submission.entries()}
    assert found == {"packed": (False, True), "packed/one.ipynb": (True, False), "link": (False, False)}
    for number in range(MAX_ENTRIES + 10):
        (tmp_path / "eve" / "homework" / f"{number}.txt").touch()
    assert len(submission.entries()) == MAX_ENTRIES


KINDS = st.sampled_from(["file", "folder", "pipe", "link to file", "link to folder", "link to itself"])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(kinds=st.lists(KINDS, min_size=3, max_size=3))
def test_whatever_stands_on_the_way_nothing_of_another_student_is_read(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """A file of the student's own is read if all above it are folders, and an error says why in all other cases."""
    base = tmp_path_factory.mktemp("tree")
    submission = handed_in(base)
    path = base
    for kind, name in zip(kinds, (*FOLDERS, "one.ipynb"), strict=True):
        path = path / name
        if not path.parent.is_dir() or path.parent.is_symlink():
            break
        match kind:
            case "file":
                path.write_bytes(b"my own")
            case "folder":
                path.mkdir()
            case "pipe":
                os.mkfifo(path)
            case "link to file":
                path.symlink_to(base / "ann" / "homework" / "one.ipynb")
            case "link to folder":
                path.symlink_to(base / "ann" if name == "eve" else base / "ann" / "homework")
            case "link to itself":
                path.symlink_to(name)
    if kinds == ["folder", "folder", "file"]:
        assert submission.read("one.ipynb", 1) == b"my own"
    else:
        with pytest.raises(UnreadableFile):
            submission.read("one.ipynb", 1)
