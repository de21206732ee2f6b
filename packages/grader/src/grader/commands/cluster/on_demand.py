"""Grades single submissions on a cluster as they come, for the service; each assignment has a crew of its own.

Submission --Crew of its assignment, made at the first one, and another one if the cluster was lost--> StudentResult
"""

import threading
from collections.abc import Callable

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.page_maker import Earlier, StudentResult
from grader.classroom.release import register
from grader.classroom.student import Assignment, Submission
from grader.commands.cluster.crew import Crew

AT_ONCE = 64
"""Submissions that may be under way; each has a thread here that waits for it."""


class OnDemand:
    """Grades submissions of any assignment; any thread may call it."""

    at_once = AT_ONCE

    def __init__(self, address: str, course_dir: CourseDir, note: Callable[[str], None]) -> None:
        """Make it, without connecting yet.

        Args:
            address: where the scheduler is, or `local:N`.
            course_dir: the course folder.
            note: takes a line about a worker that is not used.
        """
        self._address, self._course_dir, self._note = address, course_dir, note
        self._crews: dict[str, Crew] = {}
        self._lock = threading.Lock()

    def grade(self, assignment: Assignment, submission: Submission) -> StudentResult:
        """Grade a submission, with pages that are made again where the gradebook has marks of a person.

        Args:
            assignment: what it is graded by.
            submission: what was handed in.

        Raises:
            GraderError: no scheduler or no worker could grade it.
        """
        with self._lock:
            crew = self._crew(assignment)
        return crew.submit(assignment, submission, Earlier()).result()

    def close(self) -> None:
        """Leave the cluster."""
        with self._lock:
            for crew in self._crews.values():
                crew.close()
            self._crews.clear()

    def _crew(self, assignment: Assignment) -> Crew:
        crew = self._crews.get(assignment.name)
        if crew is not None and crew.is_over:
            crew.close()
            del self._crews[assignment.name]
            crew = None
        if crew is None:
            register(self._course_dir, assignment.name)
            with GradebookWriter(self._course_dir, assignment.name) as writer:
                notebooks = writer.notebooks()
            crew = Crew(self._address, self._course_dir.config, self._note)
            crew.begin(assignment, notebooks)
            self._crews[assignment.name] = crew
        return crew
