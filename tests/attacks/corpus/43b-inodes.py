"""Makes empty files for ever, until the disk has no inodes.

The parent counts files and folders, too.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import itertools, os
        for number in itertools.count():
            if number % 1000 == 0:
                os.mkdir(f"{number}")
            os.close(os.open(f"{number // 1000 * 1000}/{number}", os.O_CREAT | os.O_WRONLY))
        """,
    )
