"""Names the grader that judges: a digest of all code and libraries, beside the notebooks, that a score depends on."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("torch", "numpy", "safetensors", "ipython", "matplotlib", "matplotlib-inline", "traitlets")
"""Distributions that run, show or carry what student code and tests compute."""


def engine_digest(helper_packages: Sequence[str]) -> str:
    """Return a digest that changes with the grader, with a helper package or with a library.

    Args:
        helper_packages: names of the packages that notebooks import.
    """
    return _digest(tuple(helper_packages))


@cache
def _digest(helper_packages: tuple[str, ...]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)} ".encode())
    for package in (__package__.partition(".")[0], *helper_packages):
        for folder in package_folders(package):
            for path in sorted(folder.rglob("*.py")):
                digest.update(f"{package} {path.relative_to(folder)} ".encode() + path.read_bytes())
    return digest.hexdigest()


def package_folders(package: str) -> Iterator[Path]:
    """Yield the folders of an importable package, without importing it; none where there is no such package."""
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        yield Path(folder).resolve()
