"""Returns NaN, whose distance to a number never exceeds the tolerance.

allclose and equal treat NaN as different, and a test passes only if it runs to its end.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

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
