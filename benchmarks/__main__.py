"""python -m benchmarks: five tables on this machine, written to benchmarks/RESULTS.md.

1. The same class graded by stock nbgrader, by nbgrader with the plug-in, and by `python -m course grade`, in turn.
2. Classes of growing size: cost a submission and memory of the driver.
3. The limit: the same cells in one warm process a core; and with a fork of it for each notebook.
4. A test's call of student code, across the boundary and in one process.
5. The attacks that beat stock nbgrader, and what they do to `python -m course grade`.

Every measured class run is a process of its own, whole: start-up, registration, grading, gradebook and feedback.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import attacks, calls
from benchmarks.classes import ASSIGNMENT, PROGRAMS, STUDENTS, environment, make

RESULTS = Path(__file__).parent / "RESULTS.md"
SIZES = [50, 200, 1000, 5000]
START = 1
"""Submissions of a class that is little more than start-up."""
PARTS = ("costs", "calls", "attacks")
"""Of the results, in their order: what a class costs, what a call costs, what the grader withstands."""


@dataclass(frozen=True)
class Run:
    """One measured command: wall seconds for `size` submissions and the largest resident process, in MiB."""

    name: str
    size: int
    seconds: float
    peak_mb: float

    @property
    def each(self) -> float:
        return self.seconds / self.size


def measure(name: str, folder: Path, size: int, *commands: list[str]) -> Run:
    """Runs `commands` one after the other in `folder`, in a child of ours that reports what its own children took."""
    probe = (
        "import json, resource, subprocess, sys\n"
        "for command in json.loads(sys.argv[1]): subprocess.run(command, stdout=-3, stderr=-3)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", probe, json.dumps(commands)],
        cwd=folder, env=environment(), check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Run(name, size, time.perf_counter() - begin, int(done.stdout) / 1024)


def nbgrader(command: str) -> list[str]:
    return [str(PROGRAMS / "nbgrader"), command, ASSIGNMENT]


def course_grade(jobs: int) -> list[str]:
    return [sys.executable, "-m", "course", "grade", ASSIGNMENT, "--jobs", str(jobs)]


def limit(folder: Path, jobs: int, *options: str) -> float:
    """Seconds a submission and core of the same cells in one warm process a core, all cores at once."""
    students = sorted(folder.glob(f"submitted/*/{ASSIGNMENT}"))
    source = folder / "source" / ASSIGNMENT
    shares = [students[number::jobs] for number in range(jobs)]
    command = [sys.executable, "-m", "benchmarks.one_process", *options, str(source)]
    running = [
        subprocess.Popen([*command, *map(str, share)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for share in shares
    ]
    return sum(float(process.communicate()[0]) for process in running) / len(students)


def main() -> None:
    """Measures and writes the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--class-size", type=int, default=200, help="submissions for `course grade` (default: 200)")
    parser.add_argument("--stock-size", type=int, default=7, help="submissions for the slow ones (default: 7)")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="classes of the second table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=PARTS, help="the others stay as they are in RESULTS.md")
    chosen = parser.parse_args()
    parts = known_parts(RESULTS.read_text())
    for name in [chosen.only] if chosen.only else PARTS:
        parts[name] = {"costs": lambda: costs(chosen), "calls": calls.table, "attacks": attacks.table}[name]()
    text = "\n\n".join(parts[name].strip() for name in PARTS).strip() + "\n"
    RESULTS.write_text(text)
    print(text)


def known_parts(text: str) -> dict[str, str]:
    """The parts of the results of an earlier run, by name."""
    rest, *attacked = text.partition(attacks.HEADING)
    rest, *called = rest.partition(calls.HEADING)
    return {"costs": rest, "calls": "".join(called), "attacks": "".join(attacked)}


