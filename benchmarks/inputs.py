"""Holds the inputs of benchmarks/model.py: measurements, assumptions, and the costs of each part of a class run.

Sample, Sending, watching (benchmarks/costs.py) + Assumptions --> Costs (benchmarks/simulation.py)
"""

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.costs import CALLS, TOGETHER, Sample, Sending, sample, sending, watching
from benchmarks.simulation import Costs
from grader.classroom.class_run import Threads
from grader.commands.cluster.dask_graders import DaskGraders


@dataclass(frozen=True)
class Assumptions:
    """Values that cannot be measured on one machine, in seconds, bytes a second and fractions.

    `bandwidth` and `latency` belong to the link of driver and scheduler, `round_trip` and `commit` to a PostgreSQL on
    another machine, `failures` is the share of attempts in which a worker is lost.
    """

    bandwidth: float = 125e6
    latency: float = 0.0005
    round_trip: float = 0.0005
    commit: float = 0.003
    failures: float = 0.001


@dataclass(frozen=True)
class Inputs:
    """The measurements of this run; `watching` is in seconds for each submission under way."""

    sample: Sample
    sending: Sending
    watching: float

    @classmethod
    def measured(cls, folder: Path) -> "Inputs":
        """Measure with the ungraded class of a course folder."""
        found = sample(folder)
        return cls(found, sending(round(mean(found.task_bytes)), round(mean(found.reply_bytes))), watching())

    def on_cluster(self, assumed: Assumptions, *, postgres: bool = False) -> Costs:
        """Return the costs of a class run on a cluster, where each part has a core of its own.

        Args:
            assumed: what was not measured.
            postgres: whether the gradebook is on another machine, and not a file of the driver's.
        """
        found, driver = self.sample, self.sending.driver
        transaction, row = found.transaction()
        statements, more = found.statements()
        return Costs(
            tuple(grading + pages for grading, pages in zip(found.grading, found.pages, strict=True)),
            driver_start=found.driver_start,
            worker_start=found.driver_start + found.worker_start,  # it loads what a driver loads, too
            read=mean(found.read) + driver / 2,
            write=mean(found.check) + mean(found.files) + driver / 2,
            transaction=transaction
            + (statements * assumed.round_trip + assumed.commit if postgres else found.commit()),
            row=row + (more * assumed.round_trip if postgres else 0.0),
            watch=self.watching,
            batch_wait=DaskGraders.batch_wait,
            schedule=self.sending.scheduler,
            task_bytes=mean(found.task_bytes),
            reply_bytes=mean(found.reply_bytes),
            source_bytes=found.source_bytes,
            bandwidth=assumed.bandwidth,
            latency=assumed.latency,
            failures=assumed.failures,
        )

    def on_this_machine(self, workers: int, cores: int) -> dict[str, Costs]:
        """Return the costs of class runs whose parts share the cores, by the options of their command.

        In threads, the driver makes the pages. The scheduler of a local cluster is a part of the driver's process.
        """
        found, cluster = self.sample, self.on_cluster(Assumptions(latency=0.0, failures=0.0))
        plain = replace(
            cluster,
            service=tuple(found.grading),
            worker_start=found.worker_start / workers,  # they share one fork server
            read=mean(found.read),
            write=mean(found.pages) + mean(found.files),
            batch_wait=Threads.batch_wait,
        )
        cluster = replace(cluster, read=cluster.read + cluster.schedule / 2, write=cluster.write + cluster.schedule / 2)
        here: dict[str, Any] = {
            "schedule": 0.0,
            "task_bytes": 0.0,
            "reply_bytes": 0.0,
            "source_bytes": 0.0,
            "cores": cores,
        }
        return {f"--jobs={workers}": replace(plain, **here), f"--scheduler=local:{workers}": replace(cluster, **here)}

    def table(self, assumed: Assumptions) -> list[str]:
        """Return the lines of a table of all inputs, with their values and origins."""
        found, grading = self.sample, sorted(self.sample.grading)
        transaction, row = found.transaction()
        statements, more = found.statements()
        calls = f"{CALLS} calls by dask.distributed that do nothing, of the same sizes"
        megabytes = f"{mean(found.task_bytes) / 1e6:.2f} MB, {mean(found.reply_bytes) / 1e6:.2f} MB"
        start = found.driver_start + found.worker_start
        rows = [
            ("grading", f"{1e3 * mean(grading):.0f} ms ({1e3 * grading[0]:.0f} to {1e3 * grading[-1]:.0f})",
             f"`grade_submission` of {len(grading)} students; each submission draws one of them"),
            ("autograded notebooks and pages", _ms(mean(found.pages)), "`PageMaker` for the same, encoded"),
            ("reading a submission", _ms(mean(found.read)), "`read_submission` for the same, encoded"),
            ("checking a reply", _ms(mean(found.check)), "`Reply.checked` for the same, decoded"),
            ("writing a student's files", _ms(mean(found.files)), "`ResultWriter.write` without its transaction"),
            ("a transaction of SQLite", f"{_ms(transaction)} + {_ms(row)} a student",
             f"{len(found.transactions)} of them, of 1 or {TOGETHER} students"),
            ("its wait for the disk", _ms(found.commit()), "the least of these: others wait for a processor, too"),
            ("its statements", f"{statements:.0f} + {more:.1f} a student", "counted in the same"),
            ("watching over what is under way", f"{1e6 * self.watching:.1f} µs",
             "`wait` for futures, for each of them and each group of results"),
            ("a call, in the driver", _ms(self.sending.driver), calls),
            ("a call, in the scheduler", _ms(self.sending.scheduler), calls),
            ("task, reply", megabytes, "as encoded for the same students"),
            ("assignment, once for each worker", f"{found.source_bytes / 1e6:.2f} MB", "`AssignmentBundle.packed`"),
            ("start-up of the driver", f"{found.driver_start:.1f} s", "a fresh process, until it can grade"),
            ("start-up of a worker", f"{start:.1f} s", "the same, its fork server with torch included"),
            ("bandwidth", f"{8 * assumed.bandwidth / 1e9:g} Gbit/s", "*assumed*: driver and scheduler share a link"),
            ("latency between machines", _ms(assumed.latency), "*assumed*"),
            ("PostgreSQL: round trip, commit", f"{_ms(assumed.round_trip)}, {_ms(assumed.commit)}", "*assumed*"),
            ("attempts in which a worker is lost", f"{100 * assumed.failures:g} %", "*assumed*; three attempts"),
        ]  # fmt: skip
        return [
            "The inputs, in processor seconds where nothing waits:", "",
            "| input | value | from |", "|---|--:|---|", *(f"| {' | '.join(each)} |" for each in rows), "",
        ]  # fmt: skip


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"
