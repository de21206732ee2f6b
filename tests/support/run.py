"""Runs pytest so that it leaves no process and no file behind, however it ends.

    make --> this process --> guard --> pytest --> workers, fork servers, kernels, browsers, ...
                               ^-- adopts whatever has lost its parent, and kills what is left at the end

If this process or pytest is ended by any signal, the guard ends all the others. Processes and files that are left after
a run that ended by itself fail the run, by name.

    python -m tests.support.run [arguments of pytest]
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

REPOSITORY = Path(__file__).resolve().parents[2]
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE = 20
"""Seconds in which a process that has lost its parent may end by itself: it stops when it reads the end of a pipe."""
ENDING = (signal.SIGTERM, signal.SIGHUP)


def prctl(option: int, value: int) -> None:
    """Set a property of this process."""
    ctypes.CDLL(None).prctl(option, value)


def children() -> Iterator[int]:
    """Yield the processes that this process must wait for."""
    for task in Path("/proc/self/task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def end_all() -> list[str]:
    """Kill all descendants, and return the command lines of those that were killed while they ran.

    The descendants of a process become children of this one when that process ends.
    """
    ended = []
    while True:
        for child in children():
            status = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
            if status != "Z":
                line = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
                ended.append(f"{child}: {line[:200]}")
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return ended


def wait_for_all(seconds: float) -> None:
    """Wait until no descendant is left, but no longer than `seconds`."""
    end = time.monotonic() + seconds
    with suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)


def guard(arguments: list[str]) -> int:
    """Run pytest, end what it leaves, and return its exit status; 1 if all tests passed but a process was left."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches pytest, which ends, and so does this process

    def end(number: int, _: FrameType | None) -> None:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        end_all()
        os._exit(128 + number)

    for each in ENDING:
        signal.signal(each, end)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def before_pytest() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    pytest = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], preexec_fn=before_pytest)
    ended, code = 0, 0
    while ended != pytest.pid:
        ended, code = os.waitpid(-1, 0)  # adopted processes as well: tests wait until theirs are gone
    status = pytest.returncode = os.waitstatus_to_exitcode(code)
    if status < 0:
        end_all()
        return 128 - status
    wait_for_all(GRACE)
    left = end_all()
    for line in left:
        print(f"left by the tests, and ended now: process {line}", file=sys.stderr)
    return status or bool(left)


def files() -> set[str]:
    """Return what git says of files that are not as they were committed."""
    command = ["git", "-C", str(REPOSITORY), "status", "--porcelain", "--untracked-files=all"]
    return set(subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines())


def main(arguments: list[str]) -> int:
    """Run pytest below a guard, and return its exit status; 1 if all tests passed but something was left."""
    before = files()
    child = os.fork()
    if child == 0:
        os._exit(guard(arguments))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for each in ENDING:
        signal.signal(each, lambda number, _: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = sorted(files() - before)
    for line in left:
        print(f"left by the tests: {line}", file=sys.stderr)
    return status if status else int(bool(left))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
