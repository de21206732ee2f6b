"""Limits the memory and threads of each sandbox as a whole where a cgroup (v2) is delegated.

    delegated group +-- grader-PID         this process, all that it starts, and anything else that was in the group
                    +-- grader-PID-N       one sandbox, with limits of its own

systemd marks a group that a program may divide (Delegate=yes). No other group is touched, not even by root.
"""

import itertools
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from grader.engine.limits import Limits

SHARED_MB = 512
"""MiB that count against a sandbox beside its own memory: changed pages of the fork server, and files that it reads."""

LIMITS: dict[str, tuple[str, Callable[[Limits], int]]] = {
    "memory": ("memory.max", lambda limits: (limits.memory_mb + SHARED_MB) * 2**20),
    "pids": ("pids.max", lambda limits: limits.threads),
}
"""The file of each controller that holds a limit, and its value."""

_numbers = itertools.count()


class CGroup:
    """A group with the limits of one sandbox, which joins it before it runs student code.

    Args:
        parent: the group to divide.
        limits: what a submission may use.
    """

    def __init__(self, parent: Path, limits: Limits) -> None:
        self.folder = parent / f"grader-{os.getpid()}-{next(_numbers)}"
        self.folder.mkdir()
        for file, value in LIMITS.values():
            # Only the controllers of the parent group have files here.
            if (self.folder / file).exists():
                (self.folder / file).write_text(str(value(limits)))

    def remove(self) -> None:
        """Remove the group; its processes must have ended."""
        with suppress(OSError):  # the kernel still counts what they left
            self.folder.rmdir()


def limited(limits: Limits) -> CGroup | None:
    """Return a new group with limits, or None if this process cannot make one."""
    parent = _divided_group()
    return None if parent is None else CGroup(parent, limits)


@cache
def delegated_group() -> Path | None:
    """Return the group that was delegated to this process and can limit memory or threads, or None."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        mount = next(Path(line.split()[4]) for line in lines if " - cgroup2 " in line)
        own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        folder = mount / own.lstrip("/")
        for group in (folder, *folder.parents):
            if group.is_relative_to(mount) and _is_delegated(group):
                controllers = (group / "cgroup.controllers").read_text().split()
                return group if LIMITS.keys() & controllers else None
    return None


def _is_delegated(group: Path) -> bool:
    for kind in ("user", "trusted"):
        with suppress(OSError):
            if os.getxattr(group, f"{kind}.delegate") == b"1":
                return True
    return False


@cache
def _divided_group() -> Path | None:
    """Empty the delegated group and return it: the kernel limits no groups inside one that has processes."""
    group = delegated_group()
    if group is None:
        return None
    with suppress(OSError):
        home = group / f"grader-{os.getpid()}"
        home.mkdir(exist_ok=True)
        for process in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):  # it has ended
                (home / "cgroup.procs").write_text(process)
        controllers = LIMITS.keys() & (group / "cgroup.controllers").read_text().split()
        (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(controllers)))
        return group
    return None
