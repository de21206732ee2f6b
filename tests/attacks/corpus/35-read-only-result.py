"""Replaces the grader's result by its own and makes it read-only; changes modes, owners, times and attributes.

Neither the content nor the metadata of files outside can be changed.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "(course / 'autograded').mkdir()",
            "(course / 'autograded' / 'x.ipynb').write_text('{}')",
            "os.makedirs(course / 'autograded' / '35-read-only-result' / 'attacked')",
            "os.chmod(course / 'gradebook.db', 0o444)",
            "os.chmod(course / 'autograded', 0o555)",
            "os.chmod(course, 0o000)",
            "os.chmod('..', 0o000)",
            "os.fchmod(os.open(course, os.O_PATH), 0o777)",
            "os.chown(course / 'gradebook.db', 1, 1)",
            "os.lchown(course / 'gradebook.db', 1, 1)",
            "os.utime(course / 'gradebook.db', (0, 0))",
            "os.utime(course / 'source', (0, 0))",
            "os.setxattr(course / 'gradebook.db', 'user.mark', b'full')",
            "os.setxattr(course / 'gradebook.db', 'trusted.mark', b'full')",
            setup=COURSE,
        ),
    )
