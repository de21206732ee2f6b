"""Shows that every misconception is an edit that fits its reference exactly once, and that a wrong file is named.

source/*/misconceptions/EXERCISE.toml --load--> Misconception --apply--> the reference with the misconception in it
"""

from pathlib import Path

import pytest

from grader.engine.diagnosis.misconceptions import HINTS, Misconception, Tie, load, load_common_ties, load_ties
from grader.engine.notebook.outline import Outline
from grader.errors import GraderError
from tests.support.exercises import ASSIGNMENTS, NOTEBOOKS, reference

REFERENCE = """\
def double(x):
    for _ in x:
        y = 2 * x
        y = y + 0

    return y
"""
ENTRY = """
[[misconception]]
name = "squares"
find = "2 * x"
replace = "x * x"
hint = "You square."
"""
ANCHORS = """
[anchors]
score = "s = 2"
mask = "m = 0"
"""


def misconception(find: str, replace: str) -> Misconception:
    """Return a misconception that makes the given edit."""
    return Misconception(exercise="double", name="squares", find=find, replace=replace, hint="You square.")


def write(tmp_path: Path, text: str, exercise: str = "double") -> Path:
    """Write one file of the assignment in `tmp_path`; return the folder of the assignment."""
    assignment = tmp_path / "source" / "01-sums"
    path = assignment / "misconceptions" / f"{exercise}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return assignment


def refusal(assignment: Path) -> str:
    """Return the message of the error that `load` raises."""
    with pytest.raises(GraderError) as caught:
        load(assignment)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_the_misconceptions_of_the_course_fit_its_exercises(assignment: Path) -> None:
    """Each edit fits exactly once and changes the reference. Every exercise has a file, and every file an exercise."""
    misconceptions = load(assignment)
    texts = {each.exercise: reference(each.exercise) for each in misconceptions}
    assert [each.name for each in misconceptions if each.apply(texts[each.exercise]) == texts[each.exercise]] == []
    notebooks = [notebook for path, notebook in NOTEBOOKS.items() if path.parent == assignment]
    names = {name for notebook in notebooks for name in Outline(notebook).coded}
    assert names and {path.stem for path in (assignment / "misconceptions").iterdir()} == names == set(texts)


LAST_LINES = "        y = y + 0\n\n    return y"
EDITS = {
    "part of a line": ("2 * x", "x * x", "2 * x", "x * x"),
    "nothing in its place": (" + 0", "", "y + 0", "y"),
    "inherited indentation": ("y = 2 * x", "z = x\ny = z", "y = 2 * x", "z = x\n        y = z"),
    "inherited inside a line": ("2 * x", "sum(\n    x)", "2 * x", "sum(\n            x)"),
    "two lines found": ("y = 2 * x\ny = y + 0", "pass", "y = 2 * x\n        y = y + 0", "pass"),
    "empty line stays empty": ("y = 2 * x", "a\n\nb", "y = 2 * x", "a\n\n        b"),
    "whole lines as they are": (LAST_LINES, "    return y + 0", LAST_LINES, "    return y + 0"),
    "whole line removed": ("        y = y + 0\n", "", "        y = y + 0\n", ""),
    "begins with a line break": ("\ny = y + 0", "", "\n        y = y + 0", ""),
}


