"""Walks all frames, all objects and all strings in memory for a hidden test, then its own memory byte by byte.

The process was forked before anybody had read the submission or the source: there is nothing to find.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import gc, sys
        frame, texts = sys._getframe(), []
        while frame:
            texts += [str(frame.f_locals)[:9999]]
            frame = frame.f_back
        word = "HIDDEN" + " TESTS"
        found = [item for item in gc.get_objects() if isinstance(item, dict)]
        texts += [value for item in found for value in list(item.values()) if isinstance(value, str)]
        print([text for text in texts if word in text and "BEGIN " + word in text and "### " in text])
        """,
    )
