"""A list of the class in examples/ fits the release, or is refused; test_examples.py grades what the lists make."""

from pathlib import Path

import pytest

from examples.make_class import make_class
from grader.errors import GraderError
from tests.support.paths import REPOSITORY

RELEASE = REPOSITORY / "release" / "04-attention"


ANSWER, DAMAGE = "[1-vanilla-attention.answers]\n", "[1-vanilla-attention.damage]\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{ANSWER}gone = 'whole'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{ANSWER}vanilla-attention = ['one']", "kim, 1-vanilla-attention: vanilla-attention has 2 blanks"),
        (f"{ANSWER}vanilla-attention-check = 'whole'", "kim, .*: vanilla-attention-check is no answer"),
        ("[gone.answers]\nvanilla-attention = 'whole'", "kim, gone: the release has no such notebook"),
        (f"{DAMAGE}lost = ['gone']", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}truncated_at = 'gone'", "kim, 1-vanilla-attention: the release has no cell gone."),
        (f"{DAMAGE}burnt = ['vanilla-attention']", "kim, 1-vanilla-attention: .*'burnt'"),
    ],
)
def test_a_list_that_does_not_fit_the_release_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    """The message names the student, the notebook and the cell or key."""
    (tmp_path / RELEASE.name).mkdir()
    (tmp_path / RELEASE.name / "kim.toml").write_text(text)
    with pytest.raises(GraderError, match=says):
        make_class(RELEASE, tmp_path / "submitted", tmp_path)
