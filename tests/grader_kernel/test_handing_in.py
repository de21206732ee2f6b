"""`hand_in()` in a real kernel hands in to a real service, or grades here, and shows the report below its cell."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grader.classroom.course_root import remember
from tests.commands.serve.serving import Server, make_served_course, written
from tests.support.paths import REPOSITORY
from tests.support.small_class import NAME

LIMITED = 'c.SubmissionPolicy.assignments = {"02-few": {"attempts": 1}}\n'
WRONG = "def one(x=1):\n    return x + 1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with two assignments."""
    server = Server(make_served_course(tmp_path_factory.mktemp("served") / "course", LIMITED, ["02-few"]))
    yield server
    assert server.stop() == 0


def shown(
    folder: Path,
    content: bytes | None,
    *before: str,
    call: str = "hand_in()",
    assignment: str = NAME,
    **environment: str,
) -> str:
    """Run `hand_in()` in the kernel of a student's notebook, and return as text what stands below the cell.

    Args:
        folder: the student's own.
        content: the notebook as saved; None leaves it unsaved.
        before: cells that run first.
        call: how the function is called.
        assignment: the folder of the notebook.
        environment: variables of the kernel's environment.
    """
    path = folder / assignment / "small.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        path.write_bytes(content)
    cells = [*before, f"from grader_kernel import hand_in; {call}"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    client = NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}})
    own = {"JPY_SESSION_NAME": str(path), "PYTHONPATH": str(REPOSITORY), "HOME": str(folder), **environment}
    client.execute(env={**os.environ, **own})
    [output] = notebook.cells[-1].outputs
    return re.sub(r"<[^>]+>", " ", output.data["text/html"])


def access(server: Server, student: str) -> dict[str, str]:
    """The variables of the environment that lead a student to the service."""
    return {"HAND_IN_URL": server.url, "HAND_IN_TOKEN": server.tokens[student]}


def test_a_wrong_answer_is_read_about_and_mended(server: Server, tmp_path: Path) -> None:
    """The first report says what is wrong in the words of the tests and names the cause; the second has full points."""
    text = shown(tmp_path, written(server.folder, one=WRONG), **access(server, "ann"))
    assert "5 of 8 points from tests" in text
    assert re.search(
        r"✗\s+one\s+: not right yet, 0 of 3 points\s+Your code behaves exactly like one that adds one", text
    )
    assert "one() is 1." in text
    assert re.search(r"✓\s+two\s+: right, 5 of 5 points", text)
    assert "as saved at" in text and "Did you save" not in text
    assert "8 of 8 points from tests" in shown(tmp_path, written(server.folder), **access(server, "ann"))


def test_the_settings_file_of_a_class_leads_to_the_service(server: Server, tmp_path: Path) -> None:
    """It may lie above the notebook; it says how many attempts are left, and the refusal of one more is in words."""
    (tmp_path / "hand_in.toml").write_text(f'url = "{server.url}/"\ntoken = "{server.tokens["bob"]}"\n')
    text = shown(tmp_path, written(server.folder), assignment="02-few")
    assert "8 of 8 points" in text and "Attempts left: 0." in text
    text = shown(tmp_path, written(server.folder, one=WRONG), assignment="02-few")
    assert "Not handed in: all 1 attempts at this notebook are used." in text


def test_one_is_reminded_to_save(server: Server, tmp_path: Path) -> None:
    """If the cell that ran last is not in the file, that may be older than what one sees."""
    saved = written(server.folder)
    last = nbformat.reads(saved.decode(), nbformat.NO_CONVERT).cells[2].source
    assert "Did you save?" in shown(tmp_path, saved, "x = 1", **access(server, "cat"))
    assert "Did you save?" not in shown(tmp_path, saved, last, **access(server, "cat"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"HAND_IN_TOKEN": "another"}, "Not handed in: .*token"),
        ({"HAND_IN_URL": "http://127.0.0.1:9"}, "does not answer .*try again, or ask your teacher"),
        ({"HAND_IN_TOKEN": ""}, "You have no token"),
        ({"JPY_SESSION_NAME": ""}, r"run hand_in\(&quot;NAME.ipynb&quot;\)"),
        ({"JPY_SESSION_NAME": "/nowhere/x.ipynb"}, "There is no file /nowhere/x.ipynb: save the notebook"),
    ],
    ids=["wrong token", "no answer", "no token", "no name", "no file"],
)
def test_a_problem_is_a_sentence(server: Server, tmp_path: Path, change: dict[str, str], says: str) -> None:
    """It says what to do, and there is no traceback."""
    assert re.search(says, shown(tmp_path, written(server.folder), **access(server, "dan") | change))


def test_a_file_that_is_no_notebook_is_refused_in_words(server: Server, tmp_path: Path) -> None:
    """The service says why."""
    assert "Not graded: " in shown(tmp_path, b"{}", **access(server, "eve"))


def test_who_learns_alone_is_graded_on_this_computer(server: Server, tmp_path: Path) -> None:
    """Without a service, in the course folder, once that is known; without both, the sentence says what to do."""
    text = shown(server.folder / "mine", written(server.folder, one=WRONG))
    assert f"{server.folder} was not used before" in text and "run this once with --trust" in text
    remember(server.folder)
    text = shown(server.folder / "mine", written(server.folder, one=WRONG))
    assert "5 of 8 points from tests" in text and "adds one" in text and "Attempts" not in text
    assert "ask your teacher for the file hand_in.toml" in shown(tmp_path, written(server.folder))
