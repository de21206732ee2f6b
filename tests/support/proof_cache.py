"""Keeps the results of proofs between runs, each under a digest of all that it depends on.

    inputs --sha256--> key --in .cache/proofs?--> result
                        \\--no--> compute --its tests passed--> .cache/proofs

A score is a function of the grader, the source, the misconceptions and the submission; the outputs of a notebook are
one of the notebook, the helper package and the libraries. Tests look at a result from the cache as at any other.
A pytest plug-in: fixture `proof_cache`, options --no-proof-cache and --proof-cache.
"""

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from grader.engine.code_digest import engine_digest, module_files
from tests.support.paths import REPOSITORY

T = TypeVar("T")

FOLDER = REPOSITORY / ".cache" / "proofs"
PACKAGES = ("grader", "grader_kernel", "course")
DAYS_UNUSED = 30
"""After so many days without use an entry is removed."""


@cache
def environment_digest() -> str:
    """Return a digest of what results depend on besides this repository: Python, all libraries, kernel, processor."""
    import torch  # slow to load, and a process that only distributes tests needs no digest

    libraries = sorted(f"{each.metadata['Name']} {each.version}" for each in distributions())
    machine = (platform.platform(), platform.machine(), torch.backends.cpu.get_cpu_capability())
    return digest_of(sys.version, *machine, *libraries)


@cache
def course_digest() -> str:
    """Return a digest of the package that notebooks import, and of the environment."""
    modules = {name: path.read_text() for path, name in module_files("course").items()}
    return digest_of(environment_digest(), modules)


@cache
def grader_digest() -> str:
    """Return a digest of the grader, of the package that notebooks import, and of the environment."""
    return digest_of(environment_digest(), engine_digest(("course",)))


def digest_of(*parts: object) -> str:
    """Return a digest that differs if any part does; all but bytes count as their JSON."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else msgspec.json.encode(part)
        digest.update(f"{type(part).__name__} {len(data)} ".encode() + data)
    return digest.hexdigest()


def files_of(folder: Path) -> dict[str, str]:
    """Return a digest of each file in a folder, as a part for `digest_of`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


class ProofCache:
    """Results by key, in memory and in a folder.

    A result is written once a test that asked for it has passed. If a test fails, the results that it asked for are
    removed, so the next run computes them again.

    Args:
        folder: where results are kept; several processes may share it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reused = 0
        """Results that came from the folder."""
        self.computed = 0
        """Results that were computed."""
        self._results: dict[str, Any] = {}
        self._unwritten: dict[str, Any] = {}
        self._asked: set[str] = set()
        self._distrusted: set[str] = set()
        self._code = _code_state()

    def result(
        self, key: str, kind: type[T], compute: Callable[[], T], is_repeatable: Callable[[T], bool] = lambda _: True
    ) -> T:
        """Return the result of a proof.

        Args:
            key: a digest of all that the result depends on, and of what it is.
            kind: the type of the result, which JSON can hold.
            compute: computes the result.
            is_repeatable: whether a result follows from the key alone, and not from the load of the machine too.
        """
        self._asked.add(key)
        if key not in self._results:
            stored = self.stored(key, kind)
            if stored is not None:
                self.reused += 1
                self._results[key] = stored
            else:
                self.computed += 1
                computed = self._results[key] = compute()
                if is_repeatable(computed):
                    self._unwritten[key] = computed
        result: T = self._results[key]
        return result

    def stored(self, key: str, kind: type[T]) -> T | None:
        """Return the result that the folder holds, or None."""
        path = self._path(key)
        try:
            checksum, _, data = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if checksum != _checksum(data):
            return None
        os.utime(path)  # so that `remove_unused` leaves it
        return msgspec.json.decode(data, type=kind)

    def store(self, key: str, result: object) -> None:
        """Write a result to the folder. Another process that reads sees all of it or nothing."""
        # If you edit the grader while tests run, the old code's results must not be kept under the new code's digest.
        if self._code != _code_state():
            return
        path, data = self._path(key), msgspec.json.encode(result)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(_checksum(data) + b"\n" + data)
        Path(file.name).replace(path)

    def begin(self) -> None:
        """Begin a test."""
        self._asked = set()

    def keep(self) -> None:
        """Write what the test that ends asked for: it passed."""
        for key in self._asked & self._unwritten.keys() - self._distrusted:
            self.store(key, self._unwritten.pop(key))

    def forget(self) -> None:
        """Remove what the test that ends asked for: it failed."""
        self._distrusted |= self._asked
        for key in self._asked:
            self._path(key).unlink(missing_ok=True)

    def remove_unused(self) -> None:
        """Remove entries that no run has used for a long time."""
        oldest = time.time() - DAYS_UNUSED * 24 * 3600
        for path in self.folder.glob("*/*"):
            with suppress(OSError):  # another process may have removed it
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _code_state() -> list[tuple[str, int, int]]:
    files = [path for package in PACKAGES for path in module_files(package)]
    return [(str(path), status.st_mtime_ns, status.st_size) for path in files if (status := path.stat())]


CACHE = pytest.StashKey[ProofCache]()
TEMPORARY = pytest.StashKey[Path]()
COUNTS = pytest.StashKey[list[tuple[int, int]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the cache."""
    group = parser.getgroup("proofs", "cache of proofs")
    group.addoption("--no-proof-cache", action="store_true", help="compute every result, and keep none")
    group.addoption("--proof-cache", type=Path, default=FOLDER, metavar="FOLDER", help="folder of the cache")


def pytest_configure(config: pytest.Config) -> None:
    """Open the cache; without one, results go into a folder that the workers of this run share and no other run."""
    config.stash[COUNTS] = []
    workerinput = getattr(config, "workerinput", None)
    if workerinput is not None:
        folder = Path(workerinput["proof_cache"])
    elif config.option.no_proof_cache:
        folder = config.stash[TEMPORARY] = Path(tempfile.mkdtemp(prefix="proofs-"))
    else:
        folder = config.option.proof_cache
    config.stash[CACHE] = ProofCache(folder)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the folder."""
    node.workerinput["proof_cache"] = str(node.config.stash[CACHE].folder)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect a worker's counts."""
    if "proof_cache" in getattr(node, "workeroutput", {}):
        node.config.stash[COUNTS].append(node.workeroutput["proof_cache"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts over, and clear old entries away."""
    kept = session.config.stash[CACHE]
    counts = (kept.reused, kept.computed)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["proof_cache"] = counts
        return
    session.config.stash[COUNTS].append(counts)
    kept.remove_unused()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how much came from the cache."""
    reused, computed = (sum(numbers) for numbers in zip(*config.stash[COUNTS], strict=True))
    if reused or computed:
        terminalreporter.write_line(f"proofs: {computed} results computed, {reused} from {config.stash[CACHE].folder}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of a run without cache."""
    if TEMPORARY in config.stash:
        shutil.rmtree(config.stash[TEMPORARY], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a test."""
    item.config.stash[CACHE].begin()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the results of a test that passes, and forget those of one that fails."""
    report = yield
    if report.failed:
        item.config.stash[CACHE].forget()
    elif call.when == "call":
        item.config.stash[CACHE].keep()
    return report


@pytest.fixture(scope="session")
def proof_cache(pytestconfig: pytest.Config) -> ProofCache:
    """The cache of this run."""
    return pytestconfig.stash[CACHE]
