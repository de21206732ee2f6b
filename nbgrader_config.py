"""The course's settings, and one call that connects nbgrader to the grader."""

from pathlib import Path

from grader import nbgrader_plugin

c = get_config()  # noqa: F821  (nbgrader provides it)

nbgrader_plugin.configure(c, root=Path(__file__).parent)
c.CourseDirectory.course_id = "attention"
# For students with accounts of their own, name a folder that all of them can reach and write to.
c.Exchange.root = str(Path(__file__).parent / "exchange")
# The package that the notebooks import: data, figures and widgets.
c.Grader.helper_packages = ["course"]
c.Grader.right_answers = "tests/correct_answers"
# Students write in place of this box. Its text has the page's own colour, so it can be read on light and dark pages.
c.ClearSolutions.text_stub = """\
<div style="border: 3px solid #e8710a; padding: 0 1em">

**YOUR ANSWER HERE.** Double-click this box, and write your answer in its place.

</div>"""