@pytest.mark.parametrize(("find", "replace", "old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_changes_one_place(find: str, replace: str, old: str, new: str) -> None:
    """Only the place that `find` names changes."""
    assert REFERENCE.count(old) == 1
    assert misconception(find, replace).apply(REFERENCE) == REFERENCE.replace(old, new)


def test_an_edit_that_does_not_fit_is_refused() -> None:
    """A reference that changed is noticed, and so is an edit that could be made in two places, also if they overlap."""
    for find, code, times in (
        ("3 * x", REFERENCE, 0),
        ("y = ", REFERENCE, 2),
        ("y = 2 * x\n        y = y + 0", REFERENCE, 0),  # indentation repeated though inherited
        ("        y = 2 * x\ny = y + 0", REFERENCE, 0),  # indentation in the first line only
        ("aa", "aaa", 2),
    ):
        place = f"^misconception 'squares' of double: .* occurs {times} times: .*; adapt it"
        with pytest.raises(GraderError, match=place):
            misconception(find, "y").apply(code)
    assert misconception("aa", "b").apply("aa") == "b"


def test_the_folder_and_the_files_in_it_are_optional(tmp_path: Path) -> None:
    """Other files are ignored, and Python code beside the data is not run."""
    assert load(tmp_path) == []
    (tmp_path / "misconceptions").mkdir()
    (tmp_path / "misconceptions" / "README.md").write_text("notes")
    assert load(tmp_path) == []
    assignment = write(tmp_path, ENTRY)
    (assignment / "misconceptions.py").write_text("raise SystemExit")
    (assignment / "misconceptions" / "other.py").write_text("raise SystemExit")
    assert len(load(assignment)) == 1


def test_entries_are_read_in_order(tmp_path: Path) -> None:
    """Files come in the order of their names, entries in the order of the file: the first match gives the name."""
    write(tmp_path, ENTRY + ENTRY.replace("squares", "adds"), "b")
    assignment = write(tmp_path, ENTRY.replace("squares", "zeros"), "a")
    read = [(misconception.exercise, misconception.name) for misconception in load(assignment)]
    assert read == [("a", "zeros"), ("b", "squares"), ("b", "adds")]
    assert load(assignment)[1] == Misconception("b", "squares", "2 * x", "x * x", "You square.")


def test_an_entry_can_belong_to_other_exercises(tmp_path: Path) -> None:
    """Its anchors are those of its own file; in each exercise the order of reading holds."""
    text = ANCHORS + ENTRY.replace('find = "2 * x"', 'at = "mask"\nalso = ["b", "c"]')
    write(tmp_path, text, "a")
    assignment = write(tmp_path, ENTRY.replace("squares", "adds"), "b")
    read = [(misconception.exercise, misconception.name, misconception.find) for misconception in load(assignment)]
    assert read == [
        ("a", "squares", "m = 0"),
        ("b", "squares", "m = 0"),
        ("c", "squares", "m = 0"),
        ("b", "adds", "2 * x"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        # Several entries can share an anchor, of one line or more.
        ('find = "2 * x"', 'at = "score"', "find", "s = 2"),
        ('find = "2 * x"', 'at = "lines"', "find", "s = 2\nt = s"),
        # A hint may be wrapped like prose or have a name in the loader, and a text of code keeps its lines.
        ('"You square."', '"""\nYou  square:\n  x times x.\n"""', "hint", "You square: x times x."),
        ('hint = "You square."', 'hint_from = "torch_does_it"', "hint", HINTS["torch_does_it"]),
        ('"x * x"', '"""\nx\n* x\n"""', "replace", "x\n* x\n"),
        # Leaving something out is a misconception like any other.
        ('"x * x"', '""', "replace", ""),
    ],
)
def test_a_field_has_the_value_that_the_file_gives(tmp_path: Path, old: str, new: str, field: str, value: str) -> None:
    """However it is written: by itself, by the name of an anchor or a hint, on several lines, or empty."""
    anchors = ANCHORS + 'lines = """\ns = 2\nt = s"""\n'
    [misconception] = load(write(tmp_path, anchors + ENTRY.replace(old, new)))
    assert getattr(misconception, field) == value


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("hint =", "hnt =", "Object contains unknown field `hnt`"),
        ('replace = "x * x"', "", "Object missing required field `replace`"),
        ('"x * x"', "3", "Expected `str`, got `int` - at `$.replace`"),
        ('find = "2 * x"', 'find = ""', "Expected `str` of length >= 1 - at `$.find`"),
        ("hint =", 'also = "b"\nhint =', "Expected `array`, got `str` - at `$.also`"),
        ("find =", 'at = "score"\nfind =', "or `find`, but this one has both"),
        ('find = "2 * x"', "", "or `find`, but this one has neither"),
        ("hint =", 'hint_from = "x"\nhint =', "or `hint`, but this one has both"),
        ('hint = "You square."', "", "or `hint`, but this one has neither"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """The message says the file, the entry, the defect and the rule, and a right entry before it does no harm."""
    assert ENTRY.count(old) == 1
    wrong = ENTRY.replace("squares", "adds").replace(old, new)
    message = refusal(write(tmp_path, ANCHORS + ENTRY + wrong))
    assert message.startswith("source/01-sums/misconceptions/double.toml: misconception 2 ('adds'): ")
    assert problem in message
    assert "each with name, at or find, replace, hint or hint_from, and optionally also" in message


UNNAMED, NUMBERED = (ENTRY.replace('name = "squares"', name) for name in ("", "name = 7"))
AT, FROM = (
    ENTRY.replace('find = "2 * x"', 'at = "points"'),
    ENTRY.replace('hint = "You square."', 'hint_from = "numpy"'),
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        # Entries count from 1.
        (UNNAMED, "misconception 1 ('no name'): Object missing required field `name`"),
        (NUMBERED, "misconception 1 (7): Expected `str`, got `int` - at `$.name`"),
        # The message lists the anchors of the file, or the hints of the loader.
        (
            ANCHORS + AT,
            "misconception 1 ('squares'): there is no anchor 'points' for 'at'; the anchors are score, mask",
        ),
        (AT, "misconception 1 ('squares'): there is no anchor 'points' for 'at'; the anchors are missing"),
        (
            FROM,
            f"misconception 1 ('squares'): there is no hint 'numpy' for 'hint_from'; the hints are {', '.join(HINTS)}",
        ),
        # Defects outside the entries.
        ('[[misconception]]\nname = "', "must be TOML in UTF-8, but cannot be read ("),
        (ENTRY.replace("hint", "name"), "Cannot overwrite a value (at line 6"),
        ("", "Object missing required field `misconception`"),
        ('[anchor]\nscore = "s"\n' + ENTRY, "Object contains unknown field `anchor`"),
        ("[anchors]\nscore = 3\n" + ENTRY, "Expected `str`, got `int` - at `$.anchors[...]`"),
        ('[misconception]\nname = "squares"', "Expected `array`, got `object`"),
        ("misconception = [1]", "Expected `object`, got `int` - at `$.misconception[0]`"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """So is an entry without a name, by its number, and a folder in the place of a file; a right file does no harm."""
    write(tmp_path, ENTRY, "a")
    message = refusal(write(tmp_path, text))
    assert message.startswith("source/01-sums/misconceptions/double.toml: ") and problem in message
    path = tmp_path / "source/01-sums/misconceptions/double.toml"
    path.write_bytes(b'[[misconception]]\nname = "\xff"')
    assert "double.toml: must be TOML in UTF-8" in refusal(path.parents[1])
    path.unlink()
    path.mkdir()
    assert "double.toml: must be TOML in UTF-8" in refusal(path.parents[1])
    if text in (ANCHORS + AT, AT, FROM):
        assert message == f"source/01-sums/misconceptions/double.toml: {problem}"


def test_a_name_is_unique_within_an_exercise(tmp_path: Path) -> None:
    """Two exercises may use the same name; `also` counts."""
    write(tmp_path, ENTRY, "a")
    assignment = write(tmp_path, ENTRY, "b")
    assert len(load(assignment)) == 2
    write(tmp_path, ENTRY + ENTRY, "b")
    folder = "source/01-sums/misconceptions"
    message = refusal(assignment)
    assert message.startswith(f"{folder}/b.toml: misconception 2 ('squares'): names are unique within an exercise")
    assert f"b already has this one from {folder}/b.toml: misconception 1 ('squares')" in message
    write(tmp_path, ENTRY, "b")
    write(tmp_path, ENTRY + 'also = ["b"]\n', "a")
    assert f"b already has this one from {folder}/a.toml: misconception 1 ('squares')" in refusal(assignment)


TIE = """
[[sentence]]
says = "Yours is squared"
means = ["squares"]
"""


def test_sentences_are_tied_by_exercise(tmp_path: Path) -> None:
    """An exercise without entries has none, and those of all exercises stand above the assignments."""
    assignment = write(tmp_path, ENTRY + TIE + '[[sentence]]\nsays = "None"\nalways = "it got None"\n')
    write(tmp_path, ENTRY, exercise="triple")
    tied = [Tie("Yours is squared", means=["squares"]), Tie("None", always="it got None")]
    assert load_ties(assignment) == {"double": tied, "triple": []} and len(load(assignment)) == 2
    assert load_common_ties(assignment.parent) == []
    (assignment.parent / "sentences.toml").write_text('[[sentence]]\nsays = "None"\nalways = "it got None"\n')
    assert load_common_ties(assignment.parent) == [Tie("None", always="it got None")]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"squares"]', '"cubes"]', "'means' names misconceptions of the exercise, and 'cubes' is none of them"),
        ('means = ["squares"]', "", "exactly one of `means`, `always` and `dead`"),
        ('means = ["squares"]', "means = []", "exactly one of `means`, `always` and `dead`"),
        ('means = ["squares"]', 'means = ["squares"]\nalways = "so"', "exactly one of `means`, `always` and `dead`"),
        ('means = ["squares"]', 'dead = "so"\nmutants = "so"', "`mutants` needs `means` beside it"),
        ("says", "said", "`said`"),
        ('"Yours is squared"', '""', "`$.says`"),
    ],
)
def test_a_wrong_tie_is_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """The message gives the file, the number of the entry and what is wrong with it."""
    assignment = write(tmp_path, ENTRY + TIE.replace(old, new))
    with pytest.raises(GraderError) as caught:
        load_ties(assignment)
    message = str(caught.value)
    assert "01-sums/misconceptions/double.toml: sentence 1" in message and problem in message and "\n" not in message


def test_a_tie_of_all_exercises_names_no_misconception(tmp_path: Path) -> None:
    """Names belong to one exercise."""
    path = tmp_path / "sentences.toml"
    path.write_text(TIE)
    with pytest.raises(GraderError, match="has `says` and `always` only"):
        load_common_ties(tmp_path)
    path.write_text("[[sentence")
    with pytest.raises(GraderError, match="must be TOML in UTF-8"):
        load_common_ties(tmp_path)
