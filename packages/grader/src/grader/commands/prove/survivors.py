"""Reads the explained survivors: mutants that may keep all points, each with the reason.

source/NN-name/survivors/EXERCISE.toml --> edits and reasons
"""

import re
import tomllib
from pathlib import Path

import msgspec

from grader.errors import GraderError

FOLDER = "survivors"
REASONS = ("equivalent: ", "not forbidden: ")
"""The beginnings of a reason: the same results for all inputs, or results that the text of the exercise allows."""
EDIT = re.compile(r"(?:-.*\n)+(?:\+.*\n)+")


def load(assignment: Path, exercises: list[str]) -> dict[str, dict[str, str]]:
    """Return the reasons by edit, for each exercise that has any.

    Args:
        assignment: the folder of the assignment in `source/`.
        exercises: the exercises of the assignment.

    Raises:
        GraderError: a file or an entry has a defect, or its exercise does not exist; the message names both.
    """
    records: dict[str, dict[str, str]] = {}
    for path in sorted((assignment / FOLDER).glob("*.toml")):
        place = "/".join(path.parts[-4:])
        if path.stem not in exercises:
            raise GraderError(
                f"{place}: a record is named after its exercise, and {assignment.name} has no {path.stem!r}; "
                "rename or remove the file"
            )
        try:
            entries = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, str])
        except msgspec.ValidationError as error:
            raise GraderError(f"{place}: {error}; a file has entries \"REASON\" = '''EDITS''' only") from error
        except (OSError, ValueError) as error:
            raise GraderError(f"{place}: must be TOML in UTF-8, but cannot be read ({error}); correct it") from error
        edits = [(edit, reason) for reason, text in entries.items() for edit in _edits(text, reason, place)]
        records[path.stem] = dict(edits)
        if len(records[path.stem]) < len(edits):
            raise GraderError(f"{place}: an edit is explained once, but two entries are for the same; remove one")
    return records


def _edits(text: str, reason: str, place: str) -> list[str]:
    """Return the edits of an entry as `grader prove` prints them, without the spaces and empty lines around them."""
    if not reason.startswith(REASONS):
        raise GraderError(
            f"{place}: a reason begins with '{REASONS[0]}' or '{REASONS[1]}', but this one is {reason!r}; correct it"
        )
    text = "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())
    if not text or EDIT.sub("", text):
        raise GraderError(f"{place}: {reason!r} must have edits, each of lines that begin with - and then lines with +")
    return [edit.removesuffix("\n") for edit in EDIT.findall(text)]
