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
def test_every_misconception_of_the_course_fits_its_reference(assignment: Path) -> None:
    """Each edit fits exactly once, and changes the reference."""
    misconceptions = load(assignment)
    unchanged = [
        each.name for each in misconceptions if each.apply(reference(each.exercise)) == reference(each.exercise)
    ]
    assert misconceptions and unchanged == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda assignment: assignment.name)
def test_every_exercise_has_a_file_and_every_file_an_exercise(assignment: Path) -> None:
    """No misconception is left over from an exercise that was renamed or removed, or belongs to another assignment."""
    notebooks = [notebook for path, notebook in NOTEBOOKS.items() if path.parent == assignment]
    names = {name for notebook in notebooks for name in Outline(notebook).coded}
    assert {path.stem for path in (assignment / "misconceptions").iterdir()} == names
    assert {misconception.exercise for misconception in load(assignment)} == names


@pytest.mark.parametrize(
    ("find", "replace", "old", "new"),
    [
        pytest.param("2 * x", "x * x", "2 * x", "x * x", id="part of a line"),
        pytest.param(" + 0", "", "y + 0", "y", id="nothing in its place"),
        pytest.param("y = 2 * x", "z = x\ny = z", "y = 2 * x", "z = x\n        y = z", id="inherited indentation"),
        pytest.param("2 * x", "sum(\n    x)", "2 * x", "sum(\n            x)", id="inherited inside a line"),
        pytest.param("y = 2 * x\ny = y + 0", "pass", "y = 2 * x\n        y = y + 0", "pass", id="two lines found"),
        pytest.param("y = 2 * x", "a\n\nb", "y = 2 * x", "a\n\n        b", id="empty line stays empty"),
        pytest.param(
            "        y = y + 0\n\n    return y",
            "    return y + 0",
            "        y = y + 0\n\n    return y",
            "    return y + 0",
            id="whole lines as they are",
        ),
        pytest.param("        y = y + 0\n", "", "        y = y + 0\n", "", id="whole line removed"),
        pytest.param("\ny = y + 0", "", "\n        y = y + 0", "", id="begins with a line break"),
    ],
)
def test_an_edit_changes_one_place(find: str, replace: str, old: str, new: str) -> None:
    """Only the place that `find` names changes."""
    assert REFERENCE.count(old) == 1
    assert misconception(find, replace).apply(REFERENCE) == REFERENCE.replace(old, new)


