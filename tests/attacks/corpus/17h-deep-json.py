"""Sends JSON a hundred thousand levels deep, then JSON with a million parts.

The runner bounds depth and size before JSON becomes values.
"""

from nbformat import NotebookNode

from tests.attacks.build import asking, instead, on_channel

EARNS = 5

FORGED = on_channel("""
deep, wide = "[" * 100_000 + "]" * 100_000, "[" + "0," * 10**6 + "0]"
values = [deep, wide, "9" * 5000, "NaN", "[" * 40 + "]" * 40]
texts = [f'[{{"type": "Returned", "value": {value}}}, []]' for value in values]
texts += [f'[{{"type": "CellDone", "outputs": {value}}}, []]' for value in values]
answer_by(lambda request, decoded: raw(texts[number_of(request)].encode()))
""")


def submission(released: NotebookNode) -> NotebookNode:
    return asking(instead(released, FORGED), 10)
