"""Returns more names than a test asked for: a torch, an abs, a builtins.

The runner takes from a reply only the names that it asked for.
"""

from nbformat import NotebookNode

from tests.attacks.build import first, on_channel


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        on_channel("""
        class Yes:
            def __call__(self, *args, **kwargs): return True
            def __getattr__(self, name): return self
        honest = server._verbs["look"]
        def look(names, place):
            more = ("torch", "abs", "AssertionError", "__builtins__", "__name__", "x", "m", "nn")
            return {name: Yes() for name in more} | honest(names, place)
        server._verbs["look"] = look
        """),
    )
