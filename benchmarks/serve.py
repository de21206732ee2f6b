"""Measures `grader serve` under load: `python -m benchmarks.serve`.

1. Students hand in at a steady rate, and then many at once. A class run grades the notebooks of that burst, too.
2. The service is killed at random moments under the steady load. Its scores are then compared with a class run's.
"""

import argparse
import asyncio
import random
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.classes import ASSIGNMENT, PROGRAMS, REPOSITORY, environment, make
from benchmarks.load import Arrival, Delivery, Service, Students
from grader.commands.serve.store import DATABASE

HEADING = "## Grading on arrival"
SEED = 0
MEMORY_SECONDS = 5
END_SECONDS = 2
"""Seconds that the processes of a service may take to notice its end."""
SCORES = """
    SELECT submission.student_id, notebook.name, base_cell.name, grade.auto_score
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook AS submitted ON submitted.id = grade.notebook_id
    JOIN submitted_assignment AS submission ON submission.id = submitted.assignment_id
    JOIN notebook ON notebook.id = submitted.notebook_id
    ORDER BY 1, 2, 3, 4
"""


@dataclass(frozen=True)
class Load:
    """The students, who submit at a rate (notebooks a second) for some seconds and then many at once; and the kills."""

    students: int = 400
    rate: float = 5.0
    seconds: float = 120.0
    burst: int = 200
    kills: int = 20

    def arrivals(self) -> tuple[list[Arrival], list[Arrival]]:
        """Return those at a steady rate, at random times as independent students have; and those of the burst.

        The last of the burst is a spare one, with which the service is warmed up.
        """
        moments, work = random.Random(SEED), self._work()
        steady, now = [], moments.expovariate(self.rate)
        while now < self.seconds:
            steady.append(Arrival(now, *next(work)))
            now += moments.expovariate(self.rate)
        return steady, [Arrival(0.0, *next(work)) for _ in range(self.burst + 1)]

    def moments(self) -> list[float]:
        """Return the seconds after which the service is killed."""
        moments = random.Random(SEED)
        return sorted(moments.uniform(0, self.seconds) for _ in range(self.kills))

    def names(self) -> list[str]:
        """Return the names of the students."""
        return [f"student{number:05}" for number in range(self.students)]

    def _work(self) -> Iterator[tuple[str, str]]:
        """Yield each notebook of each student once: first one notebook of every student, then the second ones."""
        notebooks = sorted(path.stem for path in (REPOSITORY / "source" / ASSIGNMENT).glob("*.ipynb"))
        for turn in range(len(notebooks)):
            for number, student in enumerate(self.names(), turn):
                yield student, notebooks[number % len(notebooks)]


@dataclass(frozen=True)
class Measured:
    """The measurements under load.

    `memory` has the MiB of the service's own process and of all its processes, every few seconds. A class run takes
    `class_seconds` for the notebooks of the burst, and `start_seconds` for one of them.
    """

    steady: list[Delivery]
    burst: list[Delivery]
    memory: list[tuple[float, float]]
    refused: int
    class_seconds: float
    start_seconds: float


@dataclass(frozen=True)
class Killed:
    """The state after the kills: counts, and the longest wait for a report in seconds."""

    kills: int
    accepted: int
    lost: int
    twice: int
    other_scores: int
    left: int
    slowest: float


def measure(root: Path, load: Load) -> Measured:
    """Measure the steady load, the burst and a class run on the notebooks of the burst.

    Args:
        root: a folder with `class`, the submissions of all students.
        load: the load.
    """
    submitted, (steady, burst) = root / "class" / "submitted", load.arrivals()
    memory: list[tuple[float, float]] = []

    async def watch(service: Service) -> None:
        while True:
            memory.append(await asyncio.to_thread(service.memory))
            await asyncio.sleep(MEMORY_SECONDS)

    async def under_load(service: Service) -> tuple[list[Delivery], list[Delivery], int]:
        students = Students(service, submitted)
        await students.warm(burst[-1])
        watching = asyncio.create_task(watch(service))
        deliveries = await students.deliver(steady), await students.deliver(burst[:-1])
        watching.cancel()
        return *deliveries, students.refused

    with Service(make(root / "served", 0), load.names()) as service:
        steadily, at_once, refused = asyncio.run(under_load(service))
    class_seconds = class_run(root / "burst", submitted, burst[:-1])
    start_seconds = class_run(root / "one", submitted, burst[-1:])
    return Measured(steadily, at_once, memory, refused, class_seconds, start_seconds)


