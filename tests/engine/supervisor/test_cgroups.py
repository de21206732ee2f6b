"""Shows that each sandbox is counted in a group of its own where a group is delegated, and that no other is touched."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY
from tests.support.waiting import until

pytestmark = pytest.mark.slow

GRADING = """
import os, sys
from pathlib import Path
from grader.engine.limits import Limits
from grader.engine.supervisor import cgroups, forkserver
from grader.engine.supervisor.session import Sandboxes

# The controllers that this machine's version 2 offers; memory and pids may be in use by version 1.
for name in sys.argv[2:]:
    cgroups.LIMITS.setdefault(name, ("cgroup.max.depth", lambda limits: 7))
Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
forkserver.prepare()
with Sandboxes(Limits(), sandbox=True, processor=min(os.sched_getaffinity(0))) as sandboxes:
    pid = sandboxes.confined_pid()
    groups = sorted(path.name for path in Path(sys.argv[1]).iterdir() if path.is_dir())
    own = Path(f"/proc/{pid}/cgroup").read_text().splitlines()[-1].rpartition("/")[2]
    limits = Path(sys.argv[1], own, "cgroup.max.depth").read_text().strip() if own in groups else ""
left = sorted(path.name for path in Path(sys.argv[1]).iterdir() if path.is_dir())
print(len(groups), own in groups, limits, len(left))
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A new group; the test is left out where this process may not make one."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    mount = next((Path(line.split()[4]) for line in mounts if " - cgroup2 " in line), None)
    if mount is None or not os.access(mount, os.W_OK) or not (mount / "cgroup.controllers").read_text().split():
        pytest.skip("this process may make no cgroup with limits")
    control, controllers = mount / "cgroup.subtree_control", (mount / "cgroup.controllers").read_text().split()
    before = control.read_text().split()
    control.write_text(" ".join(f"+{name}" for name in controllers))
    folder = Path(tempfile.mkdtemp(prefix="test-", dir=mount))
    yield folder
    # The fork server ends a moment after its parent.
    until(lambda: "populated 0" in (folder / "cgroup.events").read_text(), "the end of the fork server")
    for inner in [*folder.glob("*/"), folder]:
        inner.rmdir()
    control.write_text(" ".join(f"-{name}" for name in controllers if name not in before))


@pytest.mark.parametrize(
    ("is_delegated", "found"), [(True, "2 True 7 1"), (False, "0 False  0")], ids=["delegated", "not delegated"]
)
def test_a_sandbox_has_a_group_of_its_own_where_one_is_delegated(group: Path, is_delegated: bool, found: str) -> None:
    """With limits, and it is removed with the sandbox; a group without the mark of a delegation stays as it is."""
    if is_delegated:
        os.setxattr(group, "user.delegate", b"1")
    controllers = (group / "cgroup.controllers").read_text().split()
    done = subprocess.run(
        [sys.executable, "-c", GRADING, str(group), *controllers], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.stdout.strip("\n") == found, done.stderr
