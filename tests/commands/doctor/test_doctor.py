"""Shows that the doctor tells the truth about a machine, and that grading works on each machine that it admits."""

import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.commands.cli import main
from grader.commands.doctor.attempts import ATTEMPTS
from grader.commands.doctor.entry import summary
from grader.commands.doctor.examination import FIRST_WALL, Examination, Protection, Sandboxed, attempts
from tests.support import surroundings
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

NAMESPACE_CALLS = "unshare,setns"

EXAMINED_AND_GRADED = """
import json
import msgspec
from grader.commands.doctor.examination import examine
from grader.errors import SandboxUnavailable
from grader.engine.grading import grade
from tests.support.small_class import SOURCE

examination = examine()
try:
    report = grade(SOURCE, SOURCE)
    report.require_confined()
    points = report.points
except SandboxUnavailable:
    points = None
print(json.dumps({"examination": msgspec.to_builtins(examination), "points": points}))
"""
FULL_POINTS = 8
SECOND_WALL = {"capabilities", "user", "namespaces", "names", "reading times"}
"""Its parts that namespaces give."""


def found(command: list[str], folder: Path) -> tuple[Examination, float | None]:
    """What the doctor finds in these surroundings, and the points of a right submission there."""
    environment = {**os.environ, "HOME": str(folder), "MPLCONFIGDIR": str(folder), "IPYTHONDIR": str(folder)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    examination: dict[str, Any] = answer["examination"]
    protections = [Protection(**protection) for protection in examination.pop("protections")]
    return Examination(protections=protections, **examination), answer["points"]


def names(examination: Examination, *, hold: bool) -> set[str]:
    """The protections that hold, or those that do not."""
    return {protection.name for protection in examination.protections if protection.holds == hold}


def open_folder(tmp_path: Path) -> Path:
    """A folder that every user may write to."""
    folder = Path(os.path.realpath(tmp_path))
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.geteuid() and part != Path("/"):
            part.chmod(0o777 if part == folder else part.stat().st_mode | 0o011)
    return folder


def test_every_attempt_gets_through_where_nothing_confines() -> None:
    """So an attempt that does not get through was stopped. Some need rights that not every user has."""
    through, _ = attempts(sandbox=False)
    stopped = {sentence for name, wanted in ATTEMPTS.items() for sentence in wanted if sentence not in through[name]}
    assert stopped <= {
        "Attach to another process.", "Read the memory of another process.", "Raise a limit of this process.",
    }  # fmt: skip


def test_the_first_wall_holds_here_and_grading_starts(tmp_path: Path) -> None:
    """For root and for any other user; each protection that does not hold comes with a reason and what to do."""
    examination, points = found(surroundings.python("-c", EXAMINED_AND_GRADED), tmp_path)
    assert examination.grading and points == FULL_POINTS
    assert FIRST_WALL.keys() | {"capabilities"} <= names(examination, hold=True)
    assert all(protection.holds or (protection.why and protection.to_do) for protection in examination.protections)


@pytest.mark.skipif(not surroundings.can_be_plain_user(), reason="this user cannot become another one")
def test_a_plain_user_grades_behind_both_walls(tmp_path: Path) -> None:
    """Without any right of root: the kernel gives namespaces to every user."""
    folder = open_folder(tmp_path)
    (folder / "tree").mkdir()
    command = surroundings.python_as_plain_user(folder / "tree", "-c", EXAMINED_AND_GRADED)
    examination, points = found(command, folder)
    assert examination.grading and points == FULL_POINTS
    assert FIRST_WALL.keys() | SECOND_WALL <= names(examination, hold=True)


def test_grading_works_without_namespaces(tmp_path: Path) -> None:
    """As in a container that refuses them; the doctor names what is shared."""
    examination, points = found(surroundings.python_without(NAMESPACE_CALLS, "-c", EXAMINED_AND_GRADED), tmp_path)
    assert examination.grading and points == FULL_POINTS
    assert "namespaces" in names(examination, hold=False) and FIRST_WALL.keys() <= names(examination, hold=True)
    [namespaces] = [protection for protection in examination.protections if protection.name == "namespaces"]
    assert namespaces.why == "it shares: network, shared memory, host name, processes, files"
    [seen] = [protection for protection in examination.protections if protection.name == "names"]
    assert seen.why.startswith("submissions that cooperate can talk: See that a process exists.")


@pytest.mark.parametrize("calls", ["landlock_create_ruleset", "seccomp,prctl"])
def test_grading_does_not_start_where_the_kernel_cannot_confine(tmp_path: Path, calls: str) -> None:
    """The doctor says so, with the reason."""
    examination, points = found(surroundings.python_without(calls, "-c", EXAMINED_AND_GRADED), tmp_path)
    assert not examination.grading and points is None
    assert examination.error


def test_the_command_prints_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """With a verdict in its last line; the exit status is 0 if grading will start, and --json says the same."""
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) < 50 and "Grading will start" in shown.splitlines()[-2]
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["grading"] is True


def test_student_code_that_stays_root_is_called_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line of its own above the verdict: as where root grades with a Python that lies in root's private home."""
    monkeypatch.setattr(Sandboxed, "user", 0)
    assert main(["doctor"]) == 0
    _, sign, verdict = capsys.readouterr().out.partition("WARNING")
    assert sign and "student code does not run as root" in verdict
    assert "install Python where all users can read it" in " ".join(verdict.split()) and "Grading will start" in verdict


def test_a_hole_is_shown_with_what_got_through() -> None:
    """And grading does not start."""
    hole = Protection("network", "student code has no network", True, False, "got through: Connect.", "report this")
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(summary(Examination(False, "student code got through the confinement", [hole])))
    shown = console.export_text()
    assert "FAILS" in shown and "got through: Connect.: report this" in shown
    assert "Grading will not start: student code got through" in shown
