"""The course's settings, and one call that connects nbgrader to the grader."""

from pathlib import Path

from grader import nbgrader_plugin

c = get_config()  # noqa: F821  (nbgrader provides it)

nbgrader_plugin.configure(c, root=Path(__file__).parent)
c.CourseDirectory.course_id = "attention"
# The package that the notebooks import: data, figures and the explorer.
c.Grader.helper_packages = ["course"]
