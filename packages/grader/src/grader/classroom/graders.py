"""Defines where a class run has its submissions graded: in threads on this machine; commands/cluster has another place.

Assignment --begin-->            Submission --submit--> Future of a StudentResult
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from grader.classroom.gradebook.rules import RegisteredNotebook
from grader.classroom.page.page_maker import PreviousScores, StudentResult
from grader.classroom.student import Assignment, Submission, grade_submission
from grader.engine.supervisor.pool import side_by_side


class Graders(Protocol):
    """Where submissions are graded: on this machine, or on a cluster."""

    at_once: int
    """How many submissions may be under way, so that no grader waits for this process."""
    make_pages: bool
    """Whether pages are made there too. For that, submissions wait until the gradebook has the assignment."""
    batch_wait: float
    """Seconds for which a result may wait for others, to be written with them in one transaction."""

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Take an assignment, and what the gradebook has of it; called once."""

    def submit(
        self, assignment: Assignment, submission: Submission, previous: PreviousScores
    ) -> "Future[StudentResult]":
        """Have a submission graded; `previous` is what its pages may also depend on."""

    def close(self) -> None:
        """Grade nothing more."""


class Threads:
    """Grades on this machine, in threads that each use processes of their own. The main thread makes the pages."""

    make_pages = False
    batch_wait = 0.0

    def __init__(self, jobs: int = 0) -> None:
        threads = side_by_side(jobs)
        self.at_once = 4 * threads
        self._pool = ThreadPoolExecutor(threads)

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Do nothing: grading has begun before."""

    def submit(
        self, assignment: Assignment, submission: Submission, previous: PreviousScores
    ) -> "Future[StudentResult]":
        """Have a submission graded by the next thread that is free."""
        return self._pool.submit(grade_submission, assignment, submission)

    def close(self) -> None:
        """Wait for what is being graded, and end the threads."""
        self._pool.shutdown(cancel_futures=True)
