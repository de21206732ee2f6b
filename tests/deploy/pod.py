"""Becomes the pod of deploy/kubernetes/worker.yaml in a machine of its own, and asks whether its workers can grade.

as root:  mounts, names, then what the security context takes away
after it: the runtime's seccomp profile --> dask scheduler, the manifest's dask worker --> grader worker-setup
"""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from grader.engine.sandbox.isolation.system_calls import ALLOW, ERRNO, MASKED_EQ, Arg, SyscallFilter
from tests.support.namespaces import STAGE, mount, settle
from tests.support.paths import REPOSITORY
from tests.support.waiting import until

MANIFEST = REPOSITORY / "deploy" / "kubernetes" / "worker.yaml"
PROGRAMS = Path(sys.executable).parent
SCHEDULER = "grading-scheduler"
REFUSED = ("unshare", "setns", "mount", "umount2", "pivot_root", "bpf", "perf_event_open")
"""Calls that the default profiles of container runtimes refuse to a process without capabilities."""
NEW_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
"""The flags of clone, with which they refuse it."""


def pod() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the pod of the manifest, and its only container."""
    items = {item["kind"]: item for item in yaml.safe_load_all(MANIFEST.read_text())}
    spec = items["Deployment"]["spec"]["template"]["spec"]
    [container] = spec["containers"]
    return spec, container


def enter() -> None:
    """Make the file system of the container, and go on as its user and without its privileges."""
    spec, container = pod()
    user, rights = spec["securityContext"], container["securityContext"]
    settle()
    with open("/etc/hosts", "a") as hosts:
        hosts.write(f"127.0.0.1 {SCHEDULER}\n")
    aside = STAGE / "repository"
    aside.mkdir()
    mount("--bind", REPOSITORY, aside)
    for volume in container["volumeMounts"]:
        mount("-t", "tmpfs", "-o", "mode=777", "none", volume["mountPath"])
    if not REPOSITORY.exists():  # a clone below /tmp
        REPOSITORY.mkdir(parents=True)
        mount("--bind", aside, REPOSITORY)
    if rights["readOnlyRootFilesystem"]:
        mount("-o", "remount,bind,ro", "/")
    command = ["setpriv", f"--reuid={user['runAsUser']}", f"--regid={user['runAsGroup']}", "--clear-groups"]
    command += ["--bounding-set=-all", "--inh-caps=-all"] if rights["capabilities"] == {"drop": ["ALL"]} else []
    command += [] if rights["allowPrivilegeEscalation"] else ["--no-new-privs"]
    environment = {"HOME": "/tmp", "PATH": f"{PROGRAMS}:/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY)}
    os.execve("/usr/bin/setpriv", [*command, sys.executable, "-m", "tests.deploy.pod", "work"], environment)


def work() -> int:
    """Start a scheduler and the workers; print what each worker says, and return what `grader worker-setup` returns."""
    spec, container = pod()
    if spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault":
        _load_profile()
    os.chdir(tempfile.mkdtemp())
    shutil.copy(REPOSITORY / "nbgrader_config.py", ".")
    workers = int(container["command"][container["command"].index("--nworkers") + 1])
    with open("log", "w") as log:
        subprocess.Popen(["dask", "scheduler", "--port", "8786", "--no-dashboard"], stdout=log, stderr=log)
        subprocess.Popen(container["command"], stdout=log, stderr=log)
    setup = ["grader", "worker-setup", f"tcp://{SCHEDULER}:8786"]
    answers: list[subprocess.CompletedProcess[str]] = []

    def all_answer() -> bool:
        answers.append(subprocess.run(setup, capture_output=True, text=True))
        return answers[-1].stdout.count("tcp://127") == workers

    until(all_answer, f"{workers} workers")
    asked = answers[-1]
    print(asked.stdout, asked.stderr, Path("log").read_text(), Path("/proc/self/status").read_text())
    return asked.returncode


def _load_profile() -> None:
    # A process without privileges may load it only if the manifest forbids new ones.
    assert "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()
    profile = SyscallFilter(ALLOW)
    for name in REFUSED:
        profile.add_rule(ERRNO(errno.EPERM), name)
    for flag in NEW_NAMESPACES:
        profile.add_rule(ERRNO(errno.EPERM), "clone", Arg(0, MASKED_EQ, flag, flag))
    # As those profiles do, since its flags cannot be looked at: the C library then uses clone.
    profile.add_rule(ERRNO(errno.ENOSYS), "clone3")
    profile.load()


if __name__ == "__main__":
    sys.exit(work() if sys.argv[1:] == ["work"] else enter())
