"""Reads every notebook in the working folder, above it and in the course folder.

The working folder is empty and private, and no folder above it can be listed or read.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

STARRED = True
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "print([path.read_text() for path in Path('.').rglob('*.ipynb')][0])",
            "print([path.read_text() for path in course.rglob('*.ipynb')][0])",
            "print((course / 'source' / 'attacked' / 'exercises.ipynb').read_text())",
            "print((course / 'nbgrader_config.py').read_text())",
            "os.listdir(course)",
            "os.listdir('..')",
            "os.listdir('/')",
            setup=COURSE,
        ),
    )
