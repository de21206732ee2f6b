"""Divides the tests among the workers of pytest-xdist: what shares something expensive runs on one worker.

tests --groups--> exercises, notebooks, modules --longest first--> workers

A pytest plug-in. Run with `-n 2 --dist loadgroup`; without xdist only the order changes.
"""

import json
import os
import tempfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from tests.support.parts import PARTS, part_of

GROUPS = pytest.StashKey[Path]()

SECONDS = {
    "tests/hub": 55,
    "tests/commands/cluster/test_cluster.py": 50,
    "tests/test_sockets.py": 50,
    "source/07-modern/1-language-model.ipynb": 45,
    "tests/attacks/test_forged_answers.py": 45,
    "tests/attacks/test_attacks.py": 40,
    "tests/commands/report/test_class_report.py": 35,
    "tests/commands/doctor/test_doctor.py": 35,
    "tests/commands/check/test_daemon.py": 25,
    "tests/course/test_wheel.py": 25,
    "tests/classroom/test_killed.py": 50,
    "tests/engine/supervisor/test_preload.py": 25,
    "tests/classroom/test_class_run.py": 25,
    "tests/test_second_course.py": 22,
    "tests/classroom/test_examples.py": 22,
    "tests/grader_kernel/test_handing_in.py": 20,
    "tests/classroom/test_changes.py": 20,
    "index-lookup": 20,
    "tests/attacks/test_browser.py": 17,
    "tests/classroom/test_autograde_plugin.py": 15,
    "tests/commands/cluster/test_serve.py": 15,
    "source/03-seq2seq/3-attention-decoder.ipynb": 15,
    "tests/test_cli.py": 15,
    "tests/test_grading.py": 13,
    "source/03-seq2seq/1-encoder-decoder.ipynb": 12,
    "tests/docs/test_instructors_commands.py": 12,
    "tests/commands/serve/test_killed_service.py": 12,
    "tests/commands/serve/test_serve.py": 12,
    "self-attention": 10,
    "transformer": 10,
    "source/05-transformer/3-training-and-decoding.ipynb": 10,
}
"""About how long the longest groups take; all others count as 0.

A wrong number costs nothing but time: a long group that begins last keeps one worker busy while the others have nothing
left to do.
"""
LAST = "last"


def own_processor() -> int:
    """Return a processor that no other worker of this test run has, as long as there are enough."""
    processors = sorted(os.sched_getaffinity(0))
    return processors[int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(processors)]


def grouped(argument: str, cases: Iterable[Any], group: Any, name: Any = str) -> pytest.MarkDecorator:
    """Return a parametrize mark by which all cases of a group run on one worker, one after the other.

    Args:
        argument: the argument of the test.
        cases: its values.
        group: returns the name of a case's group.
        name: returns the name of a case.
    """
    marked = [pytest.param(case, marks=pytest.mark.xdist_group(group(case)), id=name(case)) for case in cases]
    return pytest.mark.parametrize(argument, marked)


last = pytest.mark.xdist_group(LAST)
"""Marks a test that looks at the results of others: it runs when most of them are there."""


def group_of(item: pytest.Item) -> str:
    """Return the name of a test's group: the one that it is marked with, or else its module or notebook."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else Path(item.path).relative_to(item.config.rootpath).as_posix()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put one part behind the other, and in each the longest groups first, each in one piece."""
    part = {group_of(item): PARTS.index(part_of(item.nodeid)) for item in items}
    longest_first = sorted(part, key=lambda group: (group == LAST, part[group], -SECONDS.get(group, 0)))
    position = {group: number for number, group in enumerate(longest_first)}
    items.sort(key=lambda item: position[group_of(item)])


class GroupScheduling(LoadScopeScheduling):
    """Hands out groups in the order of the tests.

    xdist's own `loadgroup` writes the group into a test's id, to which pytest 9.2 pays no attention: it goes on without
    groups and says nothing. Here the first worker writes the groups into a file.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._file = config.stash[GROUPS]

    @cached_property
    def _groups(self) -> dict[str, str]:
        groups: dict[str, str] = json.loads(self._file.read_text())
        return groups

    def _split_scope(self, nodeid: str) -> str:
        return self._groups[nodeid]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    """Answer for `--dist loadgroup`."""
    return GroupScheduling(config, log) if config.option.dist == "loadgroup" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker where to write the groups."""
    if GROUPS not in node.config.stash:
        handle, name = tempfile.mkstemp(prefix="groups-")
        os.close(handle)
        node.config.stash[GROUPS] = Path(name)
    node.workerinput["groups"] = str(node.config.stash[GROUPS])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the groups, before the worker says that it has collected its tests."""
    workerinput = getattr(session.config, "workerinput", {})
    if workerinput.get("workerid") == "gw0":
        Path(workerinput["groups"]).write_text(json.dumps({item.nodeid: group_of(item) for item in session.items}))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the file."""
    if GROUPS in config.stash:
        config.stash[GROUPS].unlink()
