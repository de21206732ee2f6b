"""Grades single submissions on a cluster for the service; each assignment has its own graders.

Submission --DaskGraders of its assignment, replaced if the cluster was lost--> StudentResult
"""

import threading
from collections.abc import Callable

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.page_maker import PreviousScores, StudentResult
from grader.classroom.release import register
from grader.classroom.student import Assignment, Submission
from grader.commands.cluster.dask_graders import DaskGraders

AT_ONCE = 64
"""Submissions in progress; a thread waits for each."""


class SubmissionGrader:
    """Grades submissions of any assignment; all methods are thread-safe."""

    at_once = AT_ONCE

    def __init__(self, address: str, course_dir: CourseDir, note: Callable[[str], None]) -> None:
        """Create a grader that connects at the first submission.

        Args:
            address: the address of the scheduler, or `local:N`.
            course_dir: the course folder.
            note: prints a line about a worker that is not used.
        """
        self._address, self._course_dir, self._note = address, course_dir, note
        self._graders: dict[str, DaskGraders] = {}
        self._lock = threading.Lock()

    def grade(self, assignment: Assignment, submission: Submission) -> StudentResult:
        """Grade a submission. The writer replaces its pages if a person has marked it.

        Args:
            assignment: the assignment.
            submission: the submission.

        Raises:
            GraderError: no scheduler or worker could grade it.
        """
        with self._lock:
            graders = self._graders.get(assignment.name)
            if graders is None or graders.is_over:
                graders = self._connect(assignment)
        return graders.submit(assignment, submission, PreviousScores()).result()

    def close(self) -> None:
        """Disconnect from the cluster."""
        with self._lock:
            for graders in self._graders.values():
                graders.close()
            self._graders.clear()

    def _connect(self, assignment: Assignment) -> DaskGraders:
        if assignment.name in self._graders:
            self._graders.pop(assignment.name).close()
        register(self._course_dir, assignment.name)
        with GradebookWriter(self._course_dir, assignment.name) as writer:
            notebooks = writer.notebooks()
        graders = DaskGraders(self._address, self._course_dir.config, self._note)
        graders.begin(assignment, notebooks)
        self._graders[assignment.name] = graders
        return graders
