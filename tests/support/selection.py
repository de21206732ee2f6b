"""Chooses tests: leaves out slow modules, what passed before, and proofs that are not drawn.

A pytest plug-in. `-m "not slow"` does not even import modules whose tests are all slow. --go-on leaves out what passed
before the last run of the same files was stopped. --share N takes the proofs of one exercise or notebook in N, drawn by
the commit, and of those that changed in the day before it.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.draw import changed, drawn
from tests.support.paths import REPOSITORY
from tests.support.proof_cache import digest_of

WHOLE_MODULE = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)
"""What stands in a module all of whose tests are slow."""
FILE = pytest.StashKey[Path]()
PASSED = pytest.StashKey[frozenset[str]]()
"""The tests that passed before."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("selection", "a choice of tests")
    group.addoption("--go-on", action="store_true", help="leave out what passed before the last run was stopped")
    group.addoption(
        "--share", type=int, default=1, metavar="N", help="proofs of one in N exercises, and of changed ones"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a module unread whose tests are all slow, if none of them is wanted."""
    if config.option.markexpr == "not slow" and collection_path.suffix == ".py":
        return WHOLE_MODULE.search(collection_path.read_text()) is not None or None
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Find out what passed before."""
    if hasattr(config, "workerinput"):
        config.stash[PASSED] = frozenset(config.workerinput["passed"])
    elif config.option.go_on:
        config.stash[FILE] = file = REPOSITORY / ".cache" / "passed" / _state(config)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        config.stash[PASSED] = frozenset(file.read_text().split("\n")[:-1])
    else:
        config.stash[PASSED] = frozenset()


def _state(config: pytest.Config) -> str:
    """Return a digest of all files of the repository and of what is wanted of the tests."""
    commands = (["rev-parse", "HEAD"], ["diff", "HEAD", "--binary"], ["status", "--porcelain"])
    git = [subprocess.run(["git", *each], cwd=REPOSITORY, capture_output=True, check=False).stdout for each in commands]
    option = config.option
    return digest_of(sys.version, option.markexpr, option.keyword, option.share, sorted(config.args), *git)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker what passed before."""
    node.workerinput["passed"] = sorted(node.config.stash[PASSED])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before, and proofs that are not drawn."""
    passed = config.stash[PASSED]
    # The cells of a notebook need each other: they are left out together or not at all.
    unfinished = {item.path for item in items if item.path.suffix == ".ipynb" and item.nodeid not in passed}
    left_out = {item for item in items if item.nodeid in passed and item.path not in unfinished}
    if config.option.share > 1:
        about = {item: _about(item) for item in items if item.nodeid.startswith(("tests/proofs/", "tests/source/"))}
        chosen = {"", *drawn({*about.values()}, config.option.share), *changed()}
        left_out |= {item for item, name in about.items() if name not in chosen}
        # It looks at the results of the proofs of all exercises, and would compute those that are not drawn.
        left_out |= {
            item for item in about if item.get_closest_marker("xdist_group") == pytest.mark.xdist_group("last").mark
        }
    if left_out:
        config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))
        items[:] = [item for item in items if item not in left_out]


def _about(item: pytest.Item) -> str:
    """Return the exercise or the notebook that a proof is about, or "" if it is about all or is quick."""
    arguments = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    match arguments if item.get_closest_marker("slow") else {}:
        case {"exercise": str(exercise)} | {"case": (str(exercise), *_)}:
            return exercise
        case {"misconception": misconception}:
            return str(misconception.exercise)
        case {"style": Path() as style}:
            return style.parent.name
        case {"path": Path() as path}:
            return f"{path.parent.name}/{path.name}"
    return ""


class Passed:
    """Notes what passes, in the process that collects all reports."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed = set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test when it has ended."""
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid not in self._failed:
            with self._file.open("a") as file:
                file.write(report.nodeid + "\n")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to note what passes."""
    if file := session.config.stash.get(FILE, None):
        session.config.pluginmanager.register(Passed(file), "passed")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Begin from the start next time, unless this run was stopped."""
    if (file := session.config.stash.get(FILE, None)) and exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
    ):
        file.unlink()
