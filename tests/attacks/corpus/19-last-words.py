"""Registers code that forges a result at exit: atexit, excepthook, a finaliser, a signal handler.

The result is in another process.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import atexit, os, signal, sys, weakref
        def forge(*args):
            for number in range(64):
                try:
                    os.write(number, b'{"results": [{"points": 5}]}')
                except OSError:
                    pass
        atexit.register(forge)
        sys.excepthook = sys.unraisablehook = forge
        signal.signal(signal.SIGTERM, forge)
        sys.exit(0)
        """,
    )
