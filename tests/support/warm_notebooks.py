"""Lets nbval pass a notebook whose cells all passed before, without a kernel; the others get a warm kernel.

A pytest plug-in. The outcome of a notebook's cells is a function of the notebook, the package that it imports, the
libraries, what a warm kernel has loaded and nbval's options; `proof_cache` keeps the names of the cells that passed,
under a digest of these.
"""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile  # type: ignore[import-untyped]

from tests.support.proof_cache import CACHE, course_digest, digest_of
from tests.support.warm import kernel_digest, warm_kernels

KEY = pytest.StashKey[str]()
PASSED = pytest.StashKey[list[str]]()


class WarmNotebook(IPyNbFile):
    """A notebook that nbval runs, in a kernel that need not load its libraries."""

    def setup(self) -> None:
        """Start the kernel."""
        with warm_kernels():
            super().setup()


class ProvenNotebook(IPyNbFile):
    """A notebook whose cells all passed before."""

    def setup(self) -> None:
        """Start no kernel."""
        self.config.stash[CACHE].reused += 1

    def collect(self) -> Iterator[pytest.Item]:
        """Return the cells under their usual names."""
        for each in super().collect():
            yield ProvenCell.from_parent(
                self, name=each.name, cell_num=each.cell_num, cell=each.cell, options=each.options
            )


class ProvenCell(IPyNbCell):
    """A cell that passed before, as did all others of its notebook."""

    def runtest(self) -> None:
        """Pass."""


def key_of(notebook: Path, config: pytest.Config) -> str:
    """Return a digest of all that the outcome of a notebook's cells depends on."""
    sanitizer = config.option.nbval_sanitize_with
    rules = Path(sanitizer).read_bytes() if sanitizer else b""
    options = {name: repr(value) for name, value in vars(config.option).items() if name.startswith("nbval")}
    return digest_of("nbval", course_digest(), kernel_digest(), notebook.read_bytes(), rules, options)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Put proven notebooks in the place of those that nbval would run, if the cache has them."""
    collectors = yield
    for number, collector in enumerate(collectors):
        if isinstance(collector, IPyNbFile):
            key = key_of(file_path, collector.config)
            is_proven = collector.config.stash[CACHE].stored(key, list[str]) is not None
            kind = ProvenNotebook if is_proven else WarmNotebook
            if is_proven or "ATEN_CPU_CAPABILITY" not in os.environ:  # `make kernels` starts each kernel from nothing
                collectors[number] = kind.from_parent(collector.parent, path=file_path)
            collectors[number].stash[KEY] = key
            collectors[number].stash[PASSED] = []
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep that a notebook is proven when the last of all its cells passes."""
    report = yield
    notebook: Any = item.parent
    if isinstance(item, IPyNbCell) and not isinstance(item, ProvenCell) and call.when == "call" and report.passed:
        passed = notebook.stash[PASSED]
        passed.append(item.name)
        cells = [cell for cell in notebook.nb.cells if cell.cell_type == "code"]
        # A notebook that was edited while it ran is another one.
        if len(passed) == len(cells) and notebook.stash[KEY] == key_of(notebook.path, item.config):
            item.config.stash[CACHE].computed += 1
            item.config.stash[CACHE].store(notebook.stash[KEY], passed)
    return report
