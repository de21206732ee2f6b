"""Moves its working folder away while it is used and puts another in its place; swaps names of files.

The folder itself cannot be moved, and the grader looks only at its size.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "os.rename(here, here + '.old')",
            "os.rmdir(here); os.mkdir(here)",
            "os.mkdir('a'); os.rename('a', '../a')",
            "os.mkdir('../b')",
            "os.chroot('.')",
            setup="""
            import os, threading
            here = os.getcwd()

            def swap():
                while True:
                    try:
                        open("one", "w").write("x" * 1000)
                        os.replace("one", "two")
                        os.unlink("two")
                    except OSError:
                        pass

            threading.Thread(target=swap, daemon=True).start()
            """,
        ),
    )
