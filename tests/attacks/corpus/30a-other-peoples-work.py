"""Reads its neighbours' submissions, autograded notebooks and feedback, the gradebook and /etc/passwd.

Only files of the Python installation and of the working folder can be read.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "print((course / 'submitted' / '30n-ann' / 'attacked' / 'exercises.ipynb').read_text())",
            "print((course / 'autograded' / '30n-ann' / 'attacked' / 'exercises.ipynb').read_text())",
            "print((course / 'feedback' / '30n-ann' / 'attacked' / 'exercises.html').read_text())",
            "print((course / 'gradebook.db').read_bytes())",
            "os.listdir(course / 'submitted')",
            "print(open('/etc/passwd').read())",
            "print(open('/etc/hostname').read())",
            "os.listdir(os.path.expanduser('~'))",
            setup=COURSE,
        ),
    )
