"""Reads the record of explained survivors: mutants that keep all points and may, each with the reason.

source/NN-name/survivors/EXERCISE.toml --> edits and reasons
"""

import tomllib
from pathlib import Path
from typing import Annotated

import msgspec

from grader.errors import GraderError

FOLDER = "survivors"
REASONS = ("equivalent: ", "not forbidden: ")
"""How a reason begins: the same results for all inputs, or other results that the text of the exercise allows."""

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Explanation(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Why a mutant may keep all points; `edit` is its edit as `grader prove` prints it."""

    edit: Text
    reason: Text

    def __post_init__(self) -> None:
        """Reject a reason of no kind; msgspec turns the error into a ValidationError."""
        if not self.reason.startswith(REASONS):
            raise ValueError(f"A reason begins with '{REASONS[0]}' or '{REASONS[1]}', but this one is {self.reason!r}")


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    survivor: list[Explanation]


def load(assignment: Path, exercises: list[str]) -> dict[str, dict[str, str]]:
    """Return the reasons by edit, for each exercise that has a record.

    Args:
        assignment: the folder of the assignment in `source/`.
        exercises: the exercises of the assignment.

    Raises:
        GraderError: a file or an entry has a defect, or belongs to no exercise; the message names both.
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
            entries = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).survivor
        except msgspec.ValidationError as error:
            raise GraderError(
                f"{place}: {error}; a file has entries [[survivor]], each with edit and reason, and nothing else"
            ) from error
        except (OSError, ValueError) as error:
            raise GraderError(f"{place}: must be TOML in UTF-8, but cannot be read ({error}); correct it") from error
        reasons = {normalised(entry.edit): entry.reason for entry in entries}
        if len(reasons) < len(entries):
            raise GraderError(f"{place}: an edit is explained once, but two entries are for the same; remove one")
        records[path.stem] = reasons
    return records


def normalised(edit: str) -> str:
    """Return an edit without the spaces and empty lines around it, which are a matter of layout."""
    return "\n".join(line.strip() for line in edit.strip().splitlines())
