"""Replaces torch.testing.assert_close, in torch and in every module that has imported it.

The tests run in another process, whose torch no student code touches.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


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
