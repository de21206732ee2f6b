"""Becomes the hub of deploy/jupyterhub in a machine of its own; `Machine` starts it in new namespaces.

    commands of deploy/jupyterhub/README.md --> users, folders --> jupyterhub_config.py

The mounts below hide /etc, /home and /srv of this machine: nothing of the users and folders remains.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.namespaces import STAGE, mount, settle
from tests.support.paths import REPOSITORY

DEPLOYED = REPOSITORY / "deploy" / "jupyterhub"


def main(course: Path, password: str) -> None:
    """Set up users and folders for a course folder, give all users the password, and start the hub."""
    settle([DEPLOYED])
    (STAGE / "course").mkdir()
    mount("--bind", course, STAGE / "course")
    for folder in ("/home", "/srv"):
        mount("-t", "tmpfs", "-o", "mode=755", "none", folder)
    commands = "\n".join(re.findall("```sh\n(.*?)```", (DEPLOYED / "README.md").read_text(), re.DOTALL))
    subprocess.run(["sh", "-ec", commands], env={**os.environ, "COURSE": f"{STAGE}/course"}, check=True)
    passwords = "".join(f"{home.name}:{password}\n" for home in Path("/home").iterdir())
    subprocess.run(["chpasswd"], input=passwords, text=True, check=True)
    os.chdir("/srv/jupyterhub")
    command = [sys.executable, "-m", "jupyterhub", "--config", str(DEPLOYED / "jupyterhub_config.py")]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
