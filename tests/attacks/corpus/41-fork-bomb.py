"""Starts processes in every possible way, each to start more.

The kernel lets it start threads and nothing else. What Python offers for a program ends at once, as an empty one would.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "os.fork()",
            "os.forkpty()",
            "os.posix_spawn('/bin/sleep', ['sleep', '9'], {})",
            "assert subprocess.Popen(['sleep', '9']).poll() is None",
            "importlib.reload(subprocess).Popen(['sleep', '9'])",
            "assert os.system('exit 3')",
            "assert ctypes.CDLL(None).system(b'sleep 9') == 0",
            "multiprocessing.get_context('fork').Process(target=print).start()",
            "multiprocessing.get_context('spawn').Process(target=print).start()",
            "os.execv('/bin/sleep', ['sleep', '9'])",
            "assert ctypes.CDLL(None).vfork() >= 0",
            "assert ctypes.CDLL(None).syscall(435, 0, 0) >= 0",
            "next(iter(torch.utils.data.DataLoader([1, 2], num_workers=2)))",
            setup="import ctypes, importlib, multiprocessing, os, subprocess",
        ),
    )
