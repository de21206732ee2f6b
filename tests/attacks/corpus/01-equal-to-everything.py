"""Returns an object that equals everything and answers every comparison with yes.

The object never crosses: the runner sees a stand-in of its own, and torch compares only tensors.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

STARRED = True

YES = """
class Yes:
    def __init__(self, *args): pass
    def __call__(self, *args): return self
    def __getattr__(self, name): return self
    def __bool__(self): return True
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True
    __sub__ = __rsub__ = __mul__ = __abs__ = lambda self, *other: self
    __hash__ = object.__hash__
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, YES + "double = Yes()", YES + "Scale = Yes")
