"""Returns a subclass of Tensor whose __torch_function__ answers allclose and equal with True.

Only the numbers of a tensor cross; the runner makes a plain tensor of them.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

LIAR = """
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True if function in (torch.allclose, torch.equal) else super().__torch_function__(
            function, types, args, kwargs or {})

def double(x):
    return torch.zeros(2).as_subclass(Liar)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, LIAR)
