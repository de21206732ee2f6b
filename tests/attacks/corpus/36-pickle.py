"""Returns objects whose pickles run code, and a file that torch.load would unpickle.

The runner unpickles nothing; an object that is no plain value stays in the sandbox.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

PICKLE = """
import io, pickle

class Payload:
    def __reduce__(self):
        return exec, ("import os; os._exit(0)",)
    __getstate__ = __deepcopy__ = __reduce_ex__ = lambda self, *args: exec, ("import os; os._exit(0)",)

class Tensor(torch.Tensor):
    def __reduce_ex__(self, protocol):
        return Payload().__reduce__()

def double(x):
    return Payload() if not isinstance(x, torch.Tensor) else x.as_subclass(Tensor)
"""
SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d))
        self.payload = Payload()

    def __getstate__(self):
        return Payload()

    def forward(self, x):
        return self.payload
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, PICKLE, SCALE)
