"""Walks all frames, all objects and all strings in memory in search of a hidden test.

The process was forked before the submission and the source were read: there is nothing to find.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
        dicts = [item for item in gc.get_objects() if isinstance(item, dict)]
        texts += [value for item in dicts for value in list(item.values()) if isinstance(value, str)]
        print([text for text in texts if word in text and "BEGIN " + word in text and "### " in text])
        """,
    )
