"""Says what scores depend on besides submissions: whom to grade again, and whose numbers are older than the course.

source/, limits, due dates, rule for late work --Inputs.basis--> Basis of each student
Basis + submission --digest--> completion marker: `grader grade` grades a student again if it differs
Basis in the record of a graded notebook --outdated--> students whose points are by something that has changed
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.reader import Ledger
from grader.classroom.gradebook.rules import due_for
from grader.classroom.page.result_files import read_basis
from grader.classroom.source.basis import Basis, Part, named
from grader.classroom.student import Assignment, load_assignment
from grader.engine.code_digest import engine_digest
from grader.errors import GraderError
from grader.text import plural, some_names


@dataclass(frozen=True)
class Inputs:
    """What scores depend on besides the submission, in an assignment and in the extensions of students.

    The due date and the rule for late work count because of penalties.
    """

    common: Basis
    late_rule: str
    due: datetime | None
    extensions: Mapping[str, timedelta]

    @classmethod
    def of(
        cls, assignment: Assignment, config: Config, due: datetime | None, extensions: Mapping[str, timedelta]
    ) -> "Inputs":
        """Return the inputs of an assignment.

        Args:
            assignment: the assignment, as it was loaded.
            config: the configuration of the course.
            due: the due date in the gradebook, in UTC.
            extensions: those of students, by name.
        """
        notebooks = [*assignment.texts.items(), assignment.files.digest if assignment.files.contents else ""]
        common = Basis(
            notebooks=_digest(notebooks),
            limits=_digest(sorted(assignment.limits.trait_values(config=True).items())),
            late="",
            mistakes=_digest(assignment.misconceptions),
            grader=engine_digest(assignment.helper_packages),
        )
        return cls(common, LatePenalty(config).rule, due, extensions)

    @classmethod
    def of_ledger(cls, assignment: Assignment, config: Config, ledger: Ledger) -> "Inputs":
        """Return the inputs of an assignment with the due dates of a ledger."""
        scores = (*ledger.by_student.values(), *ledger.pending.values())
        extensions = {each.student: each.extension for each in scores if each.extension}
        return cls.of(assignment, config, ledger.due, extensions)

    def basis(self, student: str) -> Basis:
        """Return what a student's scores depend on besides the submission."""
        until = due_for(self.due, self.extensions.get(student))
        common = self.common
        # Without a due date nothing is late, whatever the rule is.
        late = _digest((until, self.late_rule)) if until else ""
        return Basis(common.notebooks, common.limits, late, common.mistakes, common.grader)

    def digest(self, student: str, submission: str) -> str:
        """Return a digest of everything that one student's scores depend on.

        Args:
            student: the student's name.
            submission: the digest of the submission.
        """
        return _digest((self.basis(student), submission))


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode(errors="replace")).hexdigest()


def mark_outdated(course_dir: CourseDir, ledger: Ledger, assignment: Assignment) -> None:
    """Set `outdated` of the scores in a ledger that were given before something changed.

    Points that the grader did not give, or an earlier version of it that kept no basis, count as up to date.

    Args:
        course_dir: the course folder.
        ledger: the assignment in the gradebook.
        assignment: the assignment in source/ as it is now.
    """
    inputs = Inputs.of_ledger(assignment, course_dir.config, ledger)
    for student, score in ledger.by_student.items():
        folder, now = course_dir.folder("autograded", ledger.assignment, student), inputs.basis(student)
        is_late = bool(score.seconds_late or score.total.penalty)
        given = filter(None, (read_basis(folder, notebook) for notebook in score.notebooks))
        score.outdated = frozenset(part for basis in given for part in basis.changed(now, is_late=is_late))


def marked_outdated(course_dir: CourseDir, ledger: Ledger) -> str:
    """Set `outdated` as `mark_outdated` does, where scores are shown whatever became of `source/`.

    Args:
        course_dir: the course folder.
        ledger: the assignment in the gradebook.

    Returns:
        A sentence why it is not known; '' if it is, or if source/ has no such assignment.
    """
    if ledger.assignment not in course_dir.assignments():
        return ""
    try:
        mark_outdated(course_dir, ledger, load_assignment(course_dir, ledger.assignment, sandbox=True))
    except GraderError as error:
        return f"whether points of {ledger.assignment} are older than source/ is not known, because of it: {error}"
    return ""


def outdated_in(ledger: Ledger, students: Collection[str] | None = None) -> str:
    """Return the sentence on those students of a marked ledger whose scores are outdated; '' if there are none.

    Args:
        ledger: the ledger.
        students: the students to consider, by default all.
    """
    older = {name: score.outdated for name, score in ledger.by_student.items() if score.outdated}
    if students is not None:
        older = {name: changed for name, changed in older.items() if name in students}
    changed = {part for each in older.values() for part in each}
    return outdated_sentence(ledger.assignment, older, changed) if older else ""


def outdated_sentence(assignment: str, students: Collection[str], changed: Iterable[Part]) -> str:
    """Return the sentence that some students were graded before something changed, and what to do.

    Args:
        assignment: the assignment's name.
        students: the students, at least one.
        changed: what has changed.
    """
    return (
        f"{plural(len(students), 'student')} of {assignment} {'was' if len(students) == 1 else 'were'} graded before "
        f"{named(changed)} changed (run 'grader grade {assignment}'): {some_names(sorted(students))}"
    )
