"""Reads nbgrader's metadata and the tags of a cell: its type, forbidden words, whether it is graded.

In an autograded notebook, the metadata of a test also hold its explanation. Test cells come from the source, so a
student cannot set it.
"""

from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from grader.engine.explanation import Explanation, Repair

if TYPE_CHECKING:
    # The fork server reads no notebook, and nbformat is slow to load.
    from nbformat import NotebookNode

HIDDEN = "BEGIN HIDDEN TESTS"
NOT_GRADED_TAGS = {"experiment", "not-graded"}
SANDBOX_ONLY_TAGS = {"candidate", "sandbox-only"}
WRITES_FILE = ("%%writefile", "%%file")
FORBIDDEN_TAG = "without:"
TOGETHER = "together"
"""The tag of a test, or of a whole notebook, that runs in one process with the student's code."""
EXPLANATION = "grader"
"""The key of an explanation in the metadata of a test, and of the repairs in those of a repaired notebook."""
OWNER = "grader_exercise"
"""The key of the exercise in the metadata of a repaired test whose name does not say it."""
LABEL = "grader_label"
"""The key of the label in the metadata of an answer whose name says nothing."""
SCHEMA = 3
"""The version of nbgrader's metadata. nbgrader refuses any other, and updates older ones."""
PICTURES = {"image/png", "image/jpeg"}
FORMS = ("text/html", "image/png", "image/jpeg", "text/plain")
"""The MIME types of an output that a page shows, the best one first."""


class CellType(Enum):
    """nbgrader's cell types, which decide where a cell runs."""

    TEST = "test"  # the runner runs it
    READ_ONLY = "read-only"  # runner and sandbox run it
    AUTOGRADED_ANSWER = "answer"  # the sandbox runs it
    MANUAL_ANSWER = "written"  # a person marks it
    TASK = "task"  # a person marks what the student adds to the notebook
    UNMARKED = "unmarked"  # the sandbox runs it if it is code


def grade_id(cell: "NotebookNode") -> str | None:
    """Return the cell's name in nbgrader, or None for a cell that nbgrader does not know."""
    metadata = cell["metadata"].get("nbgrader")  # as an attribute, it takes three times as long
    name = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else None


def type_of(cell: "NotebookNode") -> CellType:
    """Return the type of a cell, from nbgrader's metadata."""
    if grade_id(cell) is None:
        return CellType.UNMARKED
    metadata = cell["metadata"]["nbgrader"]
    if metadata.get("task"):
        return CellType.TASK
    if metadata.get("grade"):
        return CellType.MANUAL_ANSWER if metadata.get("solution") else CellType.TEST
    if metadata.get("solution"):
        return CellType.AUTOGRADED_ANSWER
    return CellType.READ_ONLY if metadata.get("locked") else CellType.UNMARKED


def fault_of(cell: "NotebookNode") -> str:
    """Return why a cell of a source cannot be graded, as a sentence without its subject; '' if it can.

    nbgrader refuses such a cell, too, but without its name, or counts its points twice.
    """
    marks = cell.metadata.get("nbgrader") or {}
    kinds = {kind for kind in ("grade", "solution", "locked", "task") if marks.get(kind)}
    if not kinds or marks.get("schema_version") != SCHEMA:
        return ""
    points = marks.get("points")
    if grade_id(cell) is None:
        return "has a type of nbgrader's but no grade_id: give it one"
    if "task" in kinds and kinds & {"grade", "solution"}:
        return 'is a task and also a test or an answer: keep either "task" or "grade" and "solution" in its metadata'
    if cell.cell_type != "markdown" and "task" in kinds:
        return f"is a task, and its type is {cell.cell_type}: make it a Markdown cell"
    if cell.cell_type == "raw":
        return "has a type of nbgrader's but is a raw cell: make it a code or Markdown cell"
    if cell.cell_type == "markdown" and ("grade" in kinds) is not ("solution" in kinds):
        return "is a Markdown cell, and no test or autograded answer: make it a code cell or a manually graded answer"
    if kinds & {"grade", "task"} and not (isinstance(points, int | float) and points >= 0):
        return "is graded and has no points: give it 0 or more"
    return ""


