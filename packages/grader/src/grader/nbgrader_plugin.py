"""Connects nbgrader's own commands and the formgrader to the grader with one call in nbgrader_config.py.

    from grader import nbgrader_plugin
    nbgrader_plugin.configure(c)

Classes are given by name and not imported: nbgrader loads them when it uses them, so the grader's commands, which read
the same configuration, start without them.
"""

from pathlib import Path

from traitlets.config import Config

IGNORED = (
    *(".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "misconceptions", "survivors"),
    *(".graded.json", ".*.results.json"),
)
"""Files and folders beside an assignment's notebooks that only instructors or the grader use."""


def configure(c: Config, root: Path | str | None = None) -> None:
    """Make nbgrader repair, grade and write feedback with the grader.

    Args:
        c: the configuration that nbgrader hands to nbgrader_config.py.
        root: the course folder; by default, nbgrader's own default.
    """
    if root is not None:
        c.CourseDirectory.root = str(Path(root).resolve())
    c.CourseDirectory.ignore = list(IGNORED)

    # After `grader release`, `nbgrader generate_assignment` would find a release, skip the assignment, and register
    # nothing. Nothing in a release is written by hand.
    c.GenerateAssignment.force = True

    # If an instructor adds or removes a cell after grading, the error names the cell and says what to do.
    c.GenerateAssignment.preprocessors.prepend(["grader.classroom.release.CellGuard"])
    # Tests that nbgrader makes of AUTOTEST lines are those that grading runs. In the place of InstantiateTests.
    c.GenerateAssignment.preprocessors.insert(1, "grader.classroom.source.autotests.AutoTests")
    c.InstantiateTests.enabled, c.AutoTests.enabled = False, True
    # Students' notebooks say which exercise a test belongs to. Our solutions decide it, so before ClearSolutions, and
    # before the second ComputeChecksums, the last but one.
    c.GenerateAssignment.preprocessors.insert(2, "grader.classroom.release.KeepExercises")
    c.GenerateAssignment.preprocessors.insert(-2, "grader.classroom.release.PrepareForStudents")

    # nbgrader wants marking schemes in task cells. Here they are in the question's own cell, above the answer, where
    # the formgrader shows them and no student sees them.
    c.ClearMarkScheme.enforce_metadata = False

    # Feedback shows the purpose and the result of a hidden test, never its code. Neither in feedback nor in the
    # formgrader can a submission run a script in a browser, or slow down the rendering of a page.
    c.GenerateFeedback.preprocessors = [
        "grader.classroom.page.feedback.Grades",
        "grader.classroom.page.feedback.HideTests",
        "grader.classroom.page.feedback.HideMarkSchemes",
    ]
    c.GenerateFeedback.exporter_class = "grader.classroom.page.feedback.FeedbackExporter"
    c.HTMLExporter.filters = {
        "markdown2html": "grader.classroom.page.feedback.markdown_of",
        "strip_files_prefix": "grader.classroom.page.feedback.unchanged",
        "highlight_code": "grader.classroom.page.feedback.highlighted",
    }

    # `nbgrader autograde` and the formgrader's button grade as `grader grade` does.
    c.Autograde.exporter_class = "grader.classroom.autograde_plugin.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = ["grader.classroom.autograde_plugin.RepairCells"]
    c.Autograde.autograde_preprocessors = [
        "grader.classroom.autograde_plugin.GradeCells",
        "nbgrader.preprocessors.SaveAutoGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]

    # `nbgrader zip_collect` accepts archives of Canvas and Moodle. A course with plug-ins of its own keeps them.
    c.ZipCollectApp.setdefault("extractor_plugin", "grader.commands.lms.zip_collect.LmsExtractorPlugin")
    c.ZipCollectApp.setdefault("collector_plugin", "grader.commands.lms.zip_collect.LmsCollectorPlugin")

    # The formgrader's debug panel would show the server's token on every page.
    c.FormgradeExtension.debug = False
