"""Edits, deletes and replaces a neighbour's submission.

Nothing outside the working folder can be written, renamed or linked.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "neighbours.write_text('{}')",
            "neighbours.unlink()",
            "neighbours.rename('mine.ipynb')",
            "os.rename('.', neighbours.parent)",
            "os.link(neighbours, 'link')",
            "os.symlink(neighbours, 'link')",
            "os.rmdir(neighbours.parent)",
            "(neighbours.parent / 'new').touch()",
            "os.truncate(neighbours, 0)",
            "import shutil; shutil.copy(neighbours, '.')",
            setup=COURSE + "neighbours = course / 'submitted' / '30n-ann' / 'attacked' / 'exercises.ipynb'",
        ),
    )
