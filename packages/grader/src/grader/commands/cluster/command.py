"""Makes the workers of a cluster ready before a class is there: `grader worker-setup tcp://HOST:8786`."""

from collections.abc import Iterator

from traitlets.config import Config

from grader.commands.cluster import worker
from grader.commands.cluster.connect import Connection, why_unfit
from grader.commands.cluster.crew import READY_SECONDS
from grader.commands.cluster.settings import Cluster
from grader.commands.cluster.wire import Needs, encoded


def set_up(
    address: str, config: Config, helper_packages: tuple[str, ...], *, sandbox: bool
) -> Iterator[tuple[str, str]]:
    """Have all workers load what grading needs, and yield what each says.

    If all of them can grade, those that come later load it when they start.

    Args:
        address: where the scheduler is.
        config: the configuration of the course.
        helper_packages: packages that notebooks import.
        sandbox: whether the kernel must be able to confine student code there.

    Yields:
        The address of a worker, and in words why it cannot grade; '' if it can.

    Raises:
        GraderError: no scheduler answers there.
    """
    needs = encoded(Needs.of(helper_packages, sandbox=sandbox)), helper_packages
    connection = Connection(address, Cluster(config=config).patience)
    try:
        calls = {each: connection.submit(each, worker.fit, *needs) for each in sorted(connection.threads())}
        words = {}
        for each, call in calls.items():
            words[each] = why_unfit(call, READY_SECONDS)
            yield each, words[each]
        # A worker that cannot load a plug-in does not start at all, so all of them must have the package.
        if not any(words.values()):
            connection.client.register_plugin(worker.GraderPlugin(*needs))
    finally:
        connection.close()
