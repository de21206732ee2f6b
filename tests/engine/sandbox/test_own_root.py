"""Student code sees no file and no process but its own, where the kernel offers namespaces."""

import json
import os
import tempfile
from itertools import islice
from pathlib import Path

import psutil
import pytest

from grader.engine.code_digest import KERNEL, package_paths
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.sandbox.isolation.confinement import readable_paths
from grader.engine.sandbox.isolation.namespaces import tree
from grader.engine.supervisor.session import Sandboxes
from tests.support.notebooks import answer, answered, check, notebook
from tests.support.paths import REPOSITORY
from tests.support.waiting import until

SOURCE = notebook(
    answer("look", "### BEGIN SOLUTION\ndef look():\n    return True\n### END SOLUTION"),
    check("look-check", "assert look()"),
)
ENTRIES = 300
"""Of each folder, at most so many are tried."""


@pytest.fixture(scope="module", autouse=True)
def offered() -> None:
    """Leaves these tests out where there are no namespaces; tests/commands/doctor has a machine without them."""
    with Sandboxes(Limits(), sandbox=True, processor=min(os.sched_getaffinity(0))) as sandboxes:
        if os.readlink(f"/proc/{sandboxes.confined_pid()}/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
            pytest.skip("the kernel offers no mount namespace")


def printed(code: str) -> object:
    """What a submission prints as JSON."""
    report = grade(SOURCE, answered(SOURCE, look=f"import json, os\n{code}\ndef look():\n    return True"))
    assert report.points == 1
    return json.loads("".join(output["text"] for outputs in report.outputs.values() for output in outputs))


def places() -> list[str]:
    """Paths of this machine: processes, devices, homes, the course, the folders beside what is readable."""
    folders = "/ /proc /proc/self /sys /sys/class /sys/class/tty /dev /etc /tmp /home /root".split()
    folders += [str(folder) for path in readable_paths() for folder in Path(path).parents]
    folders += [str(REPOSITORY), str(REPOSITORY / "source"), str(REPOSITORY / "tests")]
    found = set[str]()
    for folder in filter(os.path.isdir, folders):
        with os.scandir(folder) as entries:
            found |= {entry.path for entry in islice(entries, ENTRIES)}
    return sorted(found)


def test_nothing_can_be_looked_up_but_what_may_be_read() -> None:
    """Neither a process nor a device nor a file of the course or of another user."""
    readable = readable_paths() | {"/dev/null", *map(str, package_paths(KERNEL))}
    shown = {*tree(readable).mounts, *tree(readable).links}
    above = {str(folder) for path in {*shown, f"{tempfile.gettempdir()}/scratch"} for folder in Path(path).parents}
    tried = places()
    # Numbers, because an output shows no path of the grader's folders.
    numbers = printed(f"print(json.dumps([place for place, path in enumerate({tried!r}) if os.path.lexists(path)]))")
    assert isinstance(numbers, list) and len(tried) > 100
    seen = [tried[number] for number in numbers]
    inside = {path for path in seen if any(Path(path).is_relative_to(part) for part in shown)}
    assert set(seen) - inside - above == set()


def test_nothing_tells_what_others_do() -> None:
    """Numbers of processes and threads, and times of what is shown, are the same in each run."""
    code = """
import threading, time
numbers = []
threads = [threading.Thread(target=lambda: numbers.append(threading.get_native_id())) for _ in range(5)]
for thread in threads:
    thread.start()
    thread.join()
import turtledemo  # reads a library's file
times = [os.stat(os.__file__).st_atime_ns, os.stat(turtledemo.__file__).st_atime_ns]
print(json.dumps([os.getpid(), os.getppid(), sorted(numbers), times]))
"""
    assert printed(code) == printed(code)


def test_what_is_shown_can_be_used() -> None:
    """Libraries are imported late, temporary files are made in the scratch folder, and nothing else can be written."""
    code = f"""
import sqlite3, tempfile, xml.dom.minidom, zoneinfo
import torch.optim.lr_scheduler
inside = os.path.dirname(tempfile.mkstemp()[1]) == os.getcwd()
refused = []
for path in {sorted(tree(readable_paths()).mounts)!r} + ["/", "/tmp"]:
    if os.path.isdir(path):
        try:
            open(path + "/new", "w")
        except OSError:
            refused.append(path)
print(json.dumps([inside, len(refused) > 3, [path for path in refused if os.path.exists(path + "/new")]]))
"""
    assert printed(code) == [True, True, []]


def test_links_lead_to_what_they_lead_to_outside(tmp_path: Path) -> None:
    """Through several of them, relative and absolute; a folder inside of another one is mounted once."""
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "real" / "file").touch()
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "two").symlink_to(tmp_path / "one" / "inner")
    shown = tree(frozenset(str(tmp_path / name) for name in ("one", "two", "one/file", "real/inner", "missing")))
    real = Path(os.path.realpath(tmp_path))
    assert set(shown.mounts) == {str(real / "real")}
    assert {place: target for place, target in shown.links.items() if place.startswith(str(tmp_path))} == {
        str(tmp_path / "one"): "real",
        str(tmp_path / "two"): str(tmp_path / "one" / "inner"),
    }


def test_a_sandbox_leaves_no_process() -> None:
    """Neither its own nor one that only waits for it, and no zombie of either."""

    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children(recursive=True)}

    printed("print(1)")  # from here on the grader's own processes run
    before = children()
    with Sandboxes(Limits(), sandbox=True, processor=min(os.sched_getaffinity(0))) as sandboxes:
        sandboxes.confined_pid()
        assert len(children() - before) == 3
    until(lambda: children() <= before, "the end of the sandbox")
