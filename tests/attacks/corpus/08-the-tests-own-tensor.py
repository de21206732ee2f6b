"""Returns the very tensor that the test handed over, and changes it later, when the answer is compared.

Nothing is shared: what crosses is a copy at the time it crosses.
"""

from attacks.build import answered
from nbformat import NotebookNode

LATER = """
import threading, time

def double(x):
    if isinstance(x, torch.Tensor):
        def later():
            for _ in range(100):
                x.data.zero_()
                time.sleep(0.001)
        threading.Thread(target=later, daemon=True).start()
    return x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, LATER)
