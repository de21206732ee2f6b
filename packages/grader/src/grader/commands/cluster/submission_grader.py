"""Grades single submissions on a cluster as they come, for the service; each assignment has graders of its own.

Submission --DaskGraders of its assignment, replaced if the cluster was lost--> StudentResult
"""

import threading
from collections.abc import Callable

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.page_maker import Earlier, StudentResult
from grader.classroom.release import register
from grader.classroom.student import Assignment, Submission
from grader.commands.cluster.dask_graders import DaskGraders

AT_ONCE = 64
"""Submissions that may be under way; each has a thread here that waits for it."""


class SubmissionGrader:
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
        self._graders: dict[str, DaskGraders] = {}
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
            graders = self._graders_of(assignment)
        return graders.submit(assignment, submission, Earlier()).result()

    def close(self) -> None:
        """Leave the cluster."""
        with self._lock:
            for graders in self._graders.values():
                graders.close()
            self._graders.clear()

    def _graders_of(self, assignment: Assignment) -> DaskGraders:
        graders = self._graders.get(assignment.name)
        if graders is not None and graders.is_over:
            graders.close()
            del self._graders[assignment.name]
            graders = None
        if graders is None:
            register(self._course_dir, assignment.name)
            with GradebookWriter(self._course_dir, assignment.name) as writer:
                notebooks = writer.notebooks()
            graders = DaskGraders(self._address, self._course_dir.config, self._note)
            graders.begin(assignment, notebooks)
            self._graders[assignment.name] = graders
        return graders
