"""Returns a subclass of float whose difference to everything is 0 and that is smaller than everything.

Numbers cross as plain numbers; the methods of a subclass stay in the sandbox.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

LIAR = """
class Liar(float):
    __sub__ = __rsub__ = __abs__ = lambda self, *other: self
    __lt__ = __le__ = __eq__ = __gt__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__

def double(x):
    return Liar(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, LIAR)
