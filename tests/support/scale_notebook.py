"""A notebook of one exercise, the class `Scale`, whose weights every answer draws for itself."""

from tests.support import notebooks

SOLUTION = """
class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))

    def forward(self, x):
        return x * self.weight + 1
"""
SOURCE = notebooks.notebook(
    notebooks.helpers("imports", "import torch\nfrom torch import nn"),
    notebooks.answer("scale", f"### BEGIN SOLUTION{SOLUTION}### END SOLUTION"),
    notebooks.hidden(
        "scale-test-values",
        "Every number is scaled, and one is added.",
        "layer, x = Scale(3), torch.rand(5, 3)\n"
        "assert torch.allclose(layer(x), x * layer.weight + 1), 'the values are not right'",
    ),
)
