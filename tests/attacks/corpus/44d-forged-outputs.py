"""Answers for every cell with sixteen megabytes of output that was never printed.

The examiner keeps of it no more than a notebook may show.
"""

from attacks.build import answered, appended, wire
from nbformat import NotebookNode

FORGE = wire("""
long = "x" * 6_000_000
flood = [{"output_type": "stream", "text": long}, {"output_type": "display_data", "data": {"text/html": long}}]
said = {"name": "n" * 10**6, "kind": "ValueError", "message": "m" * 10**6, "frames": [["<x>", 1, "l" * 10**5]] * 9}
service.answer = lambda request, packed: ({"done": {"outputs": flood, "raised": said}, "x": 1}, [])
""")


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released, FORGE)
    for _ in range(5):
        hostile = appended(hostile, "pass")
    return hostile
