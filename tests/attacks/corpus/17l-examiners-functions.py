"""Calls back functions that no test handed over, for ever.

The runner checks the number of a function, and the deadline of the cell holds while it answers.
"""

from nbformat import NotebookNode

from tests.attacks.build import asking, instead, on_channel

EARNS = 5

FORGED = on_channel("""
import itertools
functions = [0, 1, 10**9, -1, "__import__"]

def ask(request, decoded):
    for place in itertools.count(number_of(request)):
        call = {"tuple": [{"tuple": ["__import__", "os"]}, {"dict": []}]}
        line.sendall(odd({"type": "Callback", "function": functions[place % 5], "call": call}))
        try:
            channel.receive()
        except message.ProtocolError:
            pass

answer_by(ask)
""")


def submission(released: NotebookNode) -> NotebookNode:
    return asking(instead(released, FORGED), 5)
