"""Prints the environment, as Python and as C see it, and looks for descriptors that were left open.

The fork server starts with an emptied environment, and a sandbox gets one descriptor: the channel.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


LOOK = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(dict(os.environ), libc.getenv(b"ATTACK_TOKEN"))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return instead(released, trying(*(f"os.fstat({number})" for number in range(4, 256)), setup=LOOK))
