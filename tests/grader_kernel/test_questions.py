"""Quick questions: bad ones are refused, answers are kept and not handed in, and programs can read the cells."""

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest

from grader_kernel import answers, handing_in, progress, questions, service
from grader_kernel.widget import FOLDER, module
from tests.support.notebooks import check, code, notebook

CHOICE = """import grader_kernel.questions

grader_kernel.questions.choose("one", "Which?", right={"a": "Yes: `a`."}, wrong={"b": "No."})"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for what is kept; returns the file of answers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "grader" / "questions.json"


def choice(name: str = "one") -> questions.Question:
    """Return a question with two options."""
    return questions.choose(name, "Which?", right={"a": "Yes."}, wrong={"b": "No."})


def attempt(time: float, *, right: bool = True) -> dict[str, object]:
    """Return an answer."""
    return {"right": right, "answer": "a", "time": time}


def point(**changes: object) -> questions.Question:
    """Ask for a cell of a table with two rows and two columns."""
    given: dict[str, object] = {"rows": "ab", "columns": "cd", "right": [(0, 0)], "wrong": {}} | changes
    return questions.point("p", "Where?", reason="r", otherwise="o", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: questions.choose("q", "?", right={}, wrong={"b": ""}), "one right option"),
        (lambda: questions.choose("q", "?", right={"a": "", "c": ""}, wrong={"b": ""}), "one right option"),
        (lambda: questions.choose("q", "?", right={"a": ""}, wrong={}), "at least one other"),
        (lambda: questions.choose("q", "?", right={"a": ""}, wrong={"a": ""}), "at least one other"),
        (lambda: questions.number("q", "?", right=1, tolerance=0.1, reason="", wrong={1.05: ""}), "1.05 counts as"),
        (lambda: questions.number("q", "?", right=1, tolerance=-1, reason="", wrong={2: ""}), "2 counts as"),
        (lambda: questions.order("q", "?", lines=["a"], reason="", wrong={}), "two or more"),
        (lambda: questions.order("q", "?", lines=["a", "a"], reason="", wrong={}), "two or more"),
        (lambda: questions.order("q", "?", lines=["a", "b"], reason="", wrong={("a", "b"): ""}), "wrong order"),
        (lambda: questions.order("q", "?", lines=["a", "b"], reason="", wrong={("b", "x"): ""}), "wrong order"),
        (lambda: point(right=[]), "right cells in the table"),
        (lambda: point(right=[(2, 0)]), "right cells in the table"),
        (lambda: point(wrong={(0, 0): "both"}), "right cells in the table"),
        (lambda: point(values=[["1"], ["2"]]), "2 rows of 2"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(ask: Callable[[], object], says: str) -> None:
    """An author reads what is wrong when the cell runs."""
    with pytest.raises(ValueError, match=says):
        ask()


def test_lines_are_shown_in_a_wrong_order_that_stays_the_same() -> None:
    """Two readers see the same order, which is never the right one."""
    for name in map(str, range(40)):
        shown = [questions.order(name, "?", lines=["a", "b", "c"], reason="", wrong={}).data["lines"] for _ in range(2)]
        assert shown[0] == shown[1] != ["a", "b", "c"]


def test_answers_are_kept_and_known_when_the_question_is_shown_again(state: Path) -> None:
    """The browser changes the widget's state; a new widget of the question has the answer, another question none."""
    widget = choice().widget()
    widget.state = {**widget.state, "answers": [attempt(5.0, right=False), attempt(6.0)]}
    assert json.loads(state.read_text())["one"]["answers"] == [attempt(5.0, right=False), attempt(6.0)]
    assert choice().widget().state["answers"] == [attempt(5.0, right=False), attempt(6.0)]
    assert choice("two").widget().state["answers"] == []


def test_the_notebook_s_file_never_holds_answers() -> None:
    """The output of a question and of a review is the same with and without answers."""

    def outputs() -> list[str]:
        shown = choice()._repr_mimebundle_()[0], questions.review(".")._repr_mimebundle_()[0]
        return [each["text/html"] + each["text/plain"] for each in shown]

    before = outputs()
    answers.keep({"one": {"answers": [attempt(5.0)]}})
    assert outputs() == before and '"answers": []'.replace('"', "&quot;") in before[0]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"one": 1}', '{"one": {"answers": [{"right": 1, "time": 2}]}}'])
def test_a_damaged_file_counts_as_empty_and_is_set_aside(state: Path, content: str) -> None:
    """Nothing is lost: the damaged file stays under another name, and new answers are kept."""
    state.parent.mkdir(parents=True)
    state.write_text(content)
    assert answers.kept() == {}
    assert [file.read_text() for file in state.parent.glob("questions.json.damaged-*")] == [content]
    answers.keep({"one": {"answers": [attempt(5.0)]}})
    assert answers.kept() == {"one": {"answers": [attempt(5.0)]}}