def is_not_graded(cell: "NotebookNode") -> bool:
    """Return whether a cell is a training run or figure that no test depends on."""
    return type_of(cell) is CellType.UNMARKED and not NOT_GRADED_TAGS.isdisjoint(cell.metadata.get("tags", ()))


def is_sandbox_only(cell: "NotebookNode") -> bool:
    """Return whether a read-only cell runs only in the sandbox: a training loop, say.

    In the runner it would call the student's model hundreds of times across the boundary. Its results are as untrusted
    as everything that comes from the sandbox. So does a cell that writes a file: the runner is not confined.
    """
    return type_of(cell) is CellType.READ_ONLY and (
        not SANDBOX_ONLY_TAGS.isdisjoint(cell.metadata.get("tags", ())) or cell.source.startswith(WRITES_FILE)
    )


def is_together(cell_or_notebook: "NotebookNode") -> bool:
    """Return whether a test, or every test of a notebook, runs in one process with the student's code."""
    return TOGETHER in cell_or_notebook.metadata.get("tags", ())


def forbidden_words(cell: "NotebookNode") -> tuple[str, ...]:
    """Return the words in the names of library functions that do the work of the exercise; see `grader_kernel`."""
    tags = cell.metadata.get("tags", ())
    return tuple(tag.removeprefix(FORBIDDEN_TAG) for tag in tags if tag.startswith(FORBIDDEN_TAG))


def explain(cell: "NotebookNode", explanation: Explanation | None) -> None:
    """Write the explanation of its result into the metadata of a test.

    Args:
        cell: the test.
        explanation: the explanation, or None for a test without a result.
    """
    cell.metadata.pop(EXPLANATION, None)
    if explanation is not None:
        cell.metadata[EXPLANATION] = msgspec.to_builtins(explanation)


def explanation_of(cell: "NotebookNode") -> Explanation:
    """Return the explanation of a graded test, with only the message if an earlier version graded it."""
    with suppress(KeyError, msgspec.ValidationError):
        return msgspec.convert(cell.metadata[EXPLANATION], Explanation)
    return Explanation(detail=next((str(each.evalue) for each in cell.outputs if each.output_type == "error"), ""))


def owner_of(cell: "NotebookNode") -> str:
    """Return the answer to which a test belongs by its metadata; '' if its name says it or no source did.

    A student cannot set it: the metadata of tests come from the source.
    """
    owner = cell.metadata.get(OWNER)
    return owner if isinstance(owner, str) else ""


def label_of(cell: "NotebookNode") -> str:
    """Return the label of an answer in its metadata, or ''; a student cannot set it."""
    label = cell.metadata.get(LABEL)
    return label if isinstance(label, str) else ""


def with_repairs(notebook: "NotebookNode", repairs: list[Repair]) -> "NotebookNode":
    """Return a repaired notebook with its repairs in the metadata; it shares the cells."""
    metadata = {**notebook.metadata, EXPLANATION: {"repairs": msgspec.to_builtins(repairs)}}
    return type(notebook)(notebook, metadata=type(notebook)(metadata))


def repairs_of(notebook: "NotebookNode") -> list[Repair]:
    """Return the repairs of a repaired or autograded notebook, none if an earlier version wrote it.

    A student cannot set them: the metadata of a repaired notebook come from the source.
    """
    with suppress(KeyError, TypeError, msgspec.ValidationError):
        return msgspec.convert(notebook.metadata[EXPLANATION]["repairs"], list[Repair])
    return []


def kept_tags(metadata: dict[str, Any]) -> dict[str, list[str]]:
    """Return the metadata to keep for a student's own cell: its first tag that excludes it from grading.

    A page makes every tag a CSS class of the cell, so no other tag is kept.
    """
    tags = metadata.get("tags")
    tags = tags if isinstance(tags, list) else []
    # An untrusted tag may have any type, and some types cannot be looked up in a set.
    kept = [tag for tag in tags if isinstance(tag, str) and tag in NOT_GRADED_TAGS]
    return {"tags": kept[:1]} if kept else {}


def picture_address(forms: Any) -> str | None:
    """Return the picture in an attachment (base64 data by MIME type) as a data URL, or None for anything else."""
    for form in PICTURES & set(forms if isinstance(forms, dict) else ()):
        if isinstance(forms[form], str):
            return f"data:{form};base64,{''.join(forms[form].split())}"
    return None
