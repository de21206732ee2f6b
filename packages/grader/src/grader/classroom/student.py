"""Grades one student, for the class run, the service and a worker of a cluster alike.

    folder --read_submission--> Submission: the bytes of the notebooks, errors and notices
    Submission --parse, repair, grade--> StudentResult: reports, notebooks, errors, notices

A submission and its assignment are all that grading needs, so it works without the course folder.
"""

import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime

from nbformat import NotebookNode
from nbgrader.utils import parse_utc

from grader.classroom.course_dir import CourseDir
from grader.classroom.page.autograded import put_place
from grader.classroom.page.page_maker import StudentResult
from grader.classroom.release import chooser_of
from grader.classroom.source.assignment_files import assignment_files
from grader.classroom.source.sources import instantiated, raw_text
from grader.classroom.submitted.choice import Chooser
from grader.classroom.submitted.file_choice import find_files, listed
from grader.classroom.submitted.helper_files import helper_files
from grader.classroom.submitted.times import notebook_times
from grader.engine.diagnosis.misconceptions import Misconception, load
from grader.engine.explanation import Ending
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.notebook.folder import files as notebook_files
from grader.engine.notebook.folder.assignment_files import AssignmentFiles
from grader.engine.notebook.folder.submission_folder import SubmissionFolder
from grader.engine.notebook.repair import repair
from grader.engine.supervisor.parsers import parse
from grader.errors import UnreadableFile
from grader.text import command_line, printable

TIMESTAMP = "timestamp.txt"
MAX_RECEIPT_MB = 1
MAX_IGNORED = 20
"""Number of ignored files that are named."""
MAX_PATH = 300
"""Characters of the path of a file that are shown."""
MAX_TIME = 100
"""Characters of a time: parsing a longer text may take seconds."""


