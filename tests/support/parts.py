"""Runs tests part by part, says what each part came to, and shows the first failure at once.

A pytest plug-in, with two options. --parts prints a line for each part, and no dots. --budget fails the run if a test
without the mark `slow` takes too long, and names it.
"""

import os
import time
from collections import Counter
from collections.abc import Generator
from typing import Any, NamedTuple

import pytest

from tests.support.selection import PASSED


class Part(NamedTuple):
    """A part of the tests; they run in this order."""

    name: str
    where: tuple[str, ...]
    """How the ids of its tests begin."""
    budget: float
    """The most processor seconds that a test without the mark `slow` may take, with processes that it waits for.

    The first test of a worker that needs nbgrader imports it, which takes two seconds.
    """
    seconds: float
    """About how long all its tests take in one process, the slow ones included."""


PARTS = (
    Part("notebooks", ("source/",), 60, 180),
    Part("exercises", ("tests/smoke/test_exercises.py",), 20, 90),
    Part("commands", ("tests/smoke/test_commands.py", "tests/smoke/test_dependencies.py"), 30, 90),
    Part("attacks", ("tests/smoke/test_attacks.py",), 60, 20),
    Part("pages", ("tests/smoke/test_pages.py",), 60, 60),
    Part("proofs", ("tests/proofs/", "tests/source/"), 5, 1150),
    Part("units", ("",), 5, 2500),
)
PROCESSOR = "processor seconds"


def part_of(nodeid: str) -> Part:
    """Return the part that a test belongs to."""
    return next(part for part in PARTS if nodeid.startswith(part.where))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("parts", "tests by parts")
    group.addoption("--parts", action="store_true", help="print a line for each part, and no dots")
    group.addoption("--budget", action="store_true", help="fail if a test takes too long that is not marked slow")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to report, in the process that collects all reports."""
    if not hasattr(config, "workerinput") and config.option.parts:
        config.pluginmanager.register(Progress(config), "progress")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Note the processor time of a test."""
    if not item.config.option.budget or item.get_closest_marker("slow"):
        return (yield)
    before = processor_seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append((PROCESSOR, processor_seconds() - before))


def processor_seconds() -> float:
    """Return the processor time of this process and of the processes that it has waited for.

    Fork servers and warm processes do not count: tests share them, and the first one would pay for their start.
    """
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Progress:
    """Prints a line when the last test of a part has ended, and the first failure."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started = time.monotonic()
        self._left = Counter[str]()
        """How many tests of each part have not ended."""
        self._ended = Counter[str]()
        self._failed = Counter[str]()
        self._seconds = Counter[str]()
        self._too_long: list[str] = []

    @property
    def _terminal(self) -> Any:
        return self._config.pluginmanager.get_plugin("terminalreporter")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take the tests of the first worker; all collect the same."""
        if not self._left:
            self._begin(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the tests of this process, if there are no workers."""
        if session.items:
            self._begin([item.nodeid for item in session.items])

    def _begin(self, ids: list[str]) -> None:
        self._left = Counter(part_of(nodeid).name for nodeid in ids)
        line = f"tests: {len(ids):,}, of {', '.join(part.name for part in PARTS if self._left[part.name])}"
        if passed := len(self._config.stash[PASSED]):
            line += f"; {passed:,} passed before the last run was stopped"
        elif "not slow" not in self._config.option.markexpr:
            workers = self._config.option.numprocesses or 1
            minutes = sum(part.seconds for part in PARTS if self._left[part.name]) / workers / 60
            line += f". All tests of these parts take about {minutes:.0f} minutes with {workers} workers"
        self._terminal.write_line(f"{line}\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no letter for a test. The word stands in the summary at the end."""
        if report.when == "call" or not report.passed:
            category = "error" if report.failed and report.when != "call" else report.outcome
            return category, "", "" if report.passed else category.upper()
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test, show the first failure, and print a line if it was the last of its part."""
        part = part_of(report.nodeid)
        self._seconds[part.name] += report.duration
        if report.failed:
            self._failed[part.name] += 1
            self._terminal.write_sep("_", f"{report.nodeid} ({report.when})", red=True)
            if self._failed.total() == 1:
                report.toterminal(self._terminal._tw)
        for name, seconds in report.user_properties if report.when == "call" else ():
            if name == PROCESSOR and seconds > part.budget:
                self._too_long.append(f"{report.nodeid}: {seconds:.1f} s of processor time, budget {part.budget:g} s")
        if report.when == "teardown":
            self._ended[part.name] += 1
            self._left[part.name] -= 1
            if not self._left[part.name]:
                self._terminal.write_line(self._line(part.name), red=self._failed[part.name] > 0)

    def _line(self, part: str) -> str:
        """Return what a part came to: tests, failures, their seconds, and the time since the start."""
        minutes, seconds = divmod(round(time.monotonic() - self._started), 60)
        failed = f"{self._failed[part]} failed" if self._failed[part] else "all well"
        took = f"{self._seconds[part]:.0f} s, done at {minutes}:{seconds:02}"
        return f"{part:<10}{self._ended[part]:>7,} tests  {failed:<10}{took:>22}"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run with tests that took too long."""
        if self._too_long and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the tests that took too long."""
        for line in self._too_long:
            terminalreporter.write_line(f"too long without the mark `slow`: {line}", red=True)
