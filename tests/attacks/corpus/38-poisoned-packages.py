"""Writes into site-packages, the grader's own package, __pycache__ and caches, for the next process to import.

The installation can be read and not written.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "(Path(torch.__file__).parent / 'poison.py').touch()",
            "(Path(torch.__file__).parents[1] / 'poison.pth').touch()",
            "(Path(torch.__file__).parent / '__pycache__' / 'poison.pyc').touch()",
            "(Path(course.__file__).parent / 'poison.py').touch()",
            "os.utime(course.__file__)",
            "os.chmod(course.__file__, 0o644)",
            "os.open(course.__file__, os.O_RDONLY | os.O_TRUNC)",
            "(Path(grader.__file__).parent / 'poison.py').touch()",
            "(Path(grader.__file__).parent / '__pycache__' / 'poison.pyc').touch()",
            "os.utime(grader.__file__)",
            "os.chmod(grader.__file__, 0o644)",
            "os.open(grader.__file__, os.O_RDONLY | os.O_TRUNC)",
            "(Path(os.__file__).parent / 'poison.py').touch()",
            "(Path.home() / '.cache').mkdir(exist_ok=True); (Path.home() / '.cache' / 'poison').touch()",
            "Path('/tmp/poison').touch()",
            "Path('/dev/shm/poison').touch()",
            setup="import course, grader, os\nfrom pathlib import Path",
        ),
    )
