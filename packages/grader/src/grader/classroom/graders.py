"""Defines the graders of a class run: threads on this machine; commands/cluster has those of a cluster.

Assignment --begin-->            Submission --submit--> Future of a StudentResult
"""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Protocol

from grader.classroom.gradebook.rules import RegisteredNotebook
from grader.classroom.page.page_maker import PreviousScores, StudentResult
from grader.classroom.student import Assignment, Submission, grade_submission
from grader.engine.supervisor.pool import side_by_side


class Graders(Protocol):
    """Grades submissions, on this machine or on a cluster."""

    at_once: int
    """Number of submissions to have in progress, so that no grader waits for this process."""
    make_pages: bool
    """Whether the graders make pages, too. Then submissions wait until the gradebook has the assignment."""
    batch_wait: float
    """Seconds that a result may wait for others to share its transaction."""

    @property
    def threads(self) -> Executor | None:
        """The threads that grade on this machine; None if other machines grade."""

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Receive the assignment and its entries in the gradebook; called once."""

    def submit(
        self, assignment: Assignment, submission: Submission, previous: PreviousScores
    ) -> "Future[StudentResult]":
        """Submit a submission; its pages may also depend on the `previous` scores."""

    def close(self) -> None:
        """Stop grading."""


class Threads:
    """Grades on this machine, in threads that each use processes of their own. The main thread makes the pages."""

    make_pages = False
    batch_wait = 0.0

    def __init__(self, jobs: int = 0) -> None:
        threads = side_by_side(jobs)
        self.at_once = 4 * threads
        self.threads = ThreadPoolExecutor(threads)

    def begin(self, assignment: Assignment, notebooks: dict[str, RegisteredNotebook]) -> None:
        """Do nothing: grading has already begun."""

    def submit(
        self, assignment: Assignment, submission: Submission, previous: PreviousScores
    ) -> "Future[StudentResult]":
        """Queue a submission for the next free thread."""
        return self.threads.submit(grade_submission, assignment, submission)

    def close(self) -> None:
        """Wait for running threads, and drop queued submissions."""
        self.threads.shutdown(cancel_futures=True)
