"""Predicts a class run of 100,000 submissions on 1 to 1,000 workers: `python -m benchmarks --only model`.

    Inputs (measured now) + Assumptions --> Costs --simulate, for each number of workers--> table

The model is checked against class runs on this machine, in threads and on a local cluster.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import combinations
from pathlib import Path

import psutil

from benchmarks.classes import ASSIGNMENT, PROGRAMS, environment, make
from benchmarks.costs import TOGETHER, processor_seconds
from benchmarks.inputs import Assumptions, Inputs
from benchmarks.simulation import Costs, Outcome, simulate

HEADING = "## A hundred thousand submissions"
SIZE = 100_000
WORKERS = (1, 2, 10, 50, 100, 200, 500, 1000)
ALONE = 16
"""Students of the sample that are written one by one; the same number is then written together."""
CHECK_SIZE = 56
CHECK_WORKERS = 2
LOOK_SECONDS = 0.2
"""Seconds between two measurements of a command."""
SENSITIVITY_SIZE = 10_000
PARTS = ("workers", "driver", "scheduler", "network", "database")
ADVICE = {
    "workers": "Add workers: the time falls in proportion.",
    "driver": "Divide the class among several class runs (`--student`), each with a driver and a scheduler on a "
    "machine of its own and a share of the workers, and all with one gradebook in PostgreSQL, because SQLite has one "
    "writer at a time.",
    "scheduler": "The same: each class run has a scheduler of its own.",
    "network": "Take a faster link for the machine of driver and scheduler, for it carries every page; then divide.",
    "database": "Bring PostgreSQL nearer to the driver (a round trip for each statement) and onto a disk that syncs "
    "faster; then divide, because commits of several class runs overlap.",
}


CHANGES: dict[str, Callable[[Costs], Costs]] = {
    "grading": lambda costs: replace(costs, service=tuple(each / 2 for each in costs.service)),
    "sending and reading in the driver": lambda costs: replace(costs, read=costs.read / 2),
    "receiving and writing in the driver": lambda costs: replace(costs, write=costs.write / 2),
    "the transaction": lambda costs: replace(costs, transaction=costs.transaction / 2, row=costs.row / 2),
    "watching over what is under way": lambda costs: replace(costs, watch=costs.watch / 2),
    "the scheduler": lambda costs: replace(costs, schedule=costs.schedule / 2),
    "the bytes": lambda costs: replace(costs, bandwidth=costs.bandwidth * 2),
    "latency": lambda costs: replace(costs, latency=costs.latency / 2),
    "failures": lambda costs: replace(costs, failures=costs.failures / 2),
}
"""The ways to halve each input."""


def table() -> str:
    """Return the part of the results, as Markdown."""
    assumed = Assumptions()
    with tempfile.TemporaryDirectory() as name:
        measured = Inputs.measured(make(Path(name, "sample"), 1 + ALONE + TOGETHER, strangers=True))
        check = checked(measured, Path(name, "check"))
    costs = measured.on_cluster(assumed)
    outcomes = {workers: simulate(costs, SIZE, workers) for workers in WORKERS}
    return "\n".join(
        [
            HEADING, "",
            f"A discrete-event simulation of {SIZE:,} submissions of {ASSIGNMENT} on a cluster, with a gradebook in "
            "SQLite. Nothing so large was run: the costs of each part were, just before, and the model is checked "
            "below. No two students answer alike, so no cache helps. A part at 100 % limits the run; the driver's "
            "share holds the database's, for which it waits.", "",
            *predicted(outcomes), *advised(outcomes), *relieved(measured, assumed), *sensitive(costs),
            "### Is the model right?", "", *check, *measured.table(assumed),
        ]
    )  # fmt: skip


def duration(seconds: float) -> str:
    """Return a time as hours and minutes, or minutes and seconds if it is less than one hour."""
    minutes = round(seconds / 60)
    return (
        f"{minutes // 60} h {minutes % 60:02} min"
        if minutes >= 60
        else f"{int(seconds) // 60} min {seconds % 60:02.0f} s"
    )


def predicted(outcomes: dict[int, Outcome]) -> list[str]:
    """Return the table of the predictions, by the number of workers."""
    rows = [
        f"| {workers} | {duration(outcome.seconds)} | {SIZE / outcome.seconds:.1f} | "
        + " | ".join(f"{100 * outcome.busy[part]:.0f}" for part in PARTS)
        + f" | {outcome.limit} |"
        for workers, outcome in outcomes.items()
    ]
    head = f"| workers | time | submissions a second | {' | '.join(f'{part}, %' for part in PARTS)} | limit |"
    return [head, "|--:|" + "--:|" * (2 + len(PARTS)) + "---|", *rows, ""]


def advised(outcomes: dict[int, Outcome]) -> list[str]:
    """Return the remedy for each limit, and where the limit was met."""
    lines = []
    for part in PARTS:
        met = [workers for workers, outcome in outcomes.items() if outcome.limit == part]
        where = f"the limit with {met[0]} to {met[-1]} workers" if met else "not the limit here"
        lines.append(f"- **{part}** ({where}). {ADVICE[part]}")
    return [*lines, ""]


def relieved(measured: Inputs, assumed: Assumptions) -> list[str]:
    """Return the table of the same cluster with other parts, with the most workers."""
    fast = replace(assumed, bandwidth=10 * assumed.bandwidth)
    postgres = measured.on_cluster(assumed, postgres=True)
    ways = {
        "as above": (measured.on_cluster(assumed), 1),
        "PostgreSQL on another machine": (postgres, 1),
        "a link ten times as fast": (measured.on_cluster(fast), 1),
        "4 class runs, PostgreSQL": (postgres, 4),
        "16 class runs, PostgreSQL": (postgres, 16),
    }
    rows = []
    for name, (costs, runs) in ways.items():
        outcome = simulate(costs, SIZE // runs, WORKERS[-1] // runs)
        rows.append(f"| {name} | {duration(outcome.seconds)} | {outcome.limit} |")
    return [
        f"With {WORKERS[-1]} workers and other parts. Class runs side by side share nothing but the database, whose "
        "commits overlap:", "",
        "| | time | limit |", "|---|--:|---|", *rows, "",
    ]  # fmt: skip


def sensitive(costs: Costs) -> list[str]:
    """Return the input, and the two, that move the limit most at half their cost: with the most workers, all started.

    Args:
        costs: all inputs.
    """
    started = replace(costs, driver_start=0.0, worker_start=0.0)
    before = simulate(started, SENSITIVITY_SIZE, WORKERS[-1]).seconds
    sentences = []
    for count, words in ((1, "one input"), (2, "two inputs")):
        gains = {}
        for names in combinations(CHANGES, count):
            outcome = simulate(reduce(_halved, names, started), SENSITIVITY_SIZE, WORKERS[-1])
            gains[names] = before / outcome.seconds, outcome.limit
        names, (gain, limit) = max(gains.items(), key=lambda item: item[1])
        sentences.append(
            f"With {words} at half of the cost, the limit moves most for *{'* and *'.join(names)}*: "
            f"{gain:.2f} times as many submissions a second, limited by the {limit}."
        )
    return [" ".join(sentences), ""]


def _halved(costs: Costs, name: str) -> Costs:
    return CHANGES[name](costs)


def checked(measured: Inputs, folder: Path) -> list[str]:
    """Return predictions beside measurements.

    Args:
        measured: the inputs of the model.
        folder: where classes are made, which are graded by commands.
    """
    cores, rows = len(os.sched_getaffinity(0)), []
    for options, costs in measured.on_this_machine(CHECK_WORKERS, cores).items():
        said = simulate(costs, CHECK_SIZE, CHECK_WORKERS).seconds
        seconds, others = graded(make(folder, CHECK_SIZE, strangers=True), options)
        alone = seconds * max(cores - others, 0.0) / cores
        rows.append(
            f"| `grader grade {options}` | {seconds:.1f} | {others:.2f} | {alone:.1f} | {said:.1f} | "
            f"{100 * (said / alone - 1):+.0f} |"
        )
    return [
        f"{CHECK_SIZE} submissions, {CHECK_WORKERS} workers and {cores} cores, which driver and workers share. Where "
        "other programs used cores meanwhile, the time without them is estimated from their share.", "",
        "| | seconds | cores used by others | seconds without them | the model says | error, % |",
        "|---|" + "--:|" * 5, *rows, "",
    ]  # fmt: skip


def graded(folder: Path, options: str) -> tuple[float, float]:
    """Grade the class of a course folder; return the seconds, and the cores that other programs used meanwhile."""
    command = [str(PROGRAMS / "grader"), "grade", ASSIGNMENT, options]
    busy, begin, own = _busy(), time.perf_counter(), 0.0
    with psutil.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            own = max(own, processor_seconds(process))  # less at the end, when its processes are gone
            time.sleep(LOOK_SECONDS)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode} in {folder}")
    return seconds, max(_busy() - busy - own, 0.0) / seconds


def _busy() -> float:
    """Return the seconds for which the processors of this machine have worked since it started."""
    times = psutil.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    print(table())
