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

from grader.classroom.basis import Basis, Part, named
from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.reader import Ledger
from grader.classroom.gradebook.rules import due_for
from grader.classroom.page.result_files import read_basis
from grader.classroom.student import Assignment
from grader.engine.code_digest import engine_digest
from grader.text import one_line, plural

MAX_NAMES = 10
"""The largest number of students that a sentence names."""


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


def outdated(course_dir: CourseDir, ledger: Ledger, assignment: Assignment) -> dict[str, frozenset[Part]]:
    """Return the students whose points in the gradebook were given before something changed, and what changed.

    Points that the grader did not give, or an earlier version of it that kept no basis, count as up to date.

    Args:
        course_dir: the course folder.
        ledger: the assignment in the gradebook.
        assignment: the assignment in source/ as it is now.
    """
    inputs, found = Inputs.of_ledger(assignment, course_dir.config, ledger), {}
    for student, score in ledger.by_student.items():
        folder, now = course_dir.folder("autograded", ledger.assignment, student), inputs.basis(student)
        is_late = bool(score.seconds_late or score.total.penalty)
        changed: frozenset[Part] = frozenset()
        for notebook in score.notebooks:
            if (basis := read_basis(folder, notebook)) is not None:
                changed |= basis.changed(now, is_late=is_late)
        if changed:
            found[student] = changed
    return found


def outdated_sentence(assignment: str, students: Collection[str], changed: Iterable[Part]) -> str:
    """Return the sentence that some students were graded before something changed, and what to do.

    Args:
        assignment: the assignment's name.
        students: the students, at least one.
        changed: what has changed.
    """
    names = ", ".join(one_line(name, 100) for name in sorted(students)[:MAX_NAMES])
    more = f" and {len(students) - MAX_NAMES} more" if len(students) > MAX_NAMES else ""
    return (
        f"{plural(len(students), 'student')} of {assignment} {'was' if len(students) == 1 else 'were'} graded before "
        f"{named(changed)} changed (run 'grader grade {assignment}'): {names}{more}"
    )
