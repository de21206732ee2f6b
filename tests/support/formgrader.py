"""Marks with the formgrader's own code."""

from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace

from nbgrader.server_extensions.formgrader.apihandlers import CommentHandler, GradeHandler

from grader.classroom.course_dir import CourseDir


def by_formgrader(folder: Path, place: tuple[str, str, str, str], points: float, comment: str | None = None) -> None:
    """Give points and a comment with the handlers of the formgrader; a place is as in gradebook.find_grade()."""
    with CourseDir(folder).gradebook() as gradebook:
        given = [(GradeHandler, gradebook.find_grade(*place), {"manual_score": points, "extra_credit": None})]
        if comment is not None:
            given.append((CommentHandler, gradebook.find_comment(*place), {"manual_comment": comment}))
        for handler, row, body in given:
            request = SimpleNamespace(gradebook=gradebook, get_json_body=lambda body=body: body, write=lambda _: None)
            unwrap(handler.put)(request, row.id)
