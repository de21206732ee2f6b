"""Starts busy threads until no more can be started, to take the processor from its neighbours.

The parent counts threads while it waits, and ends a process that has too many.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
