"""Asks the course's plugin of nbgrader for late submissions what it takes off."""

import inspect
import re
from contextlib import suppress
from types import FunctionType

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""The part of a `repr` that differs in each process."""


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

    @property
    def setting(self) -> str:
        """The setting that names the rule, with its value."""
        plugin = type(self._plugin)
        if plugin is LateSubmissionPlugin:
            return f"c.LateSubmissionPlugin.penalty_method = {self._plugin.penalty_method!r}"
        return f"c.AssignLatePenalties.plugin_class = {plugin.__name__}"

    @property
    def rule(self) -> str:
        """Everything that penalties depend on: the plugin, its settings, and its code if it is the course's own."""
        settings = ADDRESS.sub("", repr(sorted(self._plugin.trait_values(config=True).items())))
        code = []
        for each in type(self._plugin).__mro__:
            if each is LateSubmissionPlugin:
                break
            for function in vars(each).values():
                with suppress(OSError, TypeError):  # its file is gone
                    code += [inspect.getsource(function)] if isinstance(function, FunctionType) else []
        return f"{self.setting} {settings} {''.join(code)}"
