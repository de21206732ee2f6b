"""Measures whether what a notebook says of trained results holds on other machines and with other seeds.

    notebook --each capability, ten seeds--> claim_run --> Row --> tests/claims/NN-NAME/NAME.csv

    python -m tests.support.claims source/03-seq2seq/3-attention-decoder.ipynb

A claim is a comparison that a cell prints ("above 0.9: True"), or an entry of tests/claims/NN-NAME/NAME.toml for
what prose, alt texts and questions say. A margin is the distance from the mean to the limit, in standard deviations.
"""

import argparse
import csv
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from statistics import mean, pstdev

import msgspec

from tests.support.claim_run import Measure
from tests.support.paths import REPOSITORY

FOLDER = REPOSITORY / "tests" / "claims"
CAPABILITIES = ("default", "avx2", "avx512")
LEAST_MARGIN = 3.0
"""So many standard deviations must lie between the mean and the limit."""
SHIFT = 1000
"""What is added to all seeds from one run to the next."""


class Row(msgspec.Struct, frozen=True):
    """What all runs found of a claim.

    Args:
        claim: its text.
        limit: what the number is compared with, if it is a number.
        worst: the number nearest to the limit or furthest beyond it.
        mean: of the numbers.
        spread: their standard deviation.
        margin: from the mean to the limit, in spreads; negative if the mean is beyond it. None without numbers, or if
            all runs agree.
        holds: in how many runs the claim is as in the first.
        runs: how many there were.
    """

    claim: str
    limit: float | None
    worst: float | None
    mean: float | None
    spread: float | None
    margin: float | None
    holds: int
    runs: int

    @property
    def is_robust(self) -> bool:
        """Whether it held in each run, with the margin that is asked for."""
        return self.holds == self.runs and (self.margin is None or self.margin >= LEAST_MARGIN)


@cache
def offered() -> tuple[str, ...]:
    """Return the capabilities that this machine has, the plainest first."""
    script = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    here = {name: run_python(name, "-c", script).strip() for name in CAPABILITIES}
    return tuple(name for name, found in here.items() if found.lower() == name)


def run_python(capability: str, *arguments: str) -> str:
    """Return what a Python process prints in which torch has these kernels.

    Args:
        capability: a value of ATEN_CPU_CAPABILITY, which a process cannot change once it runs.
        arguments: of Python.

    Raises:
        RuntimeError: the process failed; with what it wrote to stderr.
    """
    environment = os.environ | {"ATEN_CPU_CAPABILITY": capability, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=REPOSITORY, env=environment, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{capability} {' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def list_of(notebook: Path) -> Path:
    """Return where the listed claims of a notebook stand; its table stands beside it, as .csv."""
    return FOLDER / notebook.parent.name / f"{notebook.stem}.toml"


def measure(notebook: Path, capabilities: Iterable[str], seeds: int, jobs: int) -> list[Row]:
    """Run a notebook with each capability and each seed, and return its claims.

    Args:
        notebook: a source notebook.
        capabilities: values of ATEN_CPU_CAPABILITY.
        seeds: how many; the first are the notebook's own.
        jobs: how many runs at a time.
    """
    shifts = [str(seed * SHIFT) for seed in range(seeds)]

    def run(capability: str) -> list[list[Measure]]:
        files = (str(notebook.resolve()), str(list_of(notebook)))
        printed = run_python(capability, "-m", "tests.support.claim_run", *files, *shifts)
        return [msgspec.json.decode(line, type=list[Measure]) for line in printed.splitlines()]

    with ThreadPoolExecutor(jobs) as pool:
        runs = [found for several in pool.map(run, capabilities) for found in several]
    return rows(runs)


def rows(runs: list[list[Measure]]) -> list[Row]:
    """Return the table of what several runs found, the first of which says what is true."""
    return [_row(list(measures)) for measures in zip(*runs, strict=True)]


def _row(measures: list[Measure]) -> Row:
    first = measures[0]
    holds = sum(measure.holds == first.holds for measure in measures)
    numbers = [measure.number for measure in measures if measure.number is not None]
    limits = {measure.limit for measure in measures}
    if len(numbers) < len(measures) or len(limits) != 1 or first.limit is None or first.number is None:
        return Row(first.claim, None, None, None, None, None, holds, len(measures))
    side = 1 if (first.number, mean(numbers)) > (first.limit, first.limit) else -1
    worst = min(numbers, key=lambda number: side * number)
    spread = pstdev(numbers)
    margin = side * (mean(numbers) - first.limit) / spread if spread else None
    return Row(first.claim, first.limit, worst, mean(numbers), spread, margin, holds, len(measures))


def write(table: list[Row], path: Path) -> None:
    """Write a table; numbers have four digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row.__struct_fields__)
        writer.writerows(_cells(row) for row in table)


def _cells(row: Row) -> list[str]:
    values = msgspec.structs.astuple(row)
    return ["" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]


def read(path: Path) -> list[Row]:
    """Return a table that was written."""
    with path.open(newline="") as file:
        found = [{name: value or None for name, value in line.items()} for line in csv.DictReader(file)]
    return msgspec.convert(found, list[Row], strict=False)


def main() -> int:
    """Measure the notebooks that the command line names, and write their tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("notebook", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (default: 10)")
    parser.add_argument("--capability", nargs="+", help="values of ATEN_CPU_CAPABILITY (default: all of this machine)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="runs at a time")
    parser.add_argument("--dry-run", action="store_true", help="print the table and write nothing")
    options = parser.parse_args()
    fragile = 0
    for notebook in options.notebook:
        table = measure(notebook, options.capability or offered(), options.seeds, options.jobs)
        for row in table:
            print(f"{'ok  ' if row.is_robust else 'WEAK'} {' | '.join(_cells(row))}")
        if not options.dry_run:
            write(table, list_of(notebook).with_suffix(".csv"))
        fragile += sum(not row.is_robust for row in table)
    return int(fragile > 0)


if __name__ == "__main__":
    sys.exit(main())
