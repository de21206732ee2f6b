"""Gets the first answer wrong on purpose, so that the second is judged beside ours, and tells what it finds there.

Outputs and messages of that run are shown to no one, its folder is removed, and its process ends with it.
"""

from nbformat import NotebookNode

from tests.attacks.build import REACHED, WRONG_DOUBLE, answered

SCALE = f"""
import builtins, sys
from pathlib import Path

def told():
    ours = double(torch.ones(1)).item() == 2
    return f"{REACHED} {{double.__code__.co_consts}} {{double.__code__.co_code}}" if ours else ""

print(told())
Path("told.txt").write_text(told())
builtins.told = torch.told = told()

class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.told = told()

    def forward(self, x):
        print(told(), file=sys.stderr)
        if told():
            raise type(told(), (ValueError,), {{}})(told())
        raise RuntimeError(getattr(builtins, "told", ""))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE, SCALE)
