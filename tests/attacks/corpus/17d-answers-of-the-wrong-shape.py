"""Sends JSON that the protocol does not define, and messages of the protocol that lie.

Each costs one test or cell. The runner goes on, and earlier points stay.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, WRONG_SCALE, answered, asking, on_channel
from tests.attacks.replies import LIES, ODD

EARNS = 5

REPLIES = [reply for reply in (*ODD.values(), *LIES.values()) if len(reply) < 5_000][::4]
"""A part of them: every one that breaks the protocol costs a sandbox. test_forged_answers.py sends them all."""


def submission(released: NotebookNode) -> NotebookNode:
    wrong = on_channel(f"answer_by(lambda request, decoded: {REPLIES!r}[number_of(request)])")
    return asking(answered(released, RIGHT_DOUBLE, WRONG_SCALE + wrong), len(REPLIES))
