"""Starts threads with the smallest possible stack, so that memory limits allow tens of thousands.

The parent counts threads, whatever their size.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import threading, time
        threading.stack_size(32768)
        while True:
            try:
                threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
            except RuntimeError:
                pass
        """,
    )