def kill(root: Path, load: Load) -> Killed:
    """Kill the service at random moments under the steady load, and compare its scores with a class run's.

    Args:
        root: a folder with `class`, the submissions of all students.
        load: the load.
    """
    submitted, (arrivals, (spare, *_)) = root / "class" / "submitted", load.arrivals()

    async def under_load(service: Service) -> list[Delivery]:
        async def kills() -> None:
            begin = time.monotonic()
            for moment in load.moments():
                await asyncio.sleep(begin + moment - time.monotonic())
                service.kill()
                service.start()

        students = Students(service, submitted)
        await students.warm(spare)
        deliveries, _ = await asyncio.gather(students.deliver(arrivals), kills())
        return deliveries

    with Service(make(root / "killed", 0), load.names()) as service:
        deliveries = asyncio.run(under_load(service))
    time.sleep(END_SECONDS)
    left = len(service.processes())
    class_run(root / "reference", submitted, [*arrivals, spare])
    graded, theirs = graded_hand_ins(service.folder), Counter(scores(root / "reference"))
    return Killed(
        kills=load.kills,
        accepted=len(deliveries),
        lost=sum(graded[each.arrival.student, each.arrival.notebook] == 0 for each in deliveries),
        twice=sum(number - 1 for number in graded.values()),
        other_scores=((ours := Counter(scores(service.folder))) - theirs).total() + (theirs - ours).total(),
        left=left,
        slowest=max(each.latency for each in deliveries),
    )


def class_run(folder: Path, submitted: Path, arrivals: list[Arrival]) -> float:
    """Grade notebooks with `grader grade` in a new course folder; return the seconds of the command."""
    make(folder, 0)
    for each in arrivals:
        place = folder / "submitted" / each.student / ASSIGNMENT
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(submitted / each.student / ASSIGNMENT / f"{each.notebook}.ipynb", place)
    begin = time.perf_counter()
    command = [str(PROGRAMS / "grader"), "grade", ASSIGNMENT]
    subprocess.run(command, cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def graded_hand_ins(folder: Path) -> Counter[tuple[str, str]]:
    """Return the number of graded submissions of each student's notebooks."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        return Counter(database.execute("SELECT student, notebook FROM hand_in WHERE state = 'graded'").fetchall())


def scores(folder: Path) -> list[tuple[str, str, str, float | None]]:
    """Return all points in a gradebook, by student, notebook and cell."""
    with closing(sqlite3.connect(folder / "gradebook.db")) as database:
        return database.execute(SCORES).fetchall()


def table(load: Load | None = None) -> str:
    """Return the part of the results, as Markdown."""
    load = load or Load()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make(root / "class", load.students)
        measured, killed = measure(root, load), kill(root, load)
    lines = [
        HEADING, "",
        f"`python -m benchmarks.serve`: {load.students} students hand in notebooks of {ASSIGNMENT}, three of which "
        f"make a submission. At first {len(measured.steady)} arrive at random times, {load.rate:g} a second on "
        f"average; then {load.burst} arrive at once. The clients share the cores with the service.", "",
        "| | measured | target |", "|---|--:|--:|",
        *(f"| {name} | {value} | {target} |" for name, value, target in (*speed(measured), *safety(killed))), "",
        "The throughput of the class run leaves out its start-up, which the service has behind it: the seconds of a "
        "class of one are subtracted. Memory is that of the service's own process, and in parentheses that of all its "
        "processes, with shared memory counted once.", "",
    ]  # fmt: skip
    return "\n".join(lines)


def speed(measured: Measured) -> list[tuple[str, str, str]]:
    """Return the rows of the load: title, value, target."""
    latencies = [each.latency for each in measured.steady]
    begin = min(each.due for each in measured.burst)
    accepted = max(each.accepted for each in measured.burst) - begin
    graded = max(each.reported for each in measured.burst) - begin
    number, memory = len(measured.burst), measured.memory
    served = number / graded
    in_class = (number - 1) / (measured.class_seconds - measured.start_seconds)
    moments = [("start", memory[0]), ("half", memory[len(memory) // 2]), ("end", memory[-1])]
    return [
        ("from arrival to report, median", f"{statistics.median(latencies):.2f} s", "< 0.7 s"),
        ("from arrival to report, 99 % of them", f"{statistics.quantiles(latencies, n=100)[-1]:.2f} s", "< 2 s"),
        ("requests refused", f"{measured.refused}", "0"),
        (f"until the last of {number} at once is accepted", f"{accepted:.1f} s", "< 5 s"),
        (f"until the last of {number} at once is graded", f"{graded:.1f} s", ""),
        ("notebooks of the burst graded a second", f"{served:.1f}", ""),
        ("the same notebooks a second by `grader grade`", f"{in_class:.1f}", ""),
        ("the service's throughput, of the class run's", f"{100 * served / in_class:.0f} %", "≥ 85 %"),
        *((f"memory at the {name} of the load", f"{own:.0f} MiB ({every:.0f})", "") for name, (own, every) in moments),
    ]


def safety(killed: Killed) -> list[tuple[str, str, str]]:
    """Return the rows of the kills: title, count, target."""
    return [
        ("`kill -9` of the service under the steady load, at random moments", f"{killed.kills}", ""),
        ("hand-ins accepted meanwhile", f"{killed.accepted}", ""),
        ("of these lost", f"{killed.lost}", "0"),
        ("graded twice into the gradebook", f"{killed.twice}", "0"),
        ("cells with other points than after a class run", f"{killed.other_scores}", "0"),
        ("the longest wait for a report", f"{killed.slowest:.0f} s", ""),
        ("processes that outlive the service", f"{killed.left}", "0"),
    ]


def main() -> None:
    """Measure with the numbers of the command line, and print the table."""
    load = Load()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    for name, value in vars(load).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    print(table(Load(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
