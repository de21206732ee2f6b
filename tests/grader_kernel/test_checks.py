"""In a student's kernel a check says a sentence; for all programs that run the notebook it is an error as before."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.validator import Validator
from traitlets.config import Config

from grader.classroom.course_dir import CourseDir
from grader.classroom.release import register, release
from tests.support.notebooks import (
    IN_A_FRONT_END,
    answer,
    answered,
    cell,
    check,
    code,
    helpers,
    hidden,
    notebook,
    written,
)
from tests.support.paths import REPOSITORY
from tests.support.waiting import HANGS

pytestmark = pytest.mark.slow

NAME = "01-small"
SECRET = "Here the cubes are returned."
SENTENCE = (
    "The squares of 1 and 2 are 1 and 4, and yours are 1 and 2, which are the numbers that came in. "
    "Does your function return x itself, without any change to it?"
)
CHECK = f"""\
got = [NAME(x) for x in (1, 2)]
assert got != [1, 8], "{SECRET}"
assert got != [1, 2], (
    "{SENTENCE}")
assert got == [1, 4], "These are no squares."
"""
STUB = "### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION"
ANSWERS = {
    "right": "def right(x):\n    return x ** 2",
    "wrong": "def wrong(x):\n    return x",
    "broken": "def broken(x):\n    return helper(x)\n\n\ndef helper(x):\n    return x / 0",
    "nothing": "def nothing(x):\n    pass",
    "renamed": "def another_name(x):\n    return x",
    "calling": "def calling(x):\n    return given(-x)",
    "widened": "def widened(x):\n    return torch.ones(x).double()",
    "own-assertion": "def own_assertion(x):\n    assert x > 1, 'my own test'\n    return x",
}
"""What a student wrote, by exercise; `blank` stays as it was released."""
CHECKS = {
    "nothing": "assert nothing(3).bit_length() == 4",
    "widened": "assert torch.allclose(widened(3), torch.ones(3))",
    "calling": 'def given(x):\n    assert x >= 0, "given takes no number below 0"\n    return x\n\n\ncalling(1)',
}
FAILED = {
    "wrong": "AssertionError",
    "broken": "ZeroDivisionError",
    "nothing": "AttributeError",
    "renamed": "NameError",
    "calling": "AssertionError",
    "widened": "RuntimeError",
    "own-assertion": "AssertionError",
    "blank": "NotImplementedError",
}


def exercise(name: str) -> tuple[NotebookNode, NotebookNode]:
    function = name.replace("-", "_")
    source = CHECKS.get(name, CHECK.replace("NAME", function))
    return answer(name, f"def {function}(x):\n    {STUB}"), check(f"{name}-check", source)


SOURCE = notebook(
    helpers("imports", "import grader_kernel\nimport torch"),
    *(each for name in (*ANSWERS, "blank") for each in exercise(name)),
    hidden("right-test-more", "Zero has the square zero.", "assert right(0) == 0"),
    written("why", "Because."),
    code("blank(2)", "experiment"),
)


@pytest.fixture(scope="module")
def course_dir(tmp_path_factory: pytest.TempPathFactory) -> CourseDir:
    """A course folder with the repository's settings, in which the notebook was released."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(REPOSITORY / "nbgrader_config.py", folder)
    (folder / "source" / NAME).mkdir(parents=True)
    nbformat.write(SOURCE, folder / "source" / NAME / "small.ipynb")
    release(CourseDir(folder), NAME)
    return CourseDir(folder)


@pytest.fixture(scope="module")
def released(course_dir: CourseDir) -> NotebookNode:
    """The notebook as students receive it."""
    return nbformat.read(course_dir.folder("release", NAME) / "small.ipynb", as_version=4)


@pytest.fixture(scope="module")
def submission(released: NotebookNode) -> NotebookNode:
    """The notebook with a student's answers."""
    return answered(released, **ANSWERS)


def executed(notebook: NotebookNode, **options: Any) -> tuple[NotebookNode, dict[str, str]]:
    """Run a copy of a notebook in a kernel; return it, and by exercise how its check ended for the kernel."""
    notebook = nbformat.from_dict(notebook)
    replies = {}

    def note(cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        content = execute_reply["content"]
        if name.endswith("-check"):
            replies[name.removesuffix("-check")] = content.get("ename", content["status"])

    client = NotebookClient(notebook, kernel_name="python3", timeout=HANGS, on_cell_executed=note, **options)
    client.shutdown_kernel = "immediate"
    client.execute()
    return notebook, replies


@pytest.fixture(scope="module")
def run(submission: NotebookNode) -> tuple[NotebookNode, dict[str, str]]:
    """What a student sees after "Run All", and how each check ended for the kernel."""
    return executed(submission)


@pytest.fixture
def seen(run: tuple[NotebookNode, dict[str, str]]) -> NotebookNode:
    return run[0]


def outputs(notebook: NotebookNode, name: str) -> list[NotebookNode]:
    return cell(notebook, name).outputs


def error_text(outputs: list[NotebookNode]) -> str:
    """The first output, an error, as it is read: without colours."""
    assert outputs[0].output_type == "error"
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(outputs[0].traceback))


