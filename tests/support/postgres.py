"""Runs a PostgreSQL server of its own in a temporary folder, reached by a socket in it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USER = "grader"


def programs() -> Path | None:
    """Return the folder of initdb and pg_ctl, which Debian keeps out of the PATH; None if they are not installed."""
    found = shutil.which("pg_ctl", path=os.pathsep.join([os.environ["PATH"], *map(str, reversed(DEBIAN))]))
    return None if found is None else Path(found).resolve().parent


class Postgres:
    """A server that runs."""

    def __init__(self, folder: Path, owner: str | None) -> None:
        self._folder, self._owner = folder, owner

    def control(self, *command: str) -> None:
        """Run pg_ctl and wait until it is done."""
        self.run("pg_ctl", "--wait", f"--pgdata={self._folder / 'data'}", f"--log={self._folder / 'log'}", *command)

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of PostgreSQL, which refuses to work for root."""
        bin_folder = programs()
        assert bin_folder is not None
        subprocess.run(
            [bin_folder / program, *arguments], cwd=self._folder, user=self._owner, group=self._owner, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, extra_groups=[] if self._owner else None,
        )  # fmt: skip

    def new_database(self, name: str) -> str:
        """Create a database; return its URL for SQLAlchemy."""
        with psycopg.connect(f"host={self._folder} user={USER} dbname=postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql://{USER}@/{name}?host={self._folder}"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Yield a server that ends with the block."""
    # The path of a socket may have 107 bytes, so this is not a folder of pytest.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder, owner = Path(name), _owner()
        if owner is not None:
            shutil.chown(folder, owner)
        server = Postgres(folder, owner)
        server.run("initdb", "--no-sync", "--auth=trust", f"--username={USER}", f"--pgdata={folder / 'data'}")
        server.control("start", f"--options=-k {folder} -c listen_addresses= -c fsync=off")
        try:
            yield server
        finally:
            server.control("stop", "--mode=immediate")


def _owner() -> str | None:
    """An account without privileges to run the server as; None for this one."""
    if os.geteuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "daemon"
