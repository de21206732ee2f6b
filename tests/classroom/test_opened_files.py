"""Shows in the kernel's own record that the grader opens nothing by a student's name without a guard.

A class with hostile folders is graded under strace, which records every file that any of the processes opens.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.classroom.source.student_zero import STUDENT
from tests.support.notebooks import answered
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME, RIGHT, SCORES, hand_in, make_course, points, released
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

SECRET = "secret"
"""A folder beside the course, to which links lead."""
CALL = re.compile(
    r'(?:open|openat|openat2|creat)\((?:(?P<at>[^,]*), )?"(?P<path>.*?)"(?P<flags>.*)\)\s+= \d+<(?P<end>.*)>$'
)


def link(target: str) -> Callable[[Path], object]:
    """What makes a link."""
    return lambda path: path.symlink_to(target)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "linked": link("ann"),
    "linked-outside": link(f"../../{SECRET}"),
    f"deep/{NAME}": link(f"../../../{SECRET}"),
    f"loop/{NAME}": link(NAME),
    f"process/{NAME}": link("/proc/self/cwd"),
    f"notebook/{NAME}/small.ipynb": link(f"../../../../{SECRET}/small.ipynb"),
    f"device/{NAME}/small.ipynb": link("/dev/zero"),
    f"pipe/{NAME}/small.ipynb": os.mkfifo,
    f"folder/{NAME}/small.ipynb": Path.mkdir,
    f"times/{NAME}/timestamp.txt": link(f"../../../../{SECRET}/timestamp.txt"),
    f"receipt/{NAME}/submission_secret.txt": link(f"../../../../{SECRET}/timestamp.txt"),
    f"packed/{NAME}/inner": link(f"../../../../{SECRET}"),
    f"other/{NAME}/SMALL.ipynb": link(f"../../../../{SECRET}/small.ipynb"),
    f"new\nline/{NAME}/small.ipynb": link(f"../../../../{SECRET}/small.ipynb"),
    f"\x1b[2J/{NAME}/small.ipynb": os.mkfifo,
    f"{'x' * 200}/{NAME}/timestamp.txt": os.mkfifo,
}
"""What stands in submitted/ besides one ordinary submission, by its path."""


@dataclass(frozen=True)
class Opened:
    """A file that a process opened: the name that it gave to the kernel, and where the file is."""

    name: str
    flags: str
    folder: str
    path: Path


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with the hostile class; strace has recorded how it was graded."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    folder = make_course(tmp_path_factory.mktemp("opened") / "course")
    right = answered(released(folder), **RIGHT)
    hand_in(folder, "ann", right)
    (folder.parent / SECRET).mkdir()
    shutil.copy(folder / "submitted" / "ann" / NAME / "small.ipynb", folder.parent / SECRET)
    (folder.parent / SECRET / "timestamp.txt").write_text("2030-01-01 12:00:00 UTC")
    for place, make in HOSTILE.items():
        path = folder / "submitted" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
    command = ["strace", "-f", "-y", "-s", "4096", "--seccomp-bpf", "-e", "trace=open,openat,openat2,creat", "-qq"]
    grading = [sys.executable, "-m", "grader", "grade", NAME]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [*command, "-o", str(folder.parent / "trace"), *grading],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert "ann" in done.stdout, done.stderr
    return folder


@pytest.fixture(scope="module")
def opened(course: Path) -> list[Opened]:
    """Every file that was opened inside the course or beside it."""
    files = []
    for call in _calls((course.parent / "trace").read_text(errors="replace")):
        if match := CALL.search(call):
            path = Path(match["end"])
            if path.is_relative_to(course.parent):
                files.append(Opened(match["path"], match["flags"], match["at"] or "", path))
    return files


def _calls(trace: str) -> Iterator[str]:
    """The recorded calls; of one that another process interrupted, strace writes two halves."""
    begun: dict[str, str] = {}
    for line in trace.splitlines():
        process, _, call = line.partition(" ")
        if call.endswith(" <unfinished ...>"):
            begun[process] = call.removesuffix(" <unfinished ...>")
        else:
            yield re.sub(r"<\.\.\. \w+ resumed>", lambda _, process=process: begun.pop(process), call.strip())


def test_nothing_is_opened_to_which_a_link_leads(course: Path, opened: list[Opened]) -> None:
    """At no level, by none of the processes; so nothing there counts as the work of the student who made the link.

    The record has the submission of the ordinary student, so it would have the others, too.
    """
    given = points(course)
    assert given.pop("ann") == SCORES["ann"] and set(given.values()) <= {0.0}
    assert course / "submitted" / "ann" / NAME / "small.ipynb" in {file.path for file in opened}
    assert [file for file in opened if file.path.is_relative_to(course.parent / SECRET)] == []
    for place in HOSTILE:
        path = course / "submitted" / place
        if path.is_symlink():
            assert [file for file in opened if file.path == path] == []


def test_files_are_opened_name_by_name_and_written_where_they_belong(course: Path, opened: list[Opened]) -> None:
    """Each in the folder that was opened before, without following a link, and without waiting for a pipe.

    A file is written only below autograded/ and feedback/, and by a student's name or that of our own stamp.
    """
    submitted = course / "submitted"
    inside = [file for file in opened if file.path.is_relative_to(submitted) and file.path != submitted]
    assert inside
    for file in inside:
        is_listing = file.name == "."
        assert "/" not in file.name and (is_listing or "O_NOFOLLOW" in file.flags), file
        assert "O_DIRECTORY" in file.flags or "O_NONBLOCK" in file.flags, file
    written = [file for file in opened if "O_CREAT" in file.flags or "O_WRONLY" in file.flags]
    names = {os.fsencode(place.partition("/")[0]) for place in HOSTILE} | {b"ann", STUDENT.encode()}
    for file in written:
        parts = file.path.relative_to(course.parent).parts
        if len(parts) > 2 and parts[1] in ("autograded", "feedback"):
            assert os.fsencode(parts[2]).decode("unicode_escape").encode("latin-1", "replace") in names, file
