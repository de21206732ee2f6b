"""Measures a class on a cluster of this machine: `python -m benchmarks --only cluster`.

the same class, in turn --grader grade, grader grade --scheduler local:2--> seconds
a large class --grader grade --scheduler tcp://…, whose scheduler and workers are other processes--> the driver alone
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.classes import ASSIGNMENT, PROGRAMS, environment, make

HEADING = "## A class on a cluster"
ROUNDS = 2
SIZE = 300
"""Submissions of the class that is graded both ways."""
LARGE = 1000
START = 1
"""Submissions of a class that costs the driver little more than its start-up."""
WORKERS = 2
LOOK_SECONDS = 1.0
START_SECONDS = 60


@dataclass
class Driver:
    """Measurements of the driver's own process: its processor seconds, and its resident MiB every second."""

    processor_seconds: float = 0.0
    memory: list[float] = field(default_factory=list)

    def memory_after(self, share: float) -> float:
        """Return the resident MiB after a fraction of the run, as the median of ten measurements."""
        place = max(0, round(share * len(self.memory)) - 10)
        return statistics.median(self.memory[place : place + 10])


def table() -> str:
    """Return the part of the results, as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        ways = {"`grader grade`": f"--jobs={WORKERS}", f"`--scheduler local:{WORKERS}`": f"--scheduler=local:{WORKERS}"}
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        start = {way: graded(make(root / "one", START), option) for way, option in ways.items()}
        for _ in range(ROUNDS):
            for way, option in ways.items():
                seconds[way].append(graded(make(root / "class", SIZE), option))
        with scheduler_and_workers(root) as address:
            first = driven(make(root / "one", START), address)
            driver = driven(make(root / "large", LARGE), address)
    own = 1000 * (driver.processor_seconds - first.processor_seconds) / (LARGE - START)
    rows = [
        f"| {way} | {SIZE} | {', '.join(f'{each:.1f}' for each in seconds[way])} | {start[way]:.1f} | "
        f"{(statistics.mean(seconds[way]) - start[way]) / (SIZE - START):.3f} |"
        for way in ways
    ]
    return "\n".join([
        HEADING, "",
        "`python -m benchmarks --only cluster`. The workers share the cores with the driver.", "",
        "| | submissions | seconds, in turn | a class of one | each further one |", "|---|" + "--:|" * 4, *rows, "",
        f"{LARGE} submissions. Scheduler and workers have processes of their own, so that the driver's is alone:", "",
        "| the driver's own process | measured | target |", "|---|--:|--:|",
        f"| processor time for each submission beyond the first | {own:.1f} ms | ≤ 15 ms |",
        *(f"| memory after {share} of the run | {driver.memory_after(part):.0f} MiB | |"
          for share, part in (("a quarter", 0.25), ("a half", 0.5), ("three quarters", 0.75), ("all", 1.0))),
        "",
    ])  # fmt: skip


def graded(folder: Path, option: str) -> float:
    """Return the seconds that grading the class of a course folder takes, from start to end of the command."""
    begin = time.perf_counter()
    subprocess.run(command(option), cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def driven(folder: Path, address: str) -> Driver:
    """Grade a class on a cluster and watch the driver."""
    found = Driver()
    with psutil.Popen(
        command(f"--scheduler={address}"), cwd=folder, env=environment(), stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            if process.status() != psutil.STATUS_ZOMBIE:
                times = process.cpu_times()
                found.processor_seconds = times.user + times.system
                found.memory.append(process.memory_info().rss / 2**20)
            time.sleep(LOOK_SECONDS if found.processor_seconds > 1 else LOOK_SECONDS / 20)
    return found


def command(option: str) -> list[str]:
    """Return a command that grades the class."""
    return [str(PROGRAMS / "grader"), "grade", ASSIGNMENT, option]


@contextmanager
def scheduler_and_workers(root: Path) -> Iterator[str]:
    """Start a scheduler and workers for a `with` block; yield the address."""
    file, processes = root / "scheduler.json", list[subprocess.Popen[bytes]]()

    def start(program: str, *options: str) -> None:
        arguments = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options, "--no-dashboard"]
        quiet = subprocess.DEVNULL
        processes.append(subprocess.Popen(arguments, cwd=root, env=environment(), stdout=quiet, stderr=quiet))

    try:
        start("scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}")
        end = time.monotonic() + START_SECONDS
        while not file.exists():
            if time.monotonic() > end:
                raise TimeoutError("the scheduler did not start")
            time.sleep(0.05)
        address: str = json.loads(file.read_text())["address"]
        for _ in range(WORKERS):
            start("worker", address, "--nthreads=1", "--no-nanny", f"--local-directory={root}")
        yield address
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()
