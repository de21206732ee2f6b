"""Returns the very tensor that the test handed over, and changes it later, while the answer is compared.

The processes share no memory: a reply holds a copy of the tensor as it was when it crossed.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

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
