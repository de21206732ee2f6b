"""Becomes the hub of deploy/jupyterhub in a machine of its own; `Machine` starts it in new namespaces.

    commands of deploy/jupyterhub/README.md --> users, folders --> jupyterhub_config.py

The mounts below hide /etc, /home and /srv of this machine: nothing of the users and folders remains.
"""

import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

DEPLOYED = Path(__file__).parents[2] / "deploy" / "jupyterhub"
STAGE = Path("/mnt")
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def main(course: Path, password: str) -> None:
    """Set up users and folders for a course folder, give all users the password, and start the hub."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    _mount("-t", "tmpfs", "-o", "mode=755", "none", STAGE)
    (STAGE / "course").mkdir()
    _mount("--bind", course, STAGE / "course")
    for target in (sys.prefix, sys.base_prefix, DEPLOYED):
        _open_way(Path(target))
    _overlay(Path("/etc"))
    for folder in ("/home", "/srv"):
        _mount("-t", "tmpfs", "-o", "mode=755", "none", folder)
    commands = "\n".join(re.findall("```sh\n(.*?)```", (DEPLOYED / "README.md").read_text(), re.DOTALL))
    subprocess.run(["sh", "-ec", commands], env={**os.environ, "COURSE": f"{STAGE}/course"}, check=True)
    passwords = "".join(f"{home.name}:{password}\n" for home in Path("/home").iterdir())
    subprocess.run(["chpasswd"], input=passwords, text=True, check=True)
    os.chdir("/srv/jupyterhub")
    command = [sys.executable, "-m", "jupyterhub", "--config", str(DEPLOYED / "jupyterhub_config.py")]
    os.execv(sys.executable, command)


def _open_way(target: Path) -> None:
    """Let every user enter a folder and those above it: interpreter and repository may lie in root's home folder."""
    for folder in (*reversed(target.parents), target):
        if not folder.stat().st_mode & 0o001:
            _overlay(folder)


def _overlay(folder: Path) -> None:
    """Hide a folder behind a copy of itself that may be changed, and entered by everyone."""
    layers = Path(tempfile.mkdtemp(dir=STAGE))
    for name in ("upper", "work"):
        (layers / name).mkdir()
    _mount("-t", "overlay", "-o", f"lowerdir={folder},upperdir={layers}/upper,workdir={layers}/work", "none", folder)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
