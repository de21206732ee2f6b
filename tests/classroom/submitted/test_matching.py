"""A file is the notebook that its name or its cells say, whatever browsers and file managers made of the name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.students.roster import EnrolledStudent
from grader.classroom.submitted.matching import Matcher, NameMatch, may_be_notebook
from grader.commands.lms.identities import EnrolledStudents, LmsIdentity, name_key
from tests.support.notebooks import answer, check, helpers, notebook, text

IMPORTS = helpers("imports", "import torch")
SOURCES = {
    "1-vanilla-attention": notebook(IMPORTS, answer("one", "1"), check("one-check", "assert True"), check("x", "1")),
    "2-self-attention": notebook(IMPORTS, answer("two", "2"), check("two-check", "assert True")),
    "2-self-attention-2": notebook(IMPORTS, answer("three", "3")),
}
MATCHER = Matcher(SOURCES)


@pytest.mark.parametrize(
    ("copy", "files"),
    [
        (0, ("1-vanilla-attention.ipynb", "1-Vanilla-Attention.IPYNB", "1_vanilla attention.ipynb")),
        (0, ("1-vanilla-attention", "1-vanilla-attention.ipynb.txt", "1-vanilla-attention.json")),
        (0, ("１-vanilla-attention.ipynb", " 1-vanilla-attention .ipynb")),
        (1, ("1-vanilla-attention (1).ipynb", "1-vanilla-attention-1.ipynb", "1-vanilla-attention-Copy1.ipynb")),
        (1, ("1-vanilla-attention copy.ipynb", "Copy of 1-vanilla-attention.ipynb")),
        (3, ("1-vanilla-attention - Copy (2).ipynb", "Kopie von 1-vanilla-attention (2).ipynb")),
        (3, ("1-vanilla-attention copy 3.ipynb",)),
        (12, ("1-vanilla-attention(12).ipynb",)),
    ],
)
def test_a_name_is_known_with_what_programs_add_to_it(copy: int, files: tuple[str, ...]) -> None:
    """Browsers, Windows, macOS, JupyterLab, Google Drive and Canvas."""
    for file in files:
        assert MATCHER.by_name(file) == NameMatch("1-vanilla-attention", copy) and may_be_notebook(file), file


@pytest.mark.slow
@settings(derandomize=True, database=None, deadline=None)
@given(st.text(max_size=30))
def test_another_name_is_not_guessed(file: str) -> None:
    """The cells will tell; other kinds of files are not even read. The whole name counts before a number in it."""
    found = MATCHER.by_name(file)
    assert found is None or found.notebook in SOURCES
    for other in ("vanilla.ipynb", "1.ipynb", "(1).ipynb", ".ipynb", "", "copy of .ipynb", "11-vanilla-attention"):
        assert MATCHER.by_name(other) is None
    assert not any(may_be_notebook(other) for other in ("essay.pdf", "work.rar", "model.pt", "code.py", "page.html"))
    for name, copy in (("2-self-attention-2", 0), ("2-self-attention-2 (1)", 1)):
        assert MATCHER.by_name(f"{name}.ipynb") == NameMatch("2-self-attention-2", copy)
    assert MATCHER.by_name("2-self-attention-3.ipynb") == NameMatch("2-self-attention", 3)


def test_cells_tell_which_notebook_it_is() -> None:
    """By the majority of those that occur in one notebook only; those that all have say nothing."""
    one, two, _ = SOURCES.values()
    assert MATCHER.by_cells(one) == "1-vanilla-attention"
    assert MATCHER.by_cells(notebook(*one.cells[:3], *two.cells[1:2])) == "1-vanilla-attention"
    assert MATCHER.by_cells(notebook(*one.cells[1:2], *two.cells[1:2])) is None
    assert MATCHER.by_cells(notebook(IMPORTS, text("# Hello"))) is None
    assert MATCHER.by_cells(notebook(text("# Hello"), *two.cells[2:])) == "2-self-attention"


def students() -> EnrolledStudents:
    """Five students; two have the same name, one has only a name."""
    return EnrolledStudents([
        EnrolledStudent("ann", "Ann", "Lee", "ann@example.org", "101"),
        EnrolledStudent("sam1", "Sam", "Poe", "sam@example.org", "102"),
        EnrolledStudent("sam2", "Sam", "Poe", "poe@example.org", ""),
        EnrolledStudent("liu", "伟", "刘", "", ""),
        EnrolledStudent("obrien", "Síle", "O'Brien-Smith", "", ""),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("identity", "student"),
    [
        (LmsIdentity("whoever", lms_user_id="101"), "ann"),
        (LmsIdentity("Ann Lee", lms_user_id="102"), "sam1"),
        (LmsIdentity("leeann", lms_user_id="101", ambiguous_ids=("7", "900")), "ann"),
        (LmsIdentity("whoever", logins=("", "ANN@example.org")), "ann"),
        (LmsIdentity("Sam Poe", logins=("sam2",)), "sam2"),
        (LmsIdentity("Sam Poe", lms_user_id="900"), "sam2"),
        (LmsIdentity("lee ANN"), "ann"),
        (LmsIdentity("刘伟"), "liu"),
        (LmsIdentity("Síle OBrien Smith"), "obrien"),
        (LmsIdentity("obriensmithsíle"), "obrien"),
    ],
)
def test_a_person_is_found_by_the_surest_sign(identity: LmsIdentity, student: str) -> None:
    """The platform's number, an id or address, a name without what platforms leave out of it."""
    assert students().find(identity) == student


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        (LmsIdentity("Sam Poe"), "the sender is ambiguous, perhaps one of sam1, sam2"),
        (LmsIdentity("eve", lms_user_id="101", ambiguous_ids=("1", "102")), "perhaps one of ann, sam1"),
        (LmsIdentity("stranger", lms_user_id="900", ambiguous_ids=("101",)), "perhaps one of ann"),
        (LmsIdentity("eve", lms_user_id="101", ambiguous_ids=("900",)), "perhaps one of ann"),
        (LmsIdentity("", lms_user_id="101", ambiguous_ids=("900",)), "perhaps one of ann"),
        (LmsIdentity("liu 伟刘", lms_user_id="900", ambiguous_ids=("901",)), "no such student"),
        (LmsIdentity("刘伟", lms_user_id="900", ambiguous_ids=("901",)), "no such student"),
        (LmsIdentity("Ann Lee", lms_user_id="900"), "no such student"),
        (LmsIdentity("Ann Lee", logins=("lee@example.org",)), "no such student"),
        (LmsIdentity("Zoe"), "no such student"),
        (LmsIdentity(""), "no such student"),
        (LmsIdentity("'-", lms_user_id=""), "no such student"),
    ],
)
def test_a_doubtful_person_is_not_found(identity: LmsIdentity, words: str) -> None:
    """A name is a student's choice."""
    with pytest.raises(Exception, match=words):
        students().find(identity)


def test_keys_of_names_keep_letters_of_every_script() -> None:
    """And no sign that a platform might leave out."""
    assert name_key("Žofie O'Šimić-刘 2_") == "žofieošimić刘2"
