"""Names the error of everything that keeps the book from being built."""


class BookError(Exception):
    """The book cannot be built; the message says why and what to do."""