@pytest.mark.parametrize(
    ("find", "times"),
    [
        pytest.param("3 * x", 0, id="nowhere"),
        pytest.param("y = ", 2, id="twice"),
        pytest.param("y = 2 * x\n        y = y + 0", 0, id="indentation repeated though inherited"),
        pytest.param("        y = 2 * x\ny = y + 0", 0, id="indentation in the first line only"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(find: str, times: int) -> None:
    """A reference that changed under a misconception is noticed, and so is an ambiguous edit."""
    with pytest.raises(GraderError, match=f"^misconception 'squares' of double: .* occurs {times} times: .*; adapt it"):
        misconception(find, "y").apply(REFERENCE)


def test_overlapping_places_count_as_two() -> None:
    """An edit that could be made in two ways is ambiguous even where the ways overlap."""
    with pytest.raises(GraderError, match="occurs 2 times"):
        misconception("aa", "b").apply("aaa")
    assert misconception("aa", "b").apply("aa") == "b"


def test_an_assignment_without_a_folder_has_no_misconceptions(tmp_path: Path) -> None:
    """The folder is optional, and so are files in it; other files are ignored."""
    assert load(tmp_path) == []
    (tmp_path / "misconceptions").mkdir()
    (tmp_path / "misconceptions" / "README.md").write_text("notes")
    assert load(tmp_path) == []


def test_entries_are_read_in_order(tmp_path: Path) -> None:
    """Files come in the order of their names, entries in the order of the file: the first match gives the name."""
    write(tmp_path, ENTRY + ENTRY.replace("squares", "adds"), "b")
    assignment = write(tmp_path, ENTRY.replace("squares", "zeros"), "a")
    read = [(misconception.exercise, misconception.name) for misconception in load(assignment)]
    assert read == [("a", "zeros"), ("b", "squares"), ("b", "adds")]
    assert load(assignment)[1] == Misconception("b", "squares", "2 * x", "x * x", "You square.")


def test_an_anchor_gives_the_text_to_find(tmp_path: Path) -> None:
    """Several entries can share one, of one line or more."""
    text = ANCHORS + ENTRY.replace('find = "2 * x"', 'at = "score"')
    [misconception] = load(write(tmp_path, text))
    assert misconception.find == "s = 2"
    [misconception] = load(write(tmp_path, text.replace('"s = 2"', '"""\ns = 2\nt = s"""')))
    assert misconception.find == "s = 2\nt = s"


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


def test_a_hint_is_one_line_however_it_is_written(tmp_path: Path) -> None:
    """It may be wrapped like prose; a text of code keeps its lines."""
    text = ENTRY.replace('"You square."', '"""\nYou  square:\n  x times x.\n"""').replace('"x * x"', '"""\nx\n* x\n"""')
    [misconception] = load(write(tmp_path, text))
    assert (misconception.hint, misconception.replace) == ("You square: x times x.", "x\n* x\n")


def test_a_hint_can_be_named(tmp_path: Path) -> None:
    """Hints that fit many exercises have names in the loader."""
    [misconception] = load(write(tmp_path, ENTRY.replace('hint = "You square."', 'hint_from = "torch_does_it"')))
    assert misconception.hint == HINTS["torch_does_it"]


def test_a_text_in_its_place_may_be_empty(tmp_path: Path) -> None:
    """Leaving something out is a misconception like any other."""
    [misconception] = load(write(tmp_path, ENTRY.replace('"x * x"', '""')))
    assert misconception.replace == ""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("hint =", "hnt =", "Object contains unknown field `hnt`", id="unknown key"),
        pytest.param('replace = "x * x"', "", "Object missing required field `replace`", id="missing key"),
        pytest.param('"x * x"', "3", "Expected `str`, got `int` - at `$.replace`", id="number for a text"),
        pytest.param('find = "2 * x"', 'find = ""', "Expected `str` of length >= 1 - at `$.find`", id="empty text"),
        pytest.param("hint =", 'also = "b"\nhint =', "Expected `array`, got `str` - at `$.also`", id="text for a list"),
        pytest.param("find =", 'at = "score"\nfind =', "or `find`, but this one has both", id="at and find"),
        pytest.param('find = "2 * x"', "", "or `find`, but this one has neither", id="no at and no find"),
        pytest.param("hint =", 'hint_from = "x"\nhint =', "or `hint`, but this one has both", id="2 hints"),
        pytest.param('hint = "You square."', "", "or `hint`, but this one has neither", id="no hint"),
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


def test_an_entry_without_a_name_is_named_by_its_number(tmp_path: Path) -> None:
    """Entries count from 1."""
    message = refusal(write(tmp_path, ENTRY.replace('name = "squares"', "")))
    assert "double.toml: misconception 1 ('no name'): Object missing required field `name`" in message
    message = refusal(write(tmp_path, ENTRY.replace('name = "squares"', "name = 7")))
    assert "double.toml: misconception 1 (7): Expected `str`, got `int` - at `$.name`" in message


@pytest.mark.parametrize(
    ("anchors", "names"), [(ANCHORS, "score, mask"), ("", "missing")], ids=["other anchors", "no anchors"]
)
def test_an_unknown_anchor_is_named(tmp_path: Path, anchors: str, names: str) -> None:
    """The message lists the anchors of the file."""
    message = refusal(write(tmp_path, anchors + ENTRY.replace('find = "2 * x"', 'at = "points"')))
    place = "source/01-sums/misconceptions/double.toml: misconception 1 ('squares')"
    assert message == f"{place}: there is no anchor 'points' for 'at'; the anchors are {names}"


def test_an_unknown_hint_is_named(tmp_path: Path) -> None:
    """The message lists the hints of the loader."""
    message = refusal(write(tmp_path, ENTRY.replace('hint = "You square."', 'hint_from = "numpy_does_it"')))
    place = "source/01-sums/misconceptions/double.toml: misconception 1 ('squares')"
    assert message == f"{place}: there is no hint 'numpy_does_it' for 'hint_from'; the hints are {', '.join(HINTS)}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param('[[misconception]]\nname = "', "must be TOML in UTF-8, but cannot be read (", id="syntax"),
        pytest.param(ENTRY.replace("hint", "name"), "Cannot overwrite a value (at line 6", id="a key twice"),
        pytest.param("", "Object missing required field `misconception`", id="empty"),
        pytest.param('[anchor]\nscore = "s"\n' + ENTRY, "Object contains unknown field `anchor`", id="unknown table"),
        pytest.param("[anchors]\nscore = 3\n" + ENTRY, "Expected `str`, got `int` - at `$.anchors[...]`", id="no text"),
        pytest.param('[misconception]\nname = "squares"', "Expected `array`, got `object`", id="a table for a list"),
        pytest.param("misconception = [1]", "Expected `object`, got `int` - at `$.misconception[0]`", id="a number"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """A defect outside the entries names the file, and a right file before it does no harm."""
    write(tmp_path, ENTRY, "a")
    message = refusal(write(tmp_path, text))
    assert message.startswith("source/01-sums/misconceptions/double.toml: ")
    assert problem in message


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    """So is a folder with the name of a file."""
    path = write(tmp_path, ENTRY) / "misconceptions" / "double.toml"
    path.write_bytes(b'[[misconception]]\nname = "\xff"')
    assert "double.toml: must be TOML in UTF-8" in refusal(path.parents[1])
    path.unlink()
    path.mkdir()
    assert "double.toml: must be TOML in UTF-8" in refusal(path.parents[1])


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


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    """Files hold data: Python code beside them is not read."""
    assignment = write(tmp_path, ENTRY)
    (assignment / "misconceptions.py").write_text("raise SystemExit")
    (assignment / "misconceptions" / "other.py").write_text("raise SystemExit")
    assert len(load(assignment)) == 1


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
