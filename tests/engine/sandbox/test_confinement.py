"""Shows from outside, in /proc, that the process for student code is confined twice."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.engine.limits import Limits
from grader.engine.sandbox.isolation.confinement import UNPRIVILEGED, readable_paths
from grader.engine.sandbox.isolation.namespaces import SHARED
from grader.engine.supervisor.session import Sandboxes

NAMES = {"network": "net", "IPC": "ipc", "host name": "uts", "cgroup": "cgroup"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Path]:
    """The folder in /proc of a confined process."""
    with Sandboxes(Limits(), sandbox=True, processor=min(os.sched_getaffinity(0))) as sandboxes:
        yield Path(f"/proc/{sandboxes.confined_pid()}")


@pytest.fixture(scope="module")
def status(sandbox: Path) -> dict[str, str]:
    """What the kernel says about it."""
    lines = (sandbox / "status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_student_code_has_no_capability_and_can_gain_no_rights(status: dict[str, str]) -> None:
    """The kernel refuses them, and all system calls but those of a list, for the rest of the process's life."""
    kinds = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    assert [kind for kind in kinds if int(status[kind], 16)] == []
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_roots_grader_runs_student_code_as_another_user(status: dict[str, str], sandbox: Path) -> None:
    """Even if Python lies where only root may look, as long as the kernel offers a root folder of its own."""
    users = set(status["Uid"].split())
    folders = [path for part in ("/usr/lib", os.path.realpath(os.__file__)) for path in Path(part).parents]
    is_readable = has_own_root(sandbox) or all(path.stat().st_mode & stat.S_IXOTH for path in folders)
    other = {str(UNPRIVILEGED)} if is_readable else {"0"}
    assert users == (other if os.geteuid() == 0 else {str(os.geteuid())})


def has_own_root(sandbox: Path) -> bool:
    """Whether a process has a mount namespace of its own."""
    return os.readlink(sandbox / "ns" / "mnt") != os.readlink("/proc/self/ns/mnt")


def test_a_sandbox_sees_only_what_it_may_read(sandbox: Path) -> None:
    """Its root folder holds nothing else, all of that is read-only but the scratch folder, and it is alone."""
    if not has_own_root(sandbox):
        pytest.skip("the kernel offers no mount namespace")
    mounts = [line.split() for line in (sandbox / "mountinfo").read_text().splitlines()]
    places = {mount[4]: mount[5].split(",") for mount in mounts}
    writable = [place for place, options in places.items() if "ro" not in options]
    assert len(writable) == 1 and writable[0].endswith("/scratch")
    real = {os.path.realpath(path) for path in readable_paths()} | {"/", "/dev/null", *writable}
    assert set(places) <= real
    assert (sandbox / "status").read_text().split("NSpid:")[1].splitlines()[0].split()[-1] == "2"


@pytest.mark.parametrize("shared", SHARED)
def test_student_code_shares_no_namespace_if_the_kernel_offers_one(sandbox: Path, shared: str) -> None:
    """Neither the network nor the memory between processes nor the host name."""
    child = os.fork()
    if child == 0:
        from grader.engine.sandbox.isolation.namespaces import own_namespaces

        before = os.readlink(f"/proc/self/ns/{NAMES[shared]}")
        own_namespaces()
        os._exit(os.readlink(f"/proc/self/ns/{NAMES[shared]}") != before)
    is_offered = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    name = NAMES[shared]
    is_own = os.readlink(sandbox / "ns" / name) != os.readlink(f"/proc/self/ns/{name}")
    assert is_own == is_offered
