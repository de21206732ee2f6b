"""Measures grading and proves tests on this machine: `python -m benchmarks` writes the tables of benchmarks/RESULTS.md.

1. The same class, graded by stock nbgrader, by nbgrader with the plug-in, and by `grader grade`, in turn.
2. Classes of growing size: cost of a submission, and memory of the parent.
3. The limit: the same cells in one warm process for each core, and with a fork of it for each notebook.
4. A test's call of student code, across the boundary and in one process.
5. The attacks that beat stock nbgrader, and their effect on `grader grade`.
6. The kill matrix: mistakes and mutants that the tests find, and points that trivial answers earn.
7. Names of causes: right, wrong and missing ones.
8. Points that a single mistake costs in its own exercise and in others.
9. `grader serve` under load, and what it has after many kills.
10. `grader check`, again and again: with and without the process that stays warm.
11. The start of a course that does not use torch, beside one that does.
12. The report on a class whose truth is known: what it finds, and how long it takes.
13. `grader mark`: how long the page of a question with 300 answers takes, and a mark.
14. A class on a cluster of this machine: its seconds, and what the driver itself costs.
15. A model of 100,000 submissions on 1 to 1,000 workers, from costs that are measured now.

Every measured class run is a whole process of its own: start-up, registration, grading, gradebook and feedback.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import torch

from benchmarks import (
    attacks,
    calls,
    check,
    class_report,
    cluster,
    diagnosis,
    mark,
    matrix,
    model,
    once,
    serve,
    without_torch,
)
from benchmarks.classes import ASSIGNMENT, PROGRAMS, STUDENTS, environment, make

RESULTS = Path(__file__).parent / "RESULTS.md"
SIZES = [50, 200, 1000, 5000]
START = 1
"""Submissions of a class that takes hardly longer than start-up."""
MODULES = {
    "calls": calls,
    "attacks": attacks,
    "matrix": matrix,
    "diagnosis": diagnosis,
    "once": once,
    "serve": serve,
    "check": check,
    "without_torch": without_torch,
    "class_report": class_report,
    "mark": mark,
    "cluster": cluster,
    "model": model,
}
"""The parts of the results in order, after the cost of a class."""
PARTS = ("costs", *MODULES)


@dataclass(frozen=True)
class Run:
    """One measured command: wall seconds for `size` submissions and the largest resident process, in MiB."""

    name: str
    size: int
    seconds: float
    peak_mb: float

    @property
    def each(self) -> float:
        """Seconds for each submission."""
        return self.seconds / self.size


def measure(name: str, folder: Path, size: int, *commands: list[str]) -> Run:
    """Run commands one after the other, in a child process that reports the memory of its own children.

    Args:
        name: the name of the run in the table.
        folder: the course folder, in which they run.
        size: the number of submissions in it.
        commands: the commands, each as a list of arguments.
    """
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
    """Return a command of nbgrader for the assignment."""
    return [str(PROGRAMS / "nbgrader"), command, ASSIGNMENT]


def grader_grade(jobs: int) -> list[str]:
    """Return the command `grader grade` for the assignment."""
    return [str(PROGRAMS / "grader"), "grade", ASSIGNMENT, "--jobs", str(jobs)]


def limit(folder: Path, jobs: int, *options: str) -> float:
    """Return the core seconds of a submission whose cells run in one warm process for each core, all cores at once.

    Args:
        folder: the course folder.
        jobs: the number of cores.
        options: options of `one_process`.
    """
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
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--class-size", type=int, default=200, help="submissions for `grader grade` (default: 200)")
    parser.add_argument("--stock-size", type=int, default=7, help="submissions for the slow ones (default: 7)")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="classes of the second table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=PARTS, help="the others stay as they are in RESULTS.md")
    chosen = parser.parse_args()
    parts = known_parts(RESULTS.read_text())
    for name in [chosen.only] if chosen.only else PARTS:
        parts[name] = dated(MODULES[name].table() if name in MODULES else costs(chosen))
    text = "\n\n".join(filter(None, (parts[name].strip() for name in PARTS))) + "\n"
    RESULTS.write_text(text)
    print(text)


def dated(text: str) -> str:
    """Return a part of the results with the day of the measurement below each heading."""
    return re.sub(r"^(## .+)$", rf"\1\n\n*Measured on {date.today()}.*", text, flags=re.MULTILINE)


def known_parts(text: str) -> dict[str, str]:
    """Return the parts of the results of an earlier run, by name."""
    parts = {}
    for name, module in reversed(MODULES.items()):
        text, *part = text.partition(module.HEADING)
        parts[name] = "".join(part)
    return {"costs": text, **parts}


def costs(chosen: argparse.Namespace) -> str:
    """Return the three tables of costs as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        return tables(Path(name), chosen)


