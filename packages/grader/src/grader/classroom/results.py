"""Writes everything that grading leaves behind for students: gradebook, autograded/ and feedback/, in this order.

StudentResult --> gradebook (one transaction) --> autograded notebooks --> pages, index.html --> completion marker
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.reader import reads

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import CellScore, NotebookScore, StudentScores
from grader.classroom.gradebook.writer import GradebookWriter
from grader.classroom.page.autograded import answer_digests
from grader.classroom.page.page_maker import GradedNotebook, PageMaker, PreviousScores, StudentResult, page_digest
from grader.classroom.page.result_files import record_file
from grader.classroom.page.summary import OVERVIEW, overview
from grader.classroom.student import MAX_RECEIPT_MB, TIMESTAMP, submission_time
from grader.errors import UnreadableFile
from grader.files import replace_file

RECEIPTS = (TIMESTAMP, "submission_secret.txt")

COMPLETION_MARKER = ".graded.json"
"""File in autograded/STUDENT/ASSIGNMENT, written last: it names what a student's complete results were made from."""


def completion_marker(course_dir: CourseDir, assignment: str, student: str) -> dict[str, Any] | None:
    """Return the marker of a student who was once graded completely; None if there is none or it cannot be read.

    `ResultWriter.finished_result` tells whether the results still hold.

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


class ResultWriter:
    """Writes the results of a class run; use it in a `with` block and from one thread."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        self._course_dir = course_dir
        self._assignment = assignment
        self.gradebook = GradebookWriter(course_dir, assignment)

    def __enter__(self) -> "ResultWriter":
        self.gradebook.__enter__()
        self.notebooks = self.gradebook.notebooks()
        self._recorded_students = self.gradebook.students()
        self._pages = PageMaker(self._course_dir.config, self.notebooks)
        return self

    def __exit__(self, *error: Any) -> None:
        self.gradebook.__exit__(*error)

    def finished_result(self, student: str, digest: str, *, with_pages: bool) -> StudentResult | None:
        """Return the result of a student who need not be graded again, without reports; None if that must be done.

        Args:
            student: the student's name.
            digest: what complete results must have been made from.
            with_pages: whether to make the pages again if the code that makes pages has changed since.
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
                self._refresh_pages(student, marker)
            except Exception:  # the student is graded again, and an error that remains is a trouble
                return None
        return StudentResult(student, errors=marker["troubles"], notices=marker["remarks"])

    def _refresh_pages(self, student: str, marker: dict[str, Any]) -> None:
        """Make the pages of a finished student again, with what the gradebook has now."""
        known = self.gradebook.scores(student)
        shown = {name: each.filled(known.get(name, NotebookScore())) for name, each in self.notebooks.items()}
        for name in marker["notebooks"]:
            text, _, page_file = self._output_files(student, name)
            result = StudentResult(student, graded={name: GradedNotebook(text.read_text(encoding="utf-8"))})
            replace_file(page_file, self._pages.show(result, name, shown[name]))
        self._write_overview(student, set(marker["notebooks"]), shown)
        self._mark_complete(student, marker)

    def warm_up(self, sources: dict[str, NotebookNode]) -> None:
        """Render what all pages have in common. It takes a second, best spent before there is anything to write."""
        self._pages.warm_up(sources)

    def previous_scores(self, student: str) -> PreviousScores:
        """Return what a student's pages may depend on besides the submission, as it is now."""
        if student not in self._recorded_students:
            return PreviousScores()
        scores = self.gradebook.scores(student)
        # Only where a person gave points does it matter whether an answer is still the same.
        read = [name for name, score in scores.items() if any(cell.manual is not None for cell in score.cells.values())]
        return PreviousScores(scores, {name: self._answers_before(student, name) for name in read})

    def rehearse(self, results: Sequence[StudentResult]) -> None:
        """Record the scores of students in the gradebook, which must be a copy, make the pages, and write no file.

        Args:
            results: what grading each student gave; `write` can take them later, and makes those pages again that no
                longer show the scores.
        """
        recorded = self._record(results, keep_others=False) if results else {}
        for result in results:
            for name in result.graded:
                self._pages.show(result, name, recorded[result.student][name])

    def write(self, results: Sequence[tuple[StudentResult, str]]) -> None:
        """Write all results of students: the scores of all of them or of none, and then their files.

        Args:
            results: what grading each student gave, and a digest of what it was made from. A remark is added to a
                result if its timestamp cannot be used.
        """
        recorded = self._record([result for result, _ in results], keep_others=False) if results else {}
        for result, digest in results:
            self._write_files(result, recorded[result.student], keep_others=False)
            for name in self.notebooks.keys() - result.graded.keys():
                # A notebook that was graded before and cannot be read now no longer counts.
                for path in self._output_files(result.student, name):
                    path.unlink(missing_ok=True)
            # The marker comes last: it says that everything else has been written.
            marker = {
                "digest": digest,
                "troubles": result.errors,
                "remarks": result.notices,
                "notebooks": sorted(result.graded),
            }
            self._mark_complete(result.student, marker)

    def write_some(self, student_result: StudentResult) -> None:
        """Write the results of some of a student's notebooks, and leave those of the others as they are.

        A submission that is new in the gradebook scores zero in the others. No completion marker is written, so a class
        run grades the student again.

        Args:
            student_result: what grading the notebooks gave.
        """
        recorded = self._record([student_result], keep_others=True)
        self._write_files(student_result, recorded[student_result.student], keep_others=True)

    def page(self, student_result: StudentResult, name: str) -> str:
        """Return the feedback page of a notebook that does not count, with the points of its tests alone.

        Args:
            student_result: what grading the notebook gave.
            name: the notebook's name.
        """
        self._pages.finish(student_result)
        tests = student_result.reports[name].results
        cells = {test.name: CellScore(test.max_points, test.points) for test in tests}
        return self._pages.show(student_result, name, NotebookScore.of(cells, {}))

    def _record(self, results: Iterable[StudentResult], *, keep_others: bool) -> dict[str, dict[str, NotebookScore]]:
        """Write the scores into the gradebook."""
        entries = []
        for result in results:
            self._pages.finish(result)
            # Asked now and not when grading began: what a person marked meanwhile counts.
            scores = {
                name: graded.scores(partial(self._answers_before, result.student, name))
                for name, graded in result.graded.items()
            }
            entries.append(StudentScores(result.student, scores, self._timestamp(result), keep_others))
        return self.gradebook.write(entries)

    def _write_files(self, result: StudentResult, recorded: dict[str, NotebookScore], *, keep_others: bool) -> None:
        """Write autograded notebooks, pages and receipts."""
        student = result.student
        for name, graded in result.graded.items():
            notebook_file, record, page_file = self._output_files(student, name)
            replace_file(notebook_file, graded.text)
            replace_file(record, graded.record.encoded())
            replace_file(page_file, self._pages.show(result, name, recorded[name]))
        old_pages = {name for name in self.notebooks if keep_others and self._output_files(student, name)[-1].exists()}
        self._write_overview(student, result.graded.keys() | old_pages, recorded)
        self._copy_receipts(student)

    def _mark_complete(self, student: str, marker: dict[str, Any]) -> None:
        file = self._folder("autograded", student) / COMPLETION_MARKER
        replace_file(file, json.dumps(marker | {"pages": page_digest()}))

    def _answers_before(self, student: str, name: str) -> dict[str, str]:
        path, *_ = self._output_files(student, name)
        with suppress(Exception):  # there is no file, or it is not what the grader wrote
            return answer_digests(reads(path.read_text(encoding="utf-8")))
        return {}

    def _timestamp(self, student_result: StudentResult) -> datetime | None:
        """When the submission was handed in, if its timestamp file says so."""
        handed_in = self._course_dir.handed_in(self._assignment, student_result.student)
        try:
            return submission_time(handed_in)
        except (UnreadableFile, OSError, ValueError):
            notice = f"{TIMESTAMP} was ignored: it must contain a time such as 2026-03-02 10:00:00 UTC"
            if notice not in student_result.notices:
                student_result.notices.append(notice)
            return None

    def _write_overview(self, student: str, pages: set[str], shown: dict[str, NotebookScore]) -> None:
        """Write the page that joins the notebooks; `pages` are those that have a page."""
        path = self._folder("feedback", student) / OVERVIEW
        if path.stem in self.notebooks:
            return  # a notebook has this name
        if pages:
            replace_file(path, overview(self._assignment, shown, pages))
        else:
            path.unlink(missing_ok=True)

    def _copy_receipts(self, student: str) -> None:
        """Copy what `nbgrader collect` puts beside the notebooks: `nbgrader release_feedback` wants it beside pages."""
        handed_in = self._course_dir.handed_in(self._assignment, student)
        for name in RECEIPTS:
            with suppress(UnreadableFile):
                receipt = handed_in.read(name, MAX_RECEIPT_MB).decode(errors="replace")
                for step in ("autograded", "feedback"):
                    replace_file(self._folder(step, student) / name, receipt)

    def _output_files(self, student: str, name: str) -> tuple[Path, Path, Path]:
        """The autograded notebook, its record, and the feedback page."""
        folder = self._folder("autograded", student)
        page = self._folder("feedback", student) / f"{name}.html"
        return folder / f"{name}.ipynb", record_file(folder, name), page

    def _folder(self, step: str, student: str) -> Path:
        return self._course_dir.folder(step, self._assignment, student)
