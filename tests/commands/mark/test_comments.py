"""Comments that markers add are kept with the course."""

from pathlib import Path

import pytest

from grader.commands.mark.comments import FOLDER, MAX_COMMENTS, CommentStore
from grader.commands.mark.questions import Question
from grader.commands.mark.scheme import ReusableComment
from grader.engine.notebook.cells import CellType
from grader.errors import GraderError

SUGGESTED = ReusableComment("The reason", 1)
QUESTION = Question("essay", "why", CellType.MANUAL_ANSWER, "why", "", "", "", False, ("why",), "why", (SUGGESTED,))


def test_added_comments_stay(tmp_path: Path) -> None:
    """After those of the scheme, in their order, until one is removed; the scheme's cannot be."""
    store = CommentStore(tmp_path, "01")
    store.add(QUESTION, ReusableComment("No  reason\n", -0.5))
    store.add(QUESTION, ReusableComment("Ünreadable"))
    expected = [SUGGESTED, ReusableComment("No reason", -0.5), ReusableComment("Ünreadable")]
    assert store.of(QUESTION) == CommentStore(tmp_path, "01").of(QUESTION) == expected
    store.remove(QUESTION, "No reason")
    store.remove(QUESTION, SUGGESTED.text)
    assert CommentStore(tmp_path, "01").of(QUESTION) == [SUGGESTED, expected[-1]]
    assert CommentStore(tmp_path, "02").of(QUESTION) == [SUGGESTED]


def test_what_is_no_comment_is_refused(tmp_path: Path) -> None:
    """And nothing is written; a page with hundreds of comments helps no one, either."""
    store = CommentStore(tmp_path, "01")
    for comment, why in (
        (ReusableComment(" "), "from 1 to"),
        (ReusableComment("x" * 2000), "from 1 to"),
        (ReusableComment("y", float("nan")), "must be a number"),
        (ReusableComment("y", float("inf")), "must be a number"),
        (ReusableComment("The  reason"), "there is already a comment"),
    ):
        with pytest.raises(GraderError, match=why):
            store.add(QUESTION, comment)
    assert not (tmp_path / FOLDER).exists()
    for number in range(1, MAX_COMMENTS):
        store.add(QUESTION, ReusableComment(f"No {number}"))
    with pytest.raises(GraderError, match="remove one first"):
        store.add(QUESTION, ReusableComment("One more"))


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"essay/why": [{"points": 1}]}', b"\xff"])
def test_a_damaged_file_is_named_and_kept(tmp_path: Path, damage: bytes) -> None:
    """It is not replaced by an empty one."""
    path = tmp_path / FOLDER / "01.json"
    path.parent.mkdir()
    path.write_bytes(damage)
    with pytest.raises(GraderError, match="01.json cannot be read"):
        CommentStore(tmp_path, "01")
    assert path.read_bytes() == damage
