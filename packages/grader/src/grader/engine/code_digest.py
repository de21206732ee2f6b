"""Hashes the code on which scores depend, apart from the notebooks."""

import hashlib
import importlib.util
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grader.errors import GraderError

LIBRARIES = ("torch", "numpy", "safetensors", "msgspec", "ipython", "matplotlib", "matplotlib-inline", "nbgrader")
"""Distributions that run, transport or display what student code and tests compute."""
KERNEL = "grader_kernel"
ENGINE = ("grader.engine", "grader.errors", "grader.files", "grader.text")
"""Packages and modules of the grader that can change a score, a verdict or a sentence of a test."""
_PREFIXES = tuple(f"{name}." for name in ENGINE)


@cache
def engine_digest(helper_packages: tuple[str, ...] = ()) -> str:
    """Return a digest of the modules of the engine and of helper packages, and of the versions of LIBRARIES.

    Commands and pages do not count: a different page is no reason to grade students again.

    Args:
        helper_packages: names of the packages that notebooks import.
    """
    own = {path: name for path, name in module_files("grader").items() if f"{name}.".startswith(_PREFIXES)}
    return _digest(own, helper_packages)


@cache
def grader_digest(helper_packages: tuple[str, ...] = ()) -> str:
    """Return a digest of all modules of the grader and of helper packages, and of the versions of LIBRARIES.

    Args:
        helper_packages: names of the packages that notebooks import.
    """
    return _digest(module_files("grader"), helper_packages)


def _digest(own: dict[Path, str], helper_packages: tuple[str, ...]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):  # torch, where no course uses it
            digest.update(f"{library} {version(library)} ".encode())
    for files in (own, *map(module_files, with_kernel(helper_packages))):
        for path, name in files.items():
            digest.update(f"{name} ".encode() + path.read_bytes())
    return digest.hexdigest()


def with_kernel(helper_packages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the helper packages and `grader_kernel`, which the notebooks of every course may import."""
    return tuple(dict.fromkeys((KERNEL, *helper_packages)))


def package_paths(package: str) -> list[Path]:
    """Return the folders of a package, or the file of a top-level module, without importing it.

    Raises:
        GraderError: there is no such package.
    """
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except ValueError:  # __main__ has no spec
        spec = None
    if spec is None:
        raise GraderError(
            f"c.Grader.helper_packages names packages that notebooks import, and no package is called {package!r}: "
            "install it, or correct the name"
        )
    if spec.submodule_search_locations is not None:
        return [Path(folder).absolute() for folder in spec.submodule_search_locations]
    return [Path(spec.origin).absolute()] if spec.has_location and spec.origin else []


def module_files(package: str) -> dict[Path, str]:
    """Return the import name of each module of a package by its file; raise what `package_paths` raises."""
    files = {}
    for path in package_paths(package):
        if path.is_file():
            files[path] = package
            continue
        for file in sorted(path.rglob("*.py")):
            parts = (package, *file.relative_to(path).with_suffix("").parts)
            files[file] = ".".join(parts).removesuffix(".__init__")
    return files