@dataclass(frozen=True)
class Assignment:
    """The instructors' notebooks of an assignment, by name, the files beside them, and the settings to grade with.

    `texts` are the notebooks as they are in source/: students are graded again if one of them changes. `unsound` are
    the tests that our own solution fails, with the reason, by notebook; source/student_zero.py finds them.
    """

    name: str
    sources: dict[str, NotebookNode]
    texts: dict[str, str]
    limits: Limits
    sandbox: bool
    misconceptions: list[Misconception]
    helper_packages: tuple[str, ...]
    chooser: Chooser
    files: AssignmentFiles = field(default_factory=AssignmentFiles)
    unsound: dict[str, dict[str, Ending]] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """The notebooks that one student handed in, as they were when they were read.

    `notebooks` are the bytes of each notebook, and `places` the paths of those that have another name than expected;
    `errors` and `notices` explain why others are missing, and `unread` tells the student. `files` are those beside the
    notebooks that their code names. `digest` identifies all files that the scores depend on.
    """

    student: str
    digest: str
    notebooks: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The total size of the notebooks and files in bytes."""
        return sum(map(len, (*self.notebooks.values(), *self.files.values())))


def load_assignment(course_dir: CourseDir, assignment: str, *, sandbox: bool) -> Assignment:
    """Read the notebooks and settings that an assignment is graded with.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        sandbox: whether the kernel confines student code.

    Raises:
        GraderError: there is no such assignment, one of its notebooks is broken, or its files are too large.
    """
    limits = Limits(config=course_dir.config)
    folder, config = course_dir.require(assignment), course_dir.config
    raw = notebook_files.read_sources(folder, limits.notebook_mb)
    sources = {name: instantiated(source, folder / f"{name}.ipynb", config) for name, source in raw.items()}
    texts = {name: raw_text(source, folder, config) for name, source in raw.items()}
    misconceptions = load(course_dir.folder("source", assignment))
    chooser, packages = chooser_of(sources, config), course_dir.helper_packages
    files = assignment_files(folder, course_dir.directory.ignore, limits)
    return Assignment(assignment, sources, texts, limits, sandbox, misconceptions, packages, chooser, files)


def read_submission(assignment: Assignment, student: str, handed_in: SubmissionFolder) -> Submission:
    """Read a student's notebooks. Unreadable files become errors, missing ones notices.

    Args:
        assignment: the assignment.
        student: the student's name.
        handed_in: the folder of the submission.

    Raises:
        OSError: the folder cannot be listed.
    """

    def opens(archive: str) -> str:
        path = os.path.relpath(handed_in.path / archive)
        words = ("grader", "import", path, "--assignment", assignment.name, "--student", student)
        return f"run {command_line(words)}"

    found = find_files(assignment.chooser, handed_in, assignment.limits.notebook_mb, opens)
    digest = hashlib.sha256(found.digest.encode())
    try:
        digest.update(handed_in.read(TIMESTAMP, assignment.limits.notebook_mb))
    except UnreadableFile as error:
        digest.update(str(error).encode())
    if times := notebook_times(handed_in, assignment.limits.notebook_mb):
        digest.update(repr(sorted(times.items())).encode())
    taken = [
        f"{name} was graded from {path!r}, because {name}.ipynb {found.why[name]}"
        for name, path in found.places.items()
    ]
    notices = [*taken, *found.notices]
    places = {name: printable(path, MAX_PATH) for name, path in found.places.items()}
    files = dict[str, bytes]()
    if found.notebooks:
        contents = found.notebooks.values()
        files, left_out = helper_files(
            handed_in, contents, assignment.limits, assignment.helper_packages, assignment.files
        )
        notices += left_out
    ignored = [path for path in found.ignored if path not in files and not assignment.files.hides(path)]
    if ignored and not found.notebooks:
        found.errors.append(f"{listed(ignored, MAX_IGNORED)} cannot be graded: ask the student for the notebooks")
    elif ignored:
        notices.append(f"ignored, because no notebook's code names it: {listed(ignored, MAX_IGNORED)}")
    for file, content in files.items():
        digest.update(f"{file} {len(content)} ".encode() + content)
    return Submission(student, digest.hexdigest(), found.notebooks, places, found.errors, notices, found.unread, files)


def parsed_time(text: str) -> datetime:
    """Parse a time into UTC without a zone; raise ValueError if the text is not a time."""
    if len(text) > MAX_TIME:
        raise ValueError("too long")
    try:
        time: datetime = parse_utc(text)
    except Exception as error:  # whatever dateutil raises for a text that is not a time
        raise ValueError(str(error)) from None
    return time


def submission_time(handed_in: SubmissionFolder) -> datetime | None:
    """Return the time of a submission in UTC without a zone; None if its timestamp is missing or empty.

    Raises:
        UnreadableFile: its timestamp is not a regular file, or is behind a link.
        ValueError: its timestamp is not a time.
        OSError: the folder cannot be listed.
    """
    if not handed_in.has(TIMESTAMP):
        return None
    text = handed_in.read(TIMESTAMP, MAX_RECEIPT_MB).decode().strip()
    return parsed_time(text) if text else None


def grade_submission(assignment: Assignment, submission: Submission) -> StudentResult:
    """Grade a submission, in any thread.

    Args:
        assignment: the assignment.
        submission: the submission.

    Raises:
        SandboxUnavailable: student code could not be confined.
    """
    result = StudentResult(
        submission.student, unread={**submission.unread}, errors=[*submission.errors], notices=[*submission.notices]
    )
    for name, content in submission.notebooks.items():
        try:
            notebook = parse(content, f"{name}.ipynb")
        except UnreadableFile as error:
            result.errors.append(str(error))
            result.unread[name] = error.to_student
        else:
            _grade_notebook(assignment, name, notebook, submission, result)
    return result


def _grade_notebook(
    assignment: Assignment,
    name: str,
    notebook: NotebookNode,
    submission: Submission,
    student_result: StudentResult,
) -> None:
    """Grade one notebook of a submission and add the outcome to a student's result."""
    submitted = repair(assignment.sources[name], notebook)
    if place := submission.places.get(name, ""):
        put_place(submitted.notebook, place)
    report = grade(
        assignment.sources[name],
        submitted,
        assignment.limits,
        sandbox=assignment.sandbox,
        misconceptions=assignment.misconceptions,
        helper_packages=assignment.helper_packages,
        files=submission.files,
        assignment_files=assignment.files,
        unsound=assignment.unsound.get(name),
    )
    report.require_confined()
    student_result.reports[name], student_result.notebooks[name] = report, submitted.notebook
    if report.given_up:
        student_result.errors.append(
            f"grading {name} did not finish, so its tests give no points: grade it again with --force"
        )
    if report.repairs:
        student_result.notices.append(repaired(len(report.repairs), name))
    if any(each.is_about_text for each in report.repairs):
        student_result.notices.append(kept_text(name))


def repaired(cells: int, notebook: str) -> str:
    """Return the notice about a number of repaired cells in a notebook."""
    return f"{'a cell was' if cells == 1 else f'{cells} cells were'} repaired in {notebook}"


def kept_text(notebook: str) -> str:
    """Return the notice about text in other cells of a notebook than it should be."""
    return f"text in the wrong cells of {notebook} was kept"
