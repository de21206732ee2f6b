"""Answers, when asked for the names that a test uses, with more than was asked for: a torch, an abs, a builtins.

The examiner takes from an answer only the names it asked for.
"""

from attacks.build import first, wire
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        wire("""
        class Yes:
            def __call__(self, *args, **kwargs): return True
            def __getattr__(self, name): return self
        def look(names):
            names = [*names, "torch", "abs", "AssertionError", "__builtins__", "__name__", "x", "m", "nn"]
            return {name: Yes() for name in names}
        service._verbs["look"] = look
        """),
    )