def test_every_check_ends_for_the_kernel_as_it_did_before(run: tuple[NotebookNode, dict[str, str]]) -> None:
    """A failed check is an error of its own kind; "Run All" goes on past it, up to the end."""
    seen, replies = run
    assert replies == {"right": "ok"} | FAILED
    shown = {name: outputs(seen, f"{name}-check")[0].ename for name in FAILED}
    assert shown == FAILED
    assert outputs(seen, "wrong-check")[0].evalue == SENTENCE


def test_a_failed_check_says_one_sentence(seen: NotebookNode) -> None:
    """The exercise stands first, then the sentence; the full traceback, with the check's code, is folded below."""
    error, folded = outputs(seen, "wrong-check")
    text = error_text([error])
    assert text.startswith("✗ wrong · not right yet\n\nThe squares of 1 and 2 are")
    assert text.split("\n\n", 1)[1].split() == SENTENCE.split()
    assert max(map(len, text.splitlines())) <= 88
    assert folded.output_type == "display_data"
    assert folded.data["text/html"].startswith("<details><summary>The full traceback")
    assert SECRET in folded.data["text/html"] and SECRET not in str(error)


def test_a_passed_check_says_so_and_a_hidden_test_does_not(seen: NotebookNode) -> None:
    """A folded cell without an output would look as if it had not run; a hidden test is one line without output."""
    (output,) = outputs(seen, "right-check")
    assert (output.name, output.text) == ("stdout", "\x1b[32m✓\x1b[0m right: the visible check passes.\n")
    assert not outputs(seen, "right-test-more")
    source = cell(seen, "right-test-more").source
    assert source == "# Hidden test of right, run by the grader: Zero has the square zero."


def test_a_blank_is_not_written_yet(seen: NotebookNode) -> None:
    """No traceback: the name of the exercise, and of the function that is still to be written."""
    (_,) = outputs(seen, "blank-check")
    says = "still says `raise NotImplementedError()`."
    assert error_text(outputs(seen, "blank-check")) == f"○ Not written yet: blank.\nblank {says}"
    assert error_text(seen.cells[-1].outputs) == f"○ Not written yet: blank.\nIt {says}"


BLANK = "    # YOUR CODE HERE\n    raise NotImplementedError()"
PLAIN = {
    "as released": f"def f():\n{BLANK}\nf()",
    "begun": "def f():\n    # YOUR CODE HERE\n    x = [1 for _ in range(2)]\n    raise NotImplementedError()\nf()",
    "in a library": f"def f(x):\n{BLANK}\nlist(map(f, [1]))",
    "outside a function": BLANK.replace("    ", ""),
    "of a class": f"class A:\n    def f(self):\n{BLANK.replace('    ', 8 * ' ')}\nA().f()",
}
RED = {
    "without the comment": "def f():\n    raise NotImplementedError()\nf()",
    "with a reason": "def f():\n    # YOUR CODE HERE\n    raise NotImplementedError('no complex numbers')\nf()",
    "comment elsewhere": "# YOUR CODE HERE\ndef f():\n    raise NotImplementedError()\nf()",
    "comment below": "def f():\n    raise NotImplementedError()\n    # YOUR CODE HERE\nf()",
    "of a library": "import asyncio\nasyncio.BaseTransport().close()",
    "own kind": "class Mine(NotImplementedError): pass\n# YOUR CODE HERE\nraise Mine()",
    "another error": "def f():\n    # YOUR CODE HERE\n    return 1 / 0\n    raise NotImplementedError()\nf()",
}


@pytest.fixture(scope="module")
def watched(submission: NotebookNode) -> tuple[NotebookNode, dict[str, str]]:
    """What a student sees in JupyterLab, with more cells, and how each check ended for the kernel."""
    more = [code(source, "raises-exception") for source in (*PLAIN.values(), *RED.values())]
    return executed(NotebookNode(submission | {"cells": [*submission.cells, *more]}), config=IN_A_FRONT_END)


def test_a_blank_is_plain_text_in_a_front_end(watched: tuple[NotebookNode, dict[str, str]]) -> None:
    """No red box, for the check and for other cells; for the kernel it is an error still."""
    seen, replies = watched
    assert replies == {"right": "ok"} | FAILED
    says = "still says `raise NotImplementedError()`."
    [output] = outputs(seen, "blank-check")
    text = f"○ Not written yet: blank.\nblank {says}\n"
    assert (output.output_type, output.name, output.text) == ("stream", "stdout", text)
    cells = {cell.source: cell for cell in seen.cells}
    for name, source in PLAIN.items():
        kinds = {output.output_type for output in cells[source].outputs}
        assert kinds == {"stream"} and "○ Not written yet: " in cells[source].outputs[0].text, name


