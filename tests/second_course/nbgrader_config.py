"""The settings of a small course with a helper package of its own."""

from pathlib import Path

from grader import nbgrader_plugin

c = get_config()  # noqa: F821  (nbgrader provides it)

nbgrader_plugin.configure(c, root=Path(__file__).parent)
c.CourseDirectory.course_id = "second"
c.Grader.helper_packages = ["tiny_helpers"]
