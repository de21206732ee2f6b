"""JupyterHub for a course on one machine: its users log in with their passwords, and `grader serve` grades on arrival.

    browser --> proxy, port 8000 --> hub, as root
                                 --> JupyterLab of each user, as that user --hand_in()--+
                                 --> grader serve, as the user `grader` <---------------+--> course folder

README.md beside this file says how to make the users, the groups and the folders.
"""

import grp
import os
import pwd
import subprocess
import sys
from pathlib import Path

COURSE = Path("/srv/attention/course")
"""The course folder, which holds the solutions: `grader` and the instructors may enter it, and no student."""
RELEASED = Path("/srv/attention/released")
"""The released notebooks, of which each student gets a copy; everyone may read them."""
STATE = Path("/srv/jupyterhub")
"""The hub's own files, which only root may read."""
STUDENT = Path(__file__).resolve().parents[1] / "student"
"""JupyterLab as students get it, without nbgrader's tools for instructors. Everyone may read it."""
INSTRUCTOR = Path(__file__).resolve().parent / "instructor"
"""Settings of JupyterLab for instructors: the menu "Nbgrader" opens the formgrader in a browser tab, not in a frame."""
SERVICE = "http://127.0.0.1:8765"
BIN = Path(sys.prefix) / "bin"
"""Hub, service and all servers share one environment, which every user must be able to read."""

c = get_config()  # noqa: F821  (JupyterHub provides it)

# The service and the instructors write the same gradebook. So what one of them makes in the course folder, the group
# may change, and others may not even read. Everything that the hub starts inherits this.
os.umask(0o007)

# Only this machine reaches the proxy. The department's web server stands before it, and has the certificate.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"

# A name in the gradebook is the name of a user of this machine.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"students", "instructors"}

c.JupyterHub.spawner_class = "localprocess"
c.Spawner.cmd = [f"{BIN}/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"
# When a class logs in at once, a server takes longer to start than the 30 seconds that the hub would wait.
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
# hand_in() asks the service at this address. The token of the student's own server says who asks.
c.Spawner.environment = {"HAND_IN_URL": f"{SERVICE}/services/grader"}


def prepare(spawner):
    """Open the course folder for an instructor; copy released notebooks that a student does not have yet."""
    user = pwd.getpwnam(spawner.user.name)
    groups = os.getgrouplist(user.pw_name, user.pw_gid)
    if grp.getgrnam("instructors").gr_gid in groups:
        spawner.notebook_dir = str(COURSE)
        # The formgrader finds nbgrader_config.py here.
        spawner.environment = {**spawner.environment, "JUPYTER_CONFIG_PATH": f"{COURSE}:{INSTRUCTOR}"}
    else:
        spawner.environment = {**spawner.environment, "JUPYTER_CONFIG_PATH": str(STUDENT)}
        # As the student: a link in the home folder must not make root write elsewhere. A file that is there stays.
        # cp's exit status tells nothing, since some versions fail where they leave a file alone.
        subprocess.run(
            ["cp", "--recursive", "--no-clobber", f"{RELEASED}/.", user.pw_dir],
            user=user.pw_uid, group=user.pw_gid, extra_groups=groups, check=False,
        )  # fmt: skip


c.Spawner.pre_spawn_hook = prepare

# Student code runs in the sandbox of this service, and never as root.
c.JupyterHub.services = [
    {
        "name": "grader",
        "url": SERVICE,
        "command": [f"{BIN}/grader", "serve"],
        "user": "grader",
        "cwd": str(COURSE),
        "oauth_no_confirm": True,
    }
]
# Users open their feedback pages in the browser, and their servers hand in.
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", "access:services!service=grader"]},
    {
        "name": "server",
        "scopes": ["users:activity!user", "access:servers!server", "access:services!service=grader"],
    },
]
