"""Returns tensors that are hard to send: sparse, quantised, complex, on `meta`, huge by strides, without storage.

Only dense tensors of common types and a bounded size cross.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

ODD = """
import itertools
kinds = itertools.cycle([
    lambda: torch.ones(2, 2).to_sparse(), lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    lambda: torch.ones(2, dtype=torch.complex64), lambda: torch.ones(2, device="meta"),
    lambda: torch.ones(1).expand(2**40), lambda: torch.ones(1).as_strided((2**20, 2**20), (0, 0)),
    lambda: [[[]] * 1000] * 1000,
])

def double(x):
    return next(kinds)()
"""
SCALE = """
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1).expand(2**36))

    def forward(self, x):
        return next(kinds)()
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, ODD, SCALE)
