"""The book that a notebook learns from."""

from course import texts


def test_the_book_is_whole_and_nothing_was_added() -> None:
    """It has twelve chapters, begins and ends as the author wrote it, and says nothing about ebooks."""
    book = texts.alice()
    assert [f"CHAPTER {number}." in book for number in "I II III IV V VI VII VIII IX X XI XII".split()] == [True] * 12
    assert "Alice was beginning to get very tired of sitting by her sister on the bank" in book
    assert book.rstrip().endswith("remembering her own child-life, and the happy summer days.")
    assert not any(word in book for word in ("Gutenberg", "ebook", "eBook", "License", "\r", "\t"))
    assert 100_000 < len(book.encode()) < 200_000  # a wheel for students stays small
