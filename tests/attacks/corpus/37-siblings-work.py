"""Edits, deletes and replaces a neighbour's submission.

Nothing outside the working folder can be written, renamed or linked.
"""

from attacks.build import COURSE, instead, trying
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "theirs.write_text('{}')",
            "theirs.unlink()",
            "theirs.rename('mine.ipynb')",
            "os.rename('.', theirs.parent)",
            "os.link(theirs, 'link')",
            "os.symlink(theirs, 'link')",
            "os.rmdir(theirs.parent)",
            "(theirs.parent / 'new').touch()",
            "os.truncate(theirs, 0)",
            "import shutil; shutil.copy(theirs, '.')",
            setup=COURSE + "theirs = course / 'submitted' / '30n-ann' / 'attacked' / 'exercises.ipynb'",
        ),
    )
