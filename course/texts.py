"""Reads the book that the package ships, for the notebooks in which a network learns to write.

    course/alice.txt  ->  text

Nothing is downloaded.
"""

from importlib.resources import files


def alice() -> str:
    """Return *Alice's Adventures in Wonderland* by Lewis Carroll (1865), chapters I to XII.

    The book is in the public domain. The text is that of Project Gutenberg (ebook 11), without what was added there;
    each paragraph is one line.
    """
    return files("course").joinpath("alice.txt").read_text(encoding="utf-8")
