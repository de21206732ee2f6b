"""Keeps the results of proofs for all tests and workers of one run, each under a digest of what it was computed from.

A pytest plug-in with the fixture `proof_cache`. Tests look at a result from the cache as at any other. Nothing is kept
for the next run.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

T = TypeVar("T")


def digest_of(*parts: object) -> str:
    """Return a digest that differs if any part does; all but bytes count as their JSON."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else msgspec.json.encode(part)
        digest.update(f"{type(part).__name__} {len(data)} ".encode() + data)
    return digest.hexdigest()


class ProofCache:
    """Results by key, in memory and in a folder that the workers of a run share.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._results: dict[str, Any] = {}

    def result(self, key: str, kind: type[T], compute: Callable[[], T]) -> T:
        """Return the result of a proof.

        Args:
            key: a digest of all that the result depends on, and of what it is.
            kind: the type of the result, which JSON can hold.
            compute: computes the result.
        """
        path = self._folder / key
        if key not in self._results and path.exists():
            self._results[key] = msgspec.json.decode(path.read_bytes(), type=kind)
        elif key not in self._results:
            self._results[key] = compute()
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(msgspec.json.encode(self._results[key]))
            Path(file.name).replace(path)  # another worker reads all of it or nothing
        result: T = self._results[key]
        return result


FOLDER = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder, or take that of the process that started this worker."""
    shared = getattr(config, "workerinput", {}).get("proofs")
    config.stash[FOLDER] = Path(shared or tempfile.mkdtemp(prefix="proofs-"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the folder."""
    node.workerinput["proofs"] = str(node.config.stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder at the end of the run."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.fixture(scope="session")
def proof_cache(pytestconfig: pytest.Config) -> ProofCache:
    """The results of this run."""
    return ProofCache(pytestconfig.stash[FOLDER])