def tables(root: Path, chosen: argparse.Namespace) -> str:
    """Return the three tables of costs.

    Args:
        root: an empty folder for the classes.
        chosen: the options of the command.
    """
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
    graders.append(measure("grader grade", whole, chosen.class_size, grader_grade(chosen.jobs)))
    bounds = limit(whole, chosen.jobs), limit(whole, chosen.jobs, "--forked")
    strange = make(root / "strangers", chosen.class_size, strangers=True)
    strangers = measure("strangers", strange, chosen.class_size, grader_grade(chosen.jobs))
    sizes = [START, *chosen.sizes] if chosen.sizes else []
    growth = [measure(f"{size}", make(root / "grown", size), size, grader_grade(chosen.jobs)) for size in sizes]
    return "\n".join(
        [*heading(chosen), *comparison(graders), *growing(growth), *limits(graders[-1], strangers, bounds, chosen.jobs)]
    )


def heading(chosen: argparse.Namespace) -> list[str]:
    """Return the title of the results and the machine that they come from."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    return [
        "# Speed of grading, and attacks on it", "",
        f"`python -m benchmarks` on {machine}, {versions}, {chosen.jobs} jobs. A submission is the three notebooks of "
        f"{ASSIGNMENT}. Times are wall-clock, from the start of the command to the last feedback page.", "",
    ]  # fmt: skip


def comparison(graders: list[Run]) -> list[str]:
    """Return the first table: the same class by different graders."""
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
    """Return the second table: classes of growing size, the first of which is hardly more than start-up."""
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
        f"A class of {start.size} takes {start.seconds:.1f} seconds, most of it start-up. The cost of each further "
        "submission is the time that a class takes beyond that, divided by their number."
    )
    return ["## A class that grows", "", text, "", *head, *rows, ""]


def limits(run: Run, strangers: Run, bounds: tuple[float, float], jobs: int) -> list[str]:
    """Return the third table: the grader beside the fastest possible one.

    Args:
        run: a class in which answers recur.
        strangers: a class in which no answer recurs.
        bounds: core seconds a submission in one process, and with a fork for each notebook.
        jobs: the number of cores.
    """
    one, forked = bounds
    rows = {
        "the same cells in one warm process for each core, nothing else": one,
        "the same, each notebook in a fork of that process": forked,
        "`grader grade`, everything": run.each * jobs,
        "the same, in a class in which no two students answer a test alike": strangers.each * jobs,
    }
    return [
        "## The limit", "",
        "| | core seconds a submission | times the limit | times the fork |", "|---|--:|--:|--:|",
        *(f"| {name} | {each:.2f} | {each / one:.2f} | {each / forked:.2f} |" for name, each in rows.items()), "",
        "In one process, a student's code can change what the next one finds; forking is the minimum needed to isolate "
        f"students from each other. All texts differ, but the answers are of {len(STUDENTS)} kinds, and the grader "
        "judges none of them twice (packages/grader/docs/grader.md). In the class of the last row no answer recurs.",
        "",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
