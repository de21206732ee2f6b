"""Looks in its own memory for what the grader's main process is called with, where it works, and its key.

A child gets nothing of its parent but the places of modules.
"""

from nbformat import NotebookNode

from tests.attacks.build import REACHED, instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        f"""
        import multiprocessing.process, sys
        from pathlib import Path
        base = str(Path.cwd().parents[2])
        me = multiprocessing.process.current_process()
        folder = multiprocessing.process.ORIGINAL_DIR
        words = [*sys.argv, *sys.orig_argv, *map(str, sys.path), str(folder), repr(me._config)]
        if any(word in text for text in words for word in ("pytest", "xdist", base, "--force")):
            print({REACHED!r}, words)
        if me.authkey:
            print({REACHED!r}, "the key")
        """,
    )