@pytest.mark.parametrize("news", [{"one": {}}, {"one": {"answers": [{"right": "yes", "time": 1.0}]}}, {"one": None}])
def test_what_is_no_answer_is_not_kept(news: dict[str, dict[str, object]]) -> None:
    """It is refused before it could damage the file."""
    with pytest.raises(ValueError, match="right, answer and time"):
        answers.keep(news)
    assert answers.kept() == {}


def _keep_some(first: int) -> None:
    for number in range(first, first + 25):
        answers.keep({"one": {"answers": [attempt(float(number))]}})


def test_two_kernels_that_write_at_once_lose_nothing() -> None:
    """Two processes keep 25 answers each, at the same time."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_keep_some, args=(first,)) for first in (1, 101)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(answers.kept()["one"]["answers"]) == 50


def test_of_two_cards_the_later_review_stays() -> None:
    """A kernel with an old copy does not undo what another one kept."""
    for review in (7.0, 9.0, 8.0):
        answers.keep({"one": {"answers": [attempt(5.0)], "card": {"last_review": review}}})
    assert answers.kept() == {"one": {"answers": [attempt(5.0)], "card": {"last_review": 9.0}}}


def test_a_review_counts_what_another_kernel_kept() -> None:
    """A widget that keeps a review, or asks for news, gets everything that is kept."""
    widget = questions.review(".")
    answers.keep({"two": {"answers": [attempt(5.0)], "card": {"last_review": 5.0}}})
    widget.state = {**widget.state, "kept": {"one": {"answers": [attempt(6.0)]}}}
    assert widget.state["kept"].keys() == {"one", "two"}
    answers.keep({"three": {"answers": [attempt(5.0)]}})
    widget._handle_custom_msg({"refresh": True}, [])
    assert widget.state["kept"].keys() == {"one", "two", "three"}


def test_questions_are_read_from_cells_and_nothing_is_run(tmp_path: Path) -> None:
    """The data is that of the call; what is no literal, no question or refused is left out."""
    folder = tmp_path / "course" / "01-one"
    folder.mkdir(parents=True)
    sources = [
        CHOICE,
        CHOICE.replace('"one"', '"one" + str(open("ran", "w"))'),
        CHOICE.replace('wrong={"b": "No."}', "wrong={}"),
        "%matplotlib\nquestions.choose(",
        "questions.review()\nquestions.Question({})",
    ]
    nbformat.write(notebook(*map(code, sources)), folder / "1-a.ipynb")
    (folder / "2-b.ipynb").write_text("no JSON")
    (question,) = questions.in_folder(tmp_path / "course")
    assert question == questions.choose("one", "Which?", right={"a": "Yes: `a`."}, wrong={"b": "No."}).data
    assert not (Path.cwd() / "ran").exists()
    assert "Which?" in questions.review_page([folder]) and questions.in_folder(tmp_path / "none") == []


def test_nothing_of_it_is_handed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where JupyterLab stores the state of widgets in the notebook."""
    sent: list[bytes] = []
    monkeypatch.setattr(handing_in, "service_of", lambda _: service.Service("http://127.0.0.1:9", ""))
    monkeypatch.setattr(service.Service, "ask", lambda self, path, data: sent.append(data) or {"state": "refused"})
    monkeypatch.setattr(handing_in, "display", lambda *_, **__: Mock())
    answers.keep({"one": {"answers": [{"right": True, "answer": "my secret", "time": 5.0}]}})
    stored = notebook(code(CHOICE))
    stored.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": choice().widget().state}
    path = tmp_path / "x.ipynb"
    nbformat.write(stored, path)
    assert "my secret" in path.read_text()
    handing_in.hand_in(path, now=True)
    (content,) = sent
    assert b"my secret" not in content and json.loads(content)["cells"][0]["source"]


def test_progress_counts_answered_questions(tmp_path: Path) -> None:
    """Right at the first attempt, right at the second, and not right yet; no line before the first answer."""
    path = tmp_path / "release" / "01-one" / "1-first.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook(check("one-check", "assert True", points=4)), path)
    assert "Quick questions" not in str(progress.show(tmp_path / "release").data)
    answers.keep(
        {
            "a": {"answers": [attempt(1.0)]},
            "b": {"answers": [attempt(1.0, right=False), attempt(2.0)]},
            "c": {"answers": [attempt(1.0, right=False)]},
        }
    )
    shown = str(progress.show(tmp_path / "release").data)
    assert "Quick questions: 2 answered, 1 of them at the first attempt." in shown


@pytest.mark.parametrize(("name", "most"), [("question", 30_000), ("review", 60_000)])
def test_a_module_is_small_and_imports_nothing(name: str, most: int) -> None:
    """A page loads a module of its own folder, and nothing else."""
    text = module(FOLDER / f"{name}.js")
    assert len(text.encode()) <= most
    assert "\nimport " not in text and text.count("export default") == 1
