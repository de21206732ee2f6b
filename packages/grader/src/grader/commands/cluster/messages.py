"""Defines the messages between the driver and a worker, and checks the replies.

AssignmentBundle: the assignment, once for each worker          Task: one student's bytes and earlier marks
Reply: reports, autograded notebooks, pages --checked--> StudentResult
"""

import hashlib
import pickle
import sys
import zlib
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import cloudpickle  # type: ignore[import-untyped]
import msgspec
from traitlets.config import Config

from grader.classroom.gradebook.rules import RegisteredNotebook
from grader.classroom.page.page_maker import GradedNotebook, PreviousScores, StudentResult, page_config
from grader.classroom.student import Assignment, Submission
from grader.engine.code_digest import LIBRARIES, grader_digest
from grader.engine.limits import Limits
from grader.engine.notebook.plan import Role, plan
from grader.engine.report import Report
from grader.errors import GraderError
from grader.text import DISTRIBUTION

MAX_TEXT_MB = 64
"""Maximum MiB of an autograded notebook or a page; the limits of a notebook allow far less."""


class BadReply(Exception):
    """A worker's reply is not a complete result of its submission."""


@dataclass(frozen=True, eq=False)
class AssignmentBundle:
    """Everything that workers need to grade: the assignment, its notebooks in the gradebook, and settings of pages."""

    assignment: Assignment
    notebooks: dict[str, RegisteredNotebook]
    config: Config

    @classmethod
    def of(cls, assignment: Assignment, notebooks: dict[str, RegisteredNotebook], config: Config) -> "AssignmentBundle":
        """Return the bundle of an assignment. It has only part of the configuration, which may hold passwords."""
        limits = Limits(**assignment.limits.trait_values(config=True))
        return cls(replace(assignment, limits=limits, texts={}), notebooks, page_config(config))

    def packed(self) -> bytes:
        """Return the bundle as bytes; raise GraderError if a setting of the course cannot be pickled."""
        try:
            return zlib.compress(cloudpickle.dumps(self))
        except Exception as error:
            raise GraderError(
                f"the course's settings cannot be sent to workers ({type(error).__name__}: {error}): in "
                "nbgrader_config.py, use plain values and functions for settings of pages"
            ) from error

    @cache  # noqa: B019  # a run has one bundle
    def tests(self, name: str) -> set[str]:
        """Return the grade_ids of the tests of a notebook."""
        return {step.name for step in plan(self.assignment.sources[name]) if step.role is Role.TEST}


def unpacked(data: bytes) -> AssignmentBundle:
    """Return the bundle that the driver packed."""
    bundle: AssignmentBundle = pickle.loads(zlib.decompress(data))
    return bundle


def key_of(data: bytes) -> str:
    """Return the key by which a worker knows a packed bundle."""
    return hashlib.sha256(data).hexdigest()


class Requirements(msgspec.Struct, frozen=True):
    """Requirements for grading as the driver would: the same code and libraries, and confinement if required.

    `versions` are those of the driver, for the message about a difference.
    """

    digest: str
    versions: dict[str, str]
    helper_packages: tuple[str, ...]
    sandbox: bool

    @classmethod
    def of(cls, helper_packages: tuple[str, ...], *, sandbox: bool) -> "Requirements":
        """Return the requirements that this process meets."""
        return cls(grader_digest(helper_packages), versions(), helper_packages, sandbox)

    def missing(self) -> str:
        """Return why this process cannot stand in for the driver, or ''."""
        if grader_digest(self.helper_packages) == self.digest:
            return ""
        here = versions()
        others = [
            f"{name} {here.get(name, 'is missing')} and not {wanted}"
            for name, wanted in self.versions.items()
            if here.get(name) != wanted
        ]
        what = ", ".join(others) or "other files of " + " or ".join(("grader", *self.helper_packages))
        return f"it has {what}: install the driver's versions on it"


def versions() -> dict[str, str]:
    """Return the versions of Python, of the grader and of the libraries on which scores depend."""
    found = {"Python": sys.version.split()[0]}
    for name in (DISTRIBUTION, *LIBRARIES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


class Task(msgspec.Struct):
    """One submission to grade; `bundle` is the key of its assignment's bundle."""

    bundle: str
    student: str
    digest: str
    notebooks: dict[str, bytes]
    places: dict[str, str]
    previous: PreviousScores
    files: dict[str, bytes] = {}


class Reply(msgspec.Struct):
    """The answer to a task. `error` is why it could not be graded, `is_unusable` true if the worker is the cause."""

    student: str
    digest: str
    reports: dict[str, Report] = {}
    graded: dict[str, GradedNotebook] = {}
    unread: dict[str, str] = {}
    errors: list[str] = []
    notices: list[str] = []
    error: str = ""
    is_unusable: bool = False

    @classmethod
    def of(cls, task: Task, result: StudentResult) -> "Reply":
        """Return a finished result as a reply, without the outputs, which are in the notebooks."""
        reports = {name: replace(report, outputs={}) for name, report in result.reports.items()}
        return cls(task.student, task.digest, reports, result.graded, result.unread, result.errors, result.notices)

    def checked(self, submission: Submission, bundle: AssignmentBundle) -> StudentResult:
        """Return the result in this reply.

        Args:
            submission: the submission of the task.
            bundle: the assignment.

        Raises:
            BadReply: this is not a complete result of that submission.
        """
        if (self.student, self.digest) != (submission.student, submission.digest):
            raise BadReply("it answered about another submission")
        if self.graded.keys() != self.reports.keys() or self.graded.keys() - submission.notebooks.keys():
            raise BadReply("it graded other notebooks")
        for name in submission.notebooks.keys() - self.graded.keys():
            if name not in self.unread:
                raise BadReply(f"it says nothing of {name}")
        for name, graded in self.graded.items():
            limits, tests = dict(bundle.notebooks[name].graded.values()), graded.record.tests
            if {test.name for test in tests} != bundle.tests(name):
                raise BadReply(f"it graded other tests of {name}")
            if not all(0 <= test.points <= limits[test.name].max_points for test in tests):  # NaN is in no range
                raise BadReply(f"it gave impossible points in {name}")
            texts = graded.text, graded.record.encoded(), graded.page
            if not graded.page or max(map(len, texts)) > MAX_TEXT_MB * 2**20:
                raise BadReply(f"it sent no page of {name}, or too long a text")
        errors, notices = [*submission.errors, *self.errors], [*submission.notices, *self.notices]
        unread = submission.unread | self.unread
        return StudentResult(submission.student, self.reports, {}, self.graded, unread, errors, notices)


encoded = msgspec.msgpack.Encoder().encode
"""Encodes what travels."""
decoded_requirements = msgspec.msgpack.Decoder(Requirements).decode
decoded_task = msgspec.msgpack.Decoder(Task).decode
decoded_reply = msgspec.msgpack.Decoder(Reply).decode
"""Decodes a reply, and raises msgspec.ValidationError if a value has another type."""
