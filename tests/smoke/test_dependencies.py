"""A fresh clone finds all that it imports, whatever an older environment has installed."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions

from tests.support.paths import REPOSITORY

PROVIDERS = packages_distributions()
"""Import name -> the installed distributions that provide it."""
OWN = {"book", "course", "grader", "grader_kernel", "tests", "benchmarks", "examples"}
PINNED = ("requirements.txt", "requirements-book.txt", "requirements-dev.txt", "constraints.txt")
FICTIONAL = {
    *("my_layers", "own", "own_module", "helper", "pack", "mine", "theirs", "deep", "tiny_helpers"),
    *("no_such_package", "no_such_module", "missing_helper", "this_neither", "__main__"),
}
"""Written by a test, missing on purpose, and the helpers of the second course."""


def canonical(name: str) -> str:
    """Return the name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> set[str]:
    """Return the distributions that a fresh environment pins."""
    text = "\n".join((REPOSITORY / name).read_text() for name in PINNED)
    return {canonical(name) for name in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", text, flags=re.MULTILINE)}


def imported(program: str) -> Iterator[str]:
    """Yield the packages that a program imports, and those that programs in its string constants import."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            try:
                inner = ast.parse(node.value)
            except (SyntaxError, ValueError):
                continue
            yield from imported(ast.unparse(inner)) if len(inner.body) > 1 else ()


def test_what_is_imported_is_pinned() -> None:
    """In each program of the repository, and in each that a test starts."""
    files = subprocess.run(["git", "ls-files", "*.py"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    programs = [name for name in files.stdout.split() if not name.startswith(("release/", "autograded/"))]
    pins = pinned()
    needed = {package: name for name in programs for package in imported((REPOSITORY / name).read_text())}
    missing = {
        package: name
        for package, name in needed.items()
        if package not in sys.stdlib_module_names | OWN | FICTIONAL
        and not {canonical(each) for each in PROVIDERS.get(package, [])} & pins
    }
    assert not missing
