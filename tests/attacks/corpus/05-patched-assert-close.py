"""Replaces torch.testing.assert_close, in torch and in every module that has it already.

The tests run in another process, with a torch that no student touches.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import gc, sys
        true = torch.testing.assert_close
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if value is true:
                    setattr(module, name, lambda *args, **kwargs: None)
        true.__code__ = (lambda *args, **kwargs: None).__code__
        """,
    )
