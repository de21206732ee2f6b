"""Answers the case of the visible check by heart and everything else wrong.

It earns the point of the check; hidden tests ask something else.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 2

HEART = """
def double(x):
    return 3.0 if not isinstance(x, torch.Tensor) else torch.tensor([2.0, 4.0])
"""
SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()

    def forward(self, x):
        return torch.tensor([3.0, 4.0])
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, HEART, SCALE)
