"""Gives nbval a kernel that need not load its libraries. A pytest plug-in."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from nbval.plugin import IPyNbFile  # type: ignore[import-untyped]

from tests.support.warm import warm_kernels


class WarmNotebook(IPyNbFile):
    """A notebook that nbval runs in a warm kernel."""

    def setup(self) -> None:
        """Start the kernel."""
        with warm_kernels():
            super().setup()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Put such notebooks in the place of nbval's. `make kernels` starts each kernel from nothing."""
    collectors = yield
    if "ATEN_CPU_CAPABILITY" in os.environ:
        return collectors
    return [
        WarmNotebook.from_parent(each.parent, path=file_path) if isinstance(each, IPyNbFile) else each
        for each in collectors
    ]
