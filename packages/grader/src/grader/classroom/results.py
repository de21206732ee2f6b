"""Writes the results of grading: the gradebook, autograded/ and feedback/, in this order.

StudentResult --> gradebook (one transaction) --> autograded notebooks --> pages, index.html --> completion marker
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from nbformat import NotebookNode
from nbformat.reader import reads

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import Ledger
from grader.classroom.gradebook.rules import NotebookScore, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.autograded import answer_digests
from grader.classroom.page.page_maker import GradedNotebook, PageMaker, PreviousScores, StudentResult, page_digest
from grader.classroom.page.result_files import record_file
from grader.classroom.page.summary import OVERVIEW, overview, with_notice
from grader.classroom.source.faults import Fault
from grader.classroom.source.inputs import Inputs
from grader.classroom.student import MAX_RECEIPT_MB, TIMESTAMP, Assignment, submission_time
from grader.classroom.submitted.times import notebook_times
from grader.engine.limits import Limits
from grader.errors import UnreadableFile
from grader.files import replace_file

SECRET = "submission_secret.txt"
RECEIPTS = (TIMESTAMP, SECRET)

GRADED_AGAIN = "graded again"
"""The reason of changed points in the record, unless the caller knows a better one."""
COMPLETION_MARKER = ".graded.json"
"""File in autograded/STUDENT/ASSIGNMENT, written last: it holds a digest of the inputs of complete results."""


def completion_marker(course_dir: CourseDir, assignment: str, student: str) -> dict[str, Any] | None:
    """Return the completion marker of a student; None if it is missing or unreadable.

    `ResultWriter.finished_result` checks whether the results are still valid.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        student: the student's name.
    """
    file = course_dir.folder("autograded", assignment, student) / COMPLETION_MARKER
    try:
        marker: dict[str, Any] = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return marker


def new_secret() -> str:
    """Return a secret as `nbgrader submit` makes one: it names the pages of a submission in the exchange."""
    return secrets.token_hex(64)


class Page(NamedTuple):
    """A page in feedback/, the score that it shows, and a digest of everything that it shows."""

    file: Path
    score: NotebookScore
    made_of: str


def put_notices(course_dir: CourseDir, ledger: Ledger) -> None:
    """Have the pages of students say whether their points are older than the course.

    Args:
        course_dir: the course folder.
        ledger: the assignment in the gradebook, after `inputs.mark_outdated`.
    """
    for student, score in ledger.by_student.items():
        folder, is_outdated = course_dir.folder("feedback", ledger.assignment, student), bool(score.outdated)
        pages = [folder / f"{name}.html" for name in score.notebooks]
        with suppress(OSError):  # there is no page, or it cannot be changed now, which the next run tries again
            # The overview is the smallest page and is written last, so it tells whether the others are done.
            first = folder / OVERVIEW
            text = first.read_text(encoding="utf-8")
            if (changed := with_notice(text, is_outdated=is_outdated)) == text:
                continue
            for path in filter(Path.exists, pages):
                replace_file(path, with_notice(path.read_text(encoding="utf-8"), is_outdated=is_outdated))
            replace_file(first, changed)


class ResultWriter:
    """Writes the results of a class run; use it in a `with` block and from one thread.

    `why` is the reason of changed points in the record.
    """

    def __init__(self, course_dir: CourseDir, assignment: str, why: str = GRADED_AGAIN) -> None:
        self.why = why
        self._course_dir = course_dir
        self._assignment = assignment
        self._notebook_mb = Limits(config=course_dir.config).notebook_mb
        self.gradebook = GradebookWriter(course_dir, assignment)

    def __enter__(self) -> "ResultWriter":
        self.gradebook.__enter__()
        self.notebooks = self.gradebook.notebooks()
        self._recorded_students = self.gradebook.students()
        self._pages = PageMaker(self._course_dir.config, self.notebooks)
        return self

    def __exit__(self, *error: Any) -> None:
        self.gradebook.__exit__(*error)

    def inputs(self, assignment: Assignment) -> Inputs:
        """Return what the scores of an assignment depend on besides submissions, by the present due dates."""
        return Inputs.of(assignment, self._course_dir.config, self.gradebook.due(), self.gradebook.extensions())

    def finished_result(self, student: str, digest: str, *, with_pages: bool) -> StudentResult | None:
        """Return the stored result of a student, without reports; None if the student must be graded again.

        Args:
            student: the student's name.
            digest: the digest of the current inputs.
            with_pages: whether to make the pages again if the code that makes pages has changed.
        """
        marker = completion_marker(self._course_dir, self._assignment, student)
        # Compare the digest first: another version of the grader may have written a marker with fewer keys.
        if (
            student not in self._recorded_students
            or marker is None
            or marker["digest"] != digest
            or any(not path.exists() for name in marker["notebooks"] for path in self._output_files(student, name))
        ):
            return None
        if with_pages and marker.get("pages") != page_digest():
            try:
                self.refresh_pages(student)
                self._mark_complete(student, marker)
            except Exception:  # the student is graded again, which reports an error that remains
                return None
        faults = msgspec.convert(marker.get("faults", []), list[Fault])
        return StudentResult(student, errors=marker["troubles"], notices=marker["remarks"], known_faults=faults)

    def graded_notebooks(self, student: str) -> list[str]:
        """Return the names of a student's graded notebooks, those with a file in autograded/."""
        return sorted(name for name in self.notebooks if self._output_files(student, name)[0].exists())

    def refresh_pages(self, student: str, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, "Page"]:
        """Make the pages of a graded student again with the current scores, and return them by notebook.

        Args:
            student: the student's name.
            known: digests of pages, by notebook; an existing page that would show the same is not made again.
        """
        scores, pages = self.gradebook.scores(student), dict[str, Page]()
        shown = {name: each.filled(scores.get(name, NotebookScore())) for name, each in self.notebooks.items()}
        for name in self.graded_notebooks(student):
            file, _, page_file = self._output_files(student, name)
            text = file.read_text(encoding="utf-8")
            pages[name] = Page(page_file, shown[name], self._pages.made_of(text, shown[name]))
            if known.get(name) != pages[name].made_of or not page_file.exists():
                result = StudentResult(student, graded={name: GradedNotebook(text)})
                replace_file(page_file, self._pages.show(result, name, shown[name]))
        marker = completion_marker(self._course_dir, self._assignment, student) or {}
        self._write_overview(student, set(pages), marker.get("unread", {}), shown)
        self._copy_receipts(student, with_missing=True)
        return pages

    def warm_up(self, sources: dict[str, NotebookNode]) -> None:
        """Render the cells that all pages share. It takes a second, best spent before there is anything to write."""
        self._pages.warm_up(sources)

    def previous_scores(self, student: str) -> PreviousScores:
        """Return the current scores and answers of a student, on which pages may depend besides the submission."""
        if student not in self._recorded_students:
            return PreviousScores()
        scores = self.gradebook.scores(student)
        # Unchanged answers only matter where a person gave points.
        read = [name for name, score in scores.items() if any(cell.manual is not None for cell in score.cells.values())]
        return PreviousScores(scores, {name: self._answers_before(student, name) for name in read})

    def rehearse(self, results: Sequence[StudentResult]) -> None:
        """Record the scores of students in the gradebook, which must be a copy, make the pages, and write no file.

        Args:
            results: the results of each student; `write` can take them later, and makes pages with outdated scores
                again.
        """
        recorded = self._record(results, keep_others=False) if results else {}
        for result in results:
            for name in result.graded:
                self._pages.show(result, name, recorded[result.student][name])

    def write(self, results: Sequence[tuple[StudentResult, str]]) -> None:
        """Write the scores of all students or of none, and then their files.

        Args:
            results: the results of each student, with a digest of their inputs. A result with an invalid timestamp
                gets a notice.
        """
        recorded = self._record([result for result, _ in results], keep_others=False) if results else {}
        for result, digest in results:
            self._write_files(result, recorded[result.student], keep_others=False)
            for name in self.notebooks.keys() - result.graded.keys():
                # A notebook that was graded before but is unreadable now no longer counts.
                for path in self._output_files(result.student, name):
                    path.unlink(missing_ok=True)
            # The marker comes last, once everything else has been written.
            marker = {
                "digest": digest,
                "troubles": result.errors,
                "remarks": result.notices,
                "notebooks": sorted(result.graded),
                "unread": result.unread,
            }
            if result.faults:
                marker["faults"] = msgspec.to_builtins(result.faults)
            self._mark_complete(result.student, marker)

    def write_some(self, student_result: StudentResult) -> None:
        """Write the results of some of a student's notebooks, and keep those of the others.

        A submission that is new in the gradebook scores zero in the others. Without a completion marker, a class run
        grades the student again.

        Args:
            student_result: the results of the notebooks.
        """
        recorded = self._record([student_result], keep_others=True)
        self._write_files(student_result, recorded[student_result.student], keep_others=True)

    def page_without_marks(self, student_result: StudentResult, name: str, time: datetime) -> str:
        """Return the page of a graded notebook with the grader's points and comments alone.

        A student may see it at once, even while people mark, and even if the notebook does not count.

        Args:
            student_result: the result of the notebook.
            name: the notebook's name.
            time: when it was handed in, in UTC, for the late penalty.
        """
        self._pages.finish(student_result)
        shown = self.notebooks[name].after(NotebookScore(), student_result.graded[name].scores(dict))
        shown.penalty = self.gradebook.late_penalty(student_result.student, shown.points, time)
        return self._pages.show(student_result, name, shown)

    def _record(self, results: Iterable[StudentResult], *, keep_others: bool) -> dict[str, dict[str, NotebookScore]]:
        """Write the scores into the gradebook."""
        entries = []
        for result in results:
            self._pages.finish(result)
            # Read now and not when grading began, because marks that a person gave meanwhile count.
            scores = {
                name: graded.scores(partial(self._answers_before, result.student, name))
                for name, graded in result.graded.items()
            }
            handed_in = self._course_dir.handed_in(self._assignment, result.student)
            times = notebook_times(handed_in, self._notebook_mb)
            entries.append(StudentScores(result.student, scores, self._timestamp(result), times, keep_others))
        return self.gradebook.write(entries, self.why)

    def _write_files(self, result: StudentResult, recorded: dict[str, NotebookScore], *, keep_others: bool) -> None:
        """Write autograded notebooks, pages and receipts."""
        student = result.student
        for name, graded in result.graded.items():
            notebook_file, record, page_file = self._output_files(student, name)
            replace_file(notebook_file, graded.text)
            replace_file(record, msgspec.structs.replace(graded.record, basis=result.basis).encoded())
            replace_file(page_file, self._pages.show(result, name, recorded[name]))
        old_pages = {name for name in self.notebooks if keep_others and self._output_files(student, name)[-1].exists()}
        self._write_overview(student, result.graded.keys() | old_pages, result.unread, recorded)
        self._copy_receipts(student)

    def _mark_complete(self, student: str, marker: dict[str, Any]) -> None:
        file = self._folder("autograded", student) / COMPLETION_MARKER
        replace_file(file, json.dumps(marker | {"pages": page_digest()}))

    def _answers_before(self, student: str, name: str) -> dict[str, str]:
        path, *_ = self._output_files(student, name)
        with suppress(Exception):  # the file is missing, or the grader did not write it
            return answer_digests(reads(path.read_text(encoding="utf-8")))
        return {}

    def _timestamp(self, student_result: StudentResult) -> datetime | None:
        """Return the time of the submission; None if its timestamp is missing or invalid."""
        handed_in = self._course_dir.handed_in(self._assignment, student_result.student)
        try:
            return submission_time(handed_in)
        except (UnreadableFile, OSError, ValueError):
            notice = f"{TIMESTAMP} was ignored: it must contain a time such as 2026-03-02 10:00:00 UTC"
            if notice not in student_result.notices:
                student_result.notices.append(notice)
            return None

    def _write_overview(
        self, student: str, pages: set[str], unread: dict[str, str], shown: dict[str, NotebookScore]
    ) -> None:
        """Write the overview page; `pages` are the notebooks with a page, `unread` is why others could not be read."""
        path = self._folder("feedback", student) / OVERVIEW
        if path.stem in self.notebooks:
            return  # a notebook has this name
        if pages or unread:
            extended_to = self.gradebook.extended_to(student)
            replace_file(path, overview(self._assignment, shown, pages, unread, extended_to))
        else:
            path.unlink(missing_ok=True)

    def _copy_receipts(self, student: str, *, with_missing: bool = False) -> None:
        """Put the receipts of `nbgrader collect` beside the pages, where `nbgrader release_feedback` expects them.

        Args:
            student: the student's name.
            with_missing: whether to make receipts for what did not come through the exchange, so that nbgrader releases
                its pages with the others: an empty time, and a secret by which no one fetches them.
        """
        handed_in = self._course_dir.handed_in(self._assignment, student)
        for name in RECEIPTS:
            try:
                receipt = handed_in.read(name, MAX_RECEIPT_MB).decode(errors="replace")
            except UnreadableFile:
                if not with_missing:
                    continue
                known = self._folder("autograded", student) / name
                missing = new_secret() if name == SECRET else ""
                receipt = known.read_text(errors="replace") if known.exists() else missing
            for step in ("autograded", "feedback"):
                replace_file(self._folder(step, student) / name, receipt)

    def _output_files(self, student: str, name: str) -> tuple[Path, Path, Path]:
        """Return the paths of the autograded notebook, its record, and the feedback page."""
        folder = self._folder("autograded", student)
        page = self._folder("feedback", student) / f"{name}.html"
        return folder / f"{name}.ipynb", record_file(folder, name), page

    def _folder(self, step: str, student: str) -> Path:
        return self._course_dir.folder(step, self._assignment, student)
