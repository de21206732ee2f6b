"""The command `grader worker-setup`."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from traitlets.config import Config

from grader.classroom.config import helper_packages, load_config
from grader.commands.shared import Command, add_no_sandbox, require_dask


def set_up(
    address: str, config: Config, helper_packages: tuple[str, ...], *, sandbox: bool
) -> Iterator[tuple[str, str]]:
    """Have all workers load the modules for grading, and yield the answer of each.

    If all of them can grade, workers that join later load these modules when they start.

    Args:
        address: the address of the scheduler.
        config: the configuration of the course.
        helper_packages: packages that notebooks import.
        sandbox: True if the workers must be able to confine student code.

    Yields:
        The address of a worker, and why it cannot grade, or ''.

    Raises:
        GraderError: no scheduler answers.
    """
    from grader.commands.cluster import worker_task
    from grader.commands.cluster.connect import Connection, why_unusable
    from grader.commands.cluster.dask_graders import READY_SECONDS, Cluster
    from grader.commands.cluster.messages import Requirements, encoded

    requirements = encoded(Requirements.of(helper_packages, sandbox=sandbox)), helper_packages
    connection = Connection(address, Cluster(config).reconnect_seconds)
    try:
        workers = sorted(connection.threads())
        calls = {worker: connection.submit(worker, worker_task.prepare, *requirements) for worker in workers}
        reasons = []
        for worker, call in calls.items():
            reasons.append(why_unusable(call, READY_SECONDS))
            yield worker, reasons[-1]
        # A worker that cannot load a plug-in does not start at all, so all must have the package.
        if not any(reasons):
            connection.client.register_plugin(worker_task.GraderPlugin(*requirements))
    finally:
        connection.close()


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scheduler", metavar="ADDRESS", help="tcp://HOST:PORT of the scheduler")
    add_no_sandbox(parser, "do not require that they can confine student code")


def _run(parsed: argparse.Namespace) -> int:
    require_dask()
    config, status = load_config(Path.cwd()), 0
    for worker, reason in set_up(parsed.scheduler, config, helper_packages(config), sandbox=not parsed.no_sandbox):
        print(f"{worker}: {reason or 'ready'}", flush=True)
        status |= bool(reason)
    return status


HELP = "prepare the workers of a cluster, or print why they cannot grade"
COMMANDS = (Command("worker-setup", HELP, _options, _run),)
