"""HTML of a submission is harmless, and takes nobody's time."""

from course.grading import sanitize
from course.grading.feedback import highlighted
from course.grading.patience import at_most


def test_a_pasted_picture_is_left_out():
    """Its data lies beside the text; the rest of the cell is shown."""
    shown = sanitize.markdown("before ![image.png](attachment:image.png) after")
    assert "before" in shown and "after" in shown and "attachment" not in shown


def test_tags_without_end_are_shown_as_text():
    """To nest twenty thousand of them would take minutes."""
    for text in (
        sanitize.markdown("<div>" * 9_000),
        sanitize.markdown("a" * 60_000),
        sanitize.html("<ul><li>" * 4_000),
    ):
        assert text.startswith("<pre>") and "<div" not in text
    assert sanitize.html("<b>bold</b>") == "<b>bold</b>"


def test_nothing_of_a_submission_is_taken_for_a_part_of_the_page():
    """The formgrader gives full credit where something of the class of its button is clicked, and finds cells by id."""
    cheat = (
        '<div class="nbgrader_cell"><span id="scale-check" name="cookie"><b class="full-credit fade">.</b></span></div>'
    )
    assert sanitize.html(cheat) == "<div><span><b>.</b></span></div>" and "class" not in sanitize.markdown(cheat)
    assert sanitize.html('<span class="kn">import</span>') == '<span class="kn">import</span>'


def test_what_takes_long_to_render_is_shown_as_text():
    """Thousands of spaces before a bracket, of attributes in a tag, of lines that hold a space: none takes a second."""
    attributes = " ".join(f"a{number}=''" for number in range(27_000))
    with at_most(10):
        assert sanitize.html(f"<b {attributes}>bold</b>").startswith("<pre>")
        assert "x" in sanitize.markdown("x" + " " * 40_000 + "x]")
        assert "y" in highlighted(" \n" * 8_000 + "y = 2") and highlighted("a=1;" * 100_000).startswith("<pre>")
