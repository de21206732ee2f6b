"""Defines how long the driver waits for a cluster. Instructors set it in nbgrader_config.py: c.Cluster.X = 9."""

from traitlets import Integer
from traitlets.config import Config

from grader.classroom.student import Assignment
from grader.commands.shared import with_current_names
from grader.engine.limits import Settings


class Cluster(Settings):
    """How long the driver waits."""

    def __init__(self, config: Config) -> None:
        """Read the settings from a configuration; raise TraitError for a wrong value or a misspelt name."""
        settings = with_current_names(config.get("Cluster", {}), {"patience": "reconnect_seconds"})
        super().__init__(config=Config(Cluster=settings))

    student_seconds = Integer(
        0, min=0,
        help="Seconds that a worker may take for one student. A worker that takes longer is not used again in this "
        "run. 0 stands for twice the limits of the notebooks plus a minute."
    ).tag(config=True)  # fmt: skip
    reconnect_seconds = Integer(
        60, min=1,
        help="Seconds for which the driver waits for a lost scheduler, or for a worker if there are none. Then it "
        "names the students who could not be graded, and ends."
    ).tag(config=True)  # fmt: skip

    def seconds_for(self, assignment: Assignment) -> int:
        """Return the seconds that one student may take."""
        return self.student_seconds or 60 + 2 * assignment.limits.notebook_seconds * len(assignment.sources)
