"""Another account of the machine cannot use the workers of `local:N`."""

import subprocess
from pathlib import Path

import pytest

from grader.commands.cluster.connect import Connection
from tests.commands.cluster.dask_cluster import dask_cluster
from tests.support import surroundings
from tests.support.waiting import HANGS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not surroundings.can_be_plain_user(), reason="this user cannot become another one"),
]

ATTACK = """
import logging, os, sys
from distributed import Client, Security
logging.disable()
print("attacker", os.getuid())
for address in sys.argv[1:]:
    place = address.partition("://")[2]
    for scheme, security in (("tcp", None), ("tls", Security.temporary())):
        try:
            with Client(f"{scheme}://{place}", security=security, timeout=5) as client:
                print("code runs as", client.submit(os.getuid).result(timeout=30))
        except Exception:
            print("refused", file=sys.stderr)
"""
"""Connects to addresses without a certificate and with one of its own, and runs code there."""


def attacked(folder: Path, *addresses: str) -> list[str]:
    """Return what another user gets from a cluster: a line for the user, and one for each port that obeys."""
    folder.mkdir()
    command = surroundings.python_as_plain_user(folder, "-c", ATTACK, *addresses)
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, cwd="/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("code runs") + done.stderr.count("refused") == 2 * len(addresses)
    return done.stdout.splitlines()


def test_another_user_runs_no_code_through_the_ports_of_local_n(tmp_path: Path) -> None:
    """Neither through the scheduler's nor through a worker's, although every user can connect to 127.0.0.1.

    The same attack runs code as root where an instructor has started a cluster without TLS.
    """
    with dask_cluster(tmp_path / "cluster") as cluster:
        assert attacked(tmp_path / "open", cluster.address) == ["attacker 65534", "code runs as 0"]
    connection = Connection("local:1", HANGS)
    try:
        about_all = connection.client.scheduler_info()
        ((worker, about),) = about_all["workers"].items()
        ports = [about_all["address"], worker, about["nanny"]]
        assert attacked(tmp_path / "closed", *ports) == ["attacker 65534"]
    finally:
        connection.close()