def costs(chosen: argparse.Namespace) -> str:
    """The three tables of costs as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        return tables(Path(name), chosen)


def tables(root: Path, chosen: argparse.Namespace) -> str:
    few = chosen.stock_size
    stock = make(root / "stock", few, stock=True)
    graders = [
        measure(
            "stock nbgrader", stock, few, *map(nbgrader, ("generate_assignment", "autograde", "generate_feedback"))
        ),
    ]
    plugged = make(root / "plugged", few)
    graders.append(
        measure("nbgrader with the plug-in", plugged, few,
                *map(nbgrader, ("generate_assignment", "autograde", "generate_feedback")))
    )  # fmt: skip
    whole = make(root / "course", chosen.class_size)
    graders.append(measure("python -m course grade", whole, chosen.class_size, course_grade(chosen.jobs)))
    bounds = limit(whole, chosen.jobs), limit(whole, chosen.jobs, "--forked")
    strange = make(root / "strangers", chosen.class_size, strangers=True)
    strangers = measure("strangers", strange, chosen.class_size, course_grade(chosen.jobs))
    sizes = [START, *chosen.sizes] if chosen.sizes else []
    growth = [measure(f"{size}", make(root / "grown", size), size, course_grade(chosen.jobs)) for size in sizes]
    return "\n".join(
        [*heading(chosen), *comparison(graders), *growing(growth), *limits(graders[-1], strangers, bounds, chosen.jobs)]
    )


def heading(chosen: argparse.Namespace) -> list[str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    return [
        "# What grading costs, and what it withstands", "",
        f"`python -m benchmarks` on {machine}, {versions}, {chosen.jobs} jobs. A submission is the three notebooks of "
        f"{ASSIGNMENT}. Times hold everything from the start of the command to the last feedback page.", "",
    ]  # fmt: skip


def comparison(graders: list[Run]) -> list[str]:
    rows = [
        f"| {run.name} | {run.size} | {run.seconds:.1f} | {run.each:.2f} | {graders[0].each / run.each:.1f} | "
        f"{run.peak_mb:.0f} |"
        for run in graders
    ]
    head = [
        "| grader | submissions | seconds | seconds each | times stock | largest process, MiB |",
        "|---|" + "--:|" * 5,
    ]
    return ["## The same class, in turn", "", *head, *rows, ""]


def growing(runs: list[Run]) -> list[str]:
    if not runs:
        return []
    start, *classes = runs
    further = [(run.seconds - start.seconds) / (run.size - start.size) for run in classes]
    rows = [
        f"| {run.size} | {run.seconds:.1f} | {run.each:.3f} | {more:.3f} | {more / further[0]:.2f} | "
        f"{run.peak_mb:.0f} |"
        for run, more in zip(classes, further, strict=True)
    ]
    head = [
        "| submissions | seconds | seconds each | each further one | times that of the first class | "
        "largest process, MiB |",
        "|---|" + "--:|" * 5,
    ]
    text = (
        f"A class of {start.size} takes {start.seconds:.1f} seconds, most of it start-up. Each further one costs what "
        "a class takes beyond that, by its size."
    )
    return ["## A class that grows", "", text, "", *head, *rows, ""]


def limits(run: Run, strangers: Run, bounds: tuple[float, float], jobs: int) -> list[str]:
    one, forked = bounds
    rows = {
        "the same cells in one warm process a core, nothing else": one,
        "the same, each notebook in a fork of that process": forked,
        "`python -m course grade`, everything": run.each * jobs,
        "the same, where no student answers a test like another": strangers.each * jobs,
    }
    return [
        "## The limit", "",
        "| | core seconds a submission | times the limit | times the fork |", "|---|--:|--:|--:|",
        *(f"| {what} | {each:.2f} | {each / one:.2f} | {each / forked:.2f} |" for what, each in rows.items()), "",
        "One process lets a student's code change what the next one meets; a fork is the least that keeps them apart. "
        f"All texts differ, but {len(STUDENTS)} kinds of answers come again and again, and none of them is judged "
        "twice (docs/grader.md). The last row is a class in which no answer comes twice.", "",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
