"""Prepares the workers of a cluster before a class run: `grader worker-setup tcp://HOST:8786`."""

from collections.abc import Iterator

from traitlets.config import Config

from grader.commands.cluster import worker_task
from grader.commands.cluster.connect import Connection, why_unusable
from grader.commands.cluster.dask_graders import READY_SECONDS
from grader.commands.cluster.messages import Requirements, encoded
from grader.commands.cluster.settings import Cluster


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
    requirements = encoded(Requirements.of(helper_packages, sandbox=sandbox)), helper_packages
    connection = Connection(address, Cluster(config).reconnect_seconds)
    try:
        calls = {
            each: connection.submit(each, worker_task.prepare, *requirements) for each in sorted(connection.threads())
        }
        reasons = {}
        for each, call in calls.items():
            reasons[each] = why_unusable(call, READY_SECONDS)
            yield each, reasons[each]
        # A worker that cannot load a plug-in does not start at all, so all must have the package.
        if not any(reasons.values()):
            connection.client.register_plugin(worker_task.GraderPlugin(*requirements))
    finally:
        connection.close()
