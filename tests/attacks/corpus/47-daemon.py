"""Leaves something running that outlives its parent: a daemon, a non-daemon thread, a session of its own.

No process and no session can be made, and threads end with their process.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "os.fork() or os.setsid() or os.fork() or time.sleep(10**6)",
            "assert subprocess.Popen('sleep 1000', shell=True, start_new_session=True).poll() is None",
            "importlib.reload(subprocess).Popen('sleep 1000', shell=True, start_new_session=True)",
            "os.setsid()",
            "os.setpgid(0, os.getppid())",
            setup="""
            import importlib, os, subprocess, threading, time
            threading.Thread(target=time.sleep, args=(10**6,)).start()
            """,
        ),
    )
