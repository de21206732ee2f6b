"""`grader requests` shows what students ask, and answers with the points of the gradebook."""

from pathlib import Path

import pytest

from grader.classroom.record.record import Record
from grader.classroom.record.requests import MAX_OPEN, TooManyRequests, UnusableText, ask, open_requests, requests_of
from grader.commands.cli import main
from tests.support.notebooks import answered
from tests.support.small_class import NAME, RIGHT, grade_class, hand_in, make_course, mark, released


@pytest.mark.slow
def test_from_the_request_to_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list has the request with its id; the answer has the points before the request and now; then it is empty."""
    folder = make_course(tmp_path / "course")
    hand_in(folder, "ann", answered(released(folder), **RIGHT))
    grade_class(folder)
    monkeypatch.chdir(folder)
    mark(folder, "ann", 0.5)
    assert main(["requests"]) == 0 and capsys.readouterr().out == "no request waits for an answer\n"
    record = Record(folder)
    request = ask(record, "ann", NAME, "small", "why", "It had\n to be.").asked
    assert main(["requests", NAME]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(request.id) and first.endswith(f"ann  {NAME}/small/why") and second == "    It had  to be."
    mark(folder, "ann", 2)
    monkeypatch.setenv("JUPYTERHUB_USER", "mia")
    assert main(["requests", "--answer", request.id[:6], "So it had."]) == 0
    assert "answered ann (0.5 → 2 points): the student reads it with the report\n" in capsys.readouterr().out
    assert main(["feedback", NAME]) == 0
    assert main(["requests", "--answer", request.id[:6], "So it had."]) == 0
    assert f"report; run 'grader feedback {NAME} --student ann'" in capsys.readouterr().out
    assert main(["requests"]) == 0 and "no request waits" in capsys.readouterr().out
    assert main(["requests", "--all"]) == 0
    assert "answered by mia (0.5 → 2 points): So it had." in capsys.readouterr().out
    assert main(["grade", NAME, "--explain", "ann"]) == 0
    history = " ".join(capsys.readouterr().out.split()).partition("history ")[2]
    assert "ann why asks for a regrade: It had to be." in history
    assert "mia why answer to the request 0.5 → 2: So it had." in history


@pytest.mark.slow
def test_requests_go_with_their_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of a removed student wait for no answer, and another student of the same name does not read them."""
    folder = make_course(tmp_path / "course")
    for name in ("ann", "ben"):
        hand_in(folder, name, answered(released(folder), **RIGHT))
    grade_class(folder)
    monkeypatch.chdir(folder)
    record = Record(folder)
    for name in ("ann", "ben"):
        ask(record, name, NAME, "small", "why", "It had to be.")
    assert main(["roster", "--remove", "ann"]) == 0
    assert [each.student for each in open_requests(record)] == ["ben"]
    capsys.readouterr()
    assert main(["requests", "--all"]) == 0 and "ann" not in capsys.readouterr().out
    assert requests_of(record.entries(), student="ann") == []
    again = ask(record, "ann", NAME, "small", "why", "It had to be.").asked
    assert [each.asked for each in requests_of(record.entries(), student="ann")] == [again]


def test_a_request_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    """What is not kept of a text does not count among its characters, and stands for nothing that is cut.

    Repeated words are one request; after ten open ones, one waits for answers; others may go on.
    """
    record, most = Record(tmp_path), "a" * 2_000
    for around in (" ", "\n" * 50, "\x07" * 50, "\u202e"):
        first = ask(record, "ann", NAME, "small", "why", f"{around}{most}{around}").asked
        assert first.why == most and first == ask(record, "ann", NAME, "small", "why", most).asked
        for text in (f"{around}{most}a", f"{most}{around}and more", f"a{around}{most}"):
            with pytest.raises(UnusableText, match="more than 2000 characters"):
                ask(record, "ann", NAME, "small", "why", text)
    for number in range(1, MAX_OPEN):
        ask(record, "ann", NAME, "small", "", f"please {number}")
    with pytest.raises(TooManyRequests, match="10 requests of yours wait"):
        ask(record, "ann", NAME, "small", "", "one more")
    ask(record, "bob", NAME, "small", "", "please")
    assert len(open_requests(record)) == MAX_OPEN + 1 and len(open_requests(record, "02-other")) == 0


def test_an_answer_needs_a_request_and_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong, an empty and an ambiguous id are refused, and so is an empty answer."""
    folder = make_course(tmp_path / "course")
    monkeypatch.chdir(folder)
    key = ask(Record(folder), "ann", NAME, "small", "", "please").asked.id
    for arguments, says in (
        (["zzz", "x"], "no request has the id 'zzz': run 'grader requests'"),
        (["", "x"], "no request has the id ''"),
        ([key, " "], "the text is empty: write what the student should read"),
    ):
        assert main(["requests", "--answer", *arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line
    assert [each.id for each in open_requests(Record(folder))] == [key]
