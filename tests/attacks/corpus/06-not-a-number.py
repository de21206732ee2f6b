"""Returns NaN, which is never further away than the tolerance.

allclose and equal take NaN for different, and a test that passes must have run to its end.
"""

from attacks.build import answered
from nbformat import NotebookNode

NAN = """
def double(x):
    return x * float("nan")
"""
SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.full((d,), float("nan")))

    def forward(self, x):
        return x * self.weight * float("nan")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, NAN, SCALE)
