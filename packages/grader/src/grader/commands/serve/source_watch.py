"""Notices that source/ or the configuration has changed since the service loaded them.

    files --look, every LOOK_SECONDS--> other times or sizes? --load again--> Basis now --compare--> outdated

The service goes on with what it loaded, because a file that is being edited must not grade anyone. It says so: in its
log, in /health, and beside points that students read.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime

from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.course_root import CONFIG_FILE
from grader.classroom.page.result_files import read_basis
from grader.classroom.source.basis import Basis, named
from grader.classroom.source.inputs import Inputs
from grader.classroom.student import Assignment, load_assignment
from grader.text import one_line

LOOK_SECONDS = 2
CHANGED = "{} changed after this service was started, which grades by the earlier version: start it again"
UNREADABLE = "source/ or the configuration changed after this service was started, and cannot be loaded: see its log"
ANY_DATE = datetime(2000, 1, 1)
"""A due date with which the rule for late work counts."""
log = logging.getLogger("grader.commands.serve")

Stamps = frozenset[tuple[str, int, int]]


class SourceWatch:
    """Compares the course on the disk with the one that is served; `look` and the rest may run in different threads.

    Args:
        course_dir: the course folder, with the configuration that the service has.
        assignments: the assignments that it has loaded, by name.
    """

    def __init__(self, course_dir: CourseDir, assignments: Mapping[str, Assignment]) -> None:
        self._course_dir = course_dir
        self._served = {name: _basis(each, course_dir.config) for name, each in assignments.items()}
        self._now: dict[str, Basis] = dict(self._served)
        # The files may have changed while they were loaded, so the first look compares them in any case.
        self._seen: dict[str, Stamps] = {}
        self.outdated: dict[str, str] = {}
        """A sentence on each assignment that has changed."""

    def look(self) -> None:
        """Look at all files; what has changed is in `outdated` and in the log afterwards."""
        for name, served in self._served.items():
            stamps = frozenset(self._stamps(name))
            if self._seen.get(name) == stamps:
                continue
            self._seen[name] = stamps
            sentence = self._compare(name, served)
            if sentence and sentence != self.outdated.get(name):
                log.warning("%s: %s", name, sentence)
            elif not sentence and name in self.outdated:
                log.info("%s: source/ and the configuration are again as they were loaded", name)
            others = {key: each for key, each in self.outdated.items() if key != name}
            self.outdated = others | ({name: sentence} if sentence else {})

    def is_outdated(self, assignment: str, student: str, notebook: str) -> bool:
        """Return whether the points of a student in the gradebook are older than source/ and the limits.

        Args:
            assignment: the assignment's name.
            student: the student's name.
            notebook: the notebook's name.
        """
        basis = read_basis(self._course_dir.folder("autograded", assignment, student), notebook)
        # A due date is read for each hand-in, and its penalty is nothing that the report shows.
        return basis is not None and bool(basis.changed(self._now[assignment], is_late=False))

    def _compare(self, name: str, served: Basis) -> str:
        """Load an assignment, and return a sentence on what has changed, or ''."""
        try:
            course_dir = CourseDir(self._course_dir.root)
            self._now[name] = _basis(load_assignment(course_dir, name, sandbox=True), course_dir.config)
        except Exception as error:  # the configuration is Python, and a notebook may be half written
            log.warning("%s cannot be loaded: %s", name, one_line(error))
            return UNREADABLE
        changed = served.changed(self._now[name])
        return CHANGED.format(named(changed)) if changed else ""

    def _stamps(self, name: str) -> Iterator[tuple[str, int, int]]:
        folder = self._course_dir.folder("source", name)
        for path in (self._course_dir.root / CONFIG_FILE, *sorted(folder.rglob("*"))):
            try:
                state = path.stat()
            except OSError:
                continue  # an editor has just replaced it
            yield str(path), state.st_mtime_ns, state.st_size


def _basis(assignment: Assignment, config: Config) -> Basis:
    return Inputs.of(assignment, config, ANY_DATE, {}).basis("")
