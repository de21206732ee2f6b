"""The settings of a small course: one call connects nbgrader to the grader."""

from pathlib import Path

from grader import nbgrader_plugin

c = get_config()  # noqa: F821  (nbgrader provides it)

nbgrader_plugin.configure(c, root=Path(__file__).parent)
c.CourseDirectory.course_id = "tiny"
# One of the three answers never returns. Ten seconds, the default, would make this example slow.
c.Limits.cell_seconds = 3
