"""Builds the book once, for all tests that look at it."""

from tests.support.book import address, book

__all__ = ["address", "book"]
