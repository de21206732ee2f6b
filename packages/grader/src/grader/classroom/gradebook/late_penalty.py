"""Asks the course's plugin of nbgrader for late submissions what it takes off."""

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config


class LatePenalty:
    """The plugin for late submissions that a configuration names.

    Args:
        config: the course's configuration.
    """

    def __init__(self, config: Config) -> None:
        penalties = AssignLatePenalties(config=config)
        self._plugin: LateSubmissionPlugin = penalties.plugin_class(parent=penalties)

    def of(self, student: str, points: float, seconds: float) -> float | None:
        """Return the penalty of a notebook, at most its points; None if the plugin returns None or nothing is late.

        Args:
            student: the student's name.
            points: the points without a penalty.
            seconds: how late it is.
        """
        penalty = self._plugin.late_submission_penalty(student, points, seconds) if seconds else None
        return None if penalty is None else min(max(penalty, 0.0), points)