def test_every_other_error_stays_red(watched: tuple[NotebookNode, dict[str, str]]) -> None:
    """Those of answered exercises, and each NotImplementedError that is not of a blank."""
    seen, _ = watched
    shown = {name: outputs(seen, f"{name}-check")[0].get("ename") for name in FAILED}
    assert shown == FAILED | {"blank": None}
    cells = {cell.source: cell for cell in seen.cells}
    assert [name for name, source in RED.items() if cells[source].outputs[0].output_type != "error"] == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "nothing",
            "The check could not go on: nothing(3).bit_length raised "
            "AttributeError: 'NoneType' object has no attribute 'bit_length'",
        ),
        (
            "widened",
            "The check compares numbers in float64 with numbers in float32: is your dtype the required one?",
        ),
    ],
)
def test_a_check_that_cannot_go_on_says_why(seen: NotebookNode, name: str, says: str) -> None:
    """What it wanted from the returned value and got, and the two dtypes as a student writes them."""
    assert " ".join(error_text(outputs(seen, f"{name}-check")).split("\n\n")[1].split()) == says


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "broken",
            [
                "✗ broken · not right yet\n\nYour code raised ZeroDivisionError: division by zero\n",
                *("in broken(x)", "----> 2     return helper(x)", "in helper(x)", "----> 6     return x / 0"),
            ],
        ),
        ("own-assertion", ["Your code raised AssertionError: my own test", "----> 2     assert x > 1, 'my own test'"]),
        ("renamed", ["renamed is not defined here.", "did you run the cells from the top?"]),
    ],
)
def test_an_error_in_the_students_code_keeps_the_students_lines(seen: NotebookNode, name: str, says: list[str]) -> None:
    """The traceback goes through the student's functions, not through the check; a missing name is named."""
    text = error_text(outputs(seen, f"{name}-check"))
    assert [words for words in says if words not in text + " ".join(text.split())] == []
    assert "got = " not in text and SECRET not in text


def test_a_sentence_from_below_the_students_code_names_the_students_line(seen: NotebookNode) -> None:
    """The check hands over functions that say how they want to be called."""
    text = error_text(outputs(seen, "calling-check"))
    head, place, line = text.splitlines()[2], *text.splitlines()[4:]
    assert head == "given takes no number below 0"
    assert re.fullmatch(r"Your code was at Cell In\[\d+\], line 2:", place) and line == "    given(-x)"


def test_the_instructors_notebook_looks_as_ever() -> None:
    """Its stored outputs hold: nothing below a check that passes, and the usual traceback below one that fails."""
    seen, replies = executed(answered(SOURCE, wrong=ANSWERS["wrong"]), allow_errors=True)
    assert replies["right"] == "ok" and outputs(seen, "right-check") == []
    (error,) = outputs(seen, "wrong-check")
    assert replies["wrong"] == error.ename == "AssertionError"
    text = error_text([error])
    assert "Traceback (most recent call last)" in text and SECRET in text


def test_nbgrader_validate_reports_what_failed(submission: NotebookNode, tmp_path: Path) -> None:
    """The button "Validate" lists the same cells, with the sentences."""
    nbformat.write(submission, tmp_path / "small.ipynb")
    result = Validator().validate(str(tmp_path / "small.ipynb"))
    assert list(result) == ["failed"]
    failed = {failure["source"].splitlines()[0]: failure["raw_error"] for failure in result["failed"]}
    # An answer that was not written is no answer to validate.
    assert failed.pop(cell(submission, "why").source.splitlines()[0]) == "You did not provide a response."
    assert failed.keys() == {f"# Check of {name}: run this cell." for name in FAILED}
    assert "The squares of 1 and 2" in failed["# Check of wrong: run this cell."]


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_nbgrader_gives_the_same_points(course_dir: CourseDir, submission: NotebookNode) -> None:
    """Without our plug-in: nothing for a failed check, everything for a passed one, and no response to mark."""
    register(course_dir, NAME)
    submitted = course_dir.folder("submitted", NAME, "ann")
    submitted.mkdir(parents=True)
    nbformat.write(submission, submitted / "small.ipynb")
    config = Config(course_dir.config)
    del config["Autograde"]
    Autograde(coursedir=CourseDirectory(config=config, assignment_id=NAME), config=config).start()
    with course_dir.gradebook() as gradebook:
        (found,) = gradebook.find_submission(NAME, "ann").notebooks
        scores = {grade.name: grade.score for grade in found.grades}
        marking = [grade.name for grade in found.grades if grade.needs_manual_grade]
    assert scores == {f"{name}-check": 0 for name in FAILED} | {"right-check": 1, "right-test-more": 1, "why": 0}
    assert marking == []


def test_without_a_kernel_nothing_is_changed() -> None:
    """The grader's sandbox has IPython's shell and no kernel, even where the kernel's package is loaded."""
    program = (
        "import ipykernel.zmqshell\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "registered = str(shell.events.callbacks)\n"
        "import grader_kernel\n"
        "print(shell.custom_exceptions, str(shell.events.callbacks) == registered)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANGS, check=True)
    assert done.stdout == "() True\n"
