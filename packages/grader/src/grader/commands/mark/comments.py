"""Keeps the comments that markers added, in marking/ASSIGNMENT.json of the course folder.

    {"NOTEBOOK/CELL": [{"text": "No reason is given.", "points": -0.5}]}

The file may be edited by hand while no one marks. Comments made of a marking scheme are not in it: they follow it.
"""

import math
from pathlib import Path

import msgspec

from grader.commands.mark.questions import Question
from grader.commands.mark.scheme import ReusableComment
from grader.errors import GraderError
from grader.files import replace_file

FOLDER = "marking"
MAX_COMMENTS, MAX_TEXT = 60, 1_000
"""How many comments a question may have, and how long one may be."""
_decode = msgspec.json.Decoder(dict[str, list[ReusableComment]]).decode


class CommentStore:
    """The reusable comments of an assignment; use it from one thread."""

    def __init__(self, root: Path, assignment: str) -> None:
        """Read the comments of an assignment; raise GraderError if the file is damaged.

        Args:
            root: the course folder.
            assignment: the assignment's name.
        """
        self._path = root / FOLDER / f"{assignment}.json"
        self._added: dict[str, list[ReusableComment]] = {}
        try:
            self._added = _decode(self._path.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, msgspec.MsgspecError) as error:
            raise GraderError(
                f"{self._path} cannot be read ({error}): correct it, restore it from a backup, or remove it"
            ) from None

    def of(self, question: Question) -> list[ReusableComment]:
        """Return the comments of a question: those of its scheme, then those that markers added."""
        return [*question.suggested, *self._added.get(_key(question), ())]

    def add(self, question: Question, comment: ReusableComment) -> None:
        """Keep a comment; raise GraderError if it cannot be kept."""
        text = " ".join(comment.text.split())
        if not text or len(text) > MAX_TEXT:
            raise GraderError(f"a comment has from 1 to {MAX_TEXT} characters: write a shorter one")
        if comment.points is not None and not math.isfinite(comment.points):
            raise GraderError("the points of a comment must be a number")
        known = self.of(question)
        if any(each.text == text for each in known):
            raise GraderError("there is already a comment with these words: use it")
        if len(known) >= MAX_COMMENTS:
            raise GraderError(f"a question has at most {MAX_COMMENTS} comments: remove one first")
        added = [*self._added.get(_key(question), ()), ReusableComment(text, comment.points)]
        self._save(self._added | {_key(question): added})

    def remove(self, question: Question, text: str) -> None:
        """Forget a comment that a marker added; answers that have it keep it."""
        left = [each for each in self._added.get(_key(question), ()) if each.text != text]
        self._save(self._added | {_key(question): left})

    def _save(self, added: dict[str, list[ReusableComment]]) -> None:
        added = {key: comments for key, comments in added.items() if comments}
        try:
            replace_file(self._path, msgspec.json.format(msgspec.json.encode(added)), is_durable=True)
        except OSError as error:
            raise GraderError(f"{self._path} cannot be written ({error.strerror}): make it writable") from error
        self._added = added


def _key(question: Question) -> str:
    return "/".join(question.name)
