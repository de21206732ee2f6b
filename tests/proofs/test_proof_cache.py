"""The cache of proofs cannot lie: a result counts only for exactly the inputs that it was computed from."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output, writes

from grader.engine.diagnosis.misconceptions import Misconception
from grader.engine.explanation import Change, Explanation, Repair
from grader.engine.report import Report, Result, Verdict
from tests.support import judge, proof_cache
from tests.support.judge import Judge
from tests.support.notebooks import answer, answered, hidden, notebook
from tests.support.proof_cache import ProofCache, digest_of

SOURCE = notebook(
    answer("double", "def double(x):\n    return 2 * x"),
    hidden("double-test", "It doubles.", "assert double(3) == 6"),
)
WRONG = answered(SOURCE, double="def double(x):\n    return x")
MISCONCEPTION = Misconception("double", "returns its input", "2 * x", "x", "Double it.")


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Records the arguments of `grade` and puts a stub in its place, which fails every submission."""
    calls = []

    def grade(*arguments: Any, **named: Any) -> Report:
        calls.append((*arguments, *named.values()))
        result = Result("double-test", "two", Verdict.FAILED, 0, 1, Explanation(detail=f"call {len(calls)}"))
        return Report([result], [Repair("double", Change.MISSING)], {1: [{"a": 1}]})

    monkeypatch.setattr(judge, "grade", grade)
    return calls


def report(folder: Path, source: NotebookNode = SOURCE, submission: NotebookNode = WRONG, *, known: Any = ()) -> Report:
    """The report of a judge that has just been made, as in another run; its test passes."""
    cache = ProofCache(folder)
    made = Judge(cache).report(source, submission, known)
    cache.keep()
    return made


def test_a_report_from_the_cache_is_the_one_that_was_computed(graded: list[Any], tmp_path: Path) -> None:
    """Nothing is lost on the way, and nothing is graded again."""
    assert report(tmp_path) == report(tmp_path) == report(tmp_path)
    assert len(graded) == 1


CHANGES: dict[str, Callable[[], dict[str, Any]]] = {
    "submission": lambda: {"submission": answered(WRONG, double="def double(x):\n    return  x")},
    "source": lambda: {"source": answered(SOURCE, double="def double(x):\n    return x + x")},
    "test": lambda: {"source": answered(SOURCE, **{"double-test": "assert double(3) == 7"})},
    "misconception": lambda: {"known": [MISCONCEPTION]},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_input_is_another_proof(
    graded: list[Any], tmp_path: Path, change: Callable[[], dict[str, Any]]
) -> None:
    """Whatever `grade` is handed is part of the key."""
    report(tmp_path)
    report(tmp_path, **change())
    assert len(graded) == 2


@pytest.mark.parametrize("field", ["name", "find", "replace", "hint"])
def test_a_misconception_that_reads_otherwise_is_another_one(graded: list[Any], tmp_path: Path, field: str) -> None:
    """Its hint, too: it is part of the message."""
    report(tmp_path, known=[MISCONCEPTION])
    report(tmp_path, known=[replace(MISCONCEPTION, **{field: "2 * "})])
    assert len(graded) == 2


def test_a_misconception_of_another_notebook_changes_nothing(graded: list[Any], tmp_path: Path) -> None:
    """An edit of one notebook's misconceptions leaves the proofs of others."""
    report(tmp_path)
    report(tmp_path, known=[replace(MISCONCEPTION, exercise="triple")])
    assert len(graded) == 1


@pytest.mark.parametrize("part", ["engine_digest", "environment_digest"])
def test_another_grader_or_another_library_is_another_proof(
    graded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Its code, its helper packages, Python, the libraries, the kernel and the processor."""
    report(tmp_path)
    proof_cache.grader_digest.cache_clear()
    monkeypatch.setattr(proof_cache, part, lambda *_: "another")
    try:
        report(tmp_path)
    finally:
        proof_cache.grader_digest.cache_clear()
    assert len(graded) == 2


def test_the_code_that_runs_is_the_code_in_the_key(
    graded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result is not kept if the grader was edited since the run began: the digest could be that of other code."""
    cache = ProofCache(tmp_path)
    Judge(cache).report(SOURCE, WRONG)
    monkeypatch.setattr(proof_cache, "_code_state", list)
    cache.keep()
    monkeypatch.undo()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_parts_of_a_key_do_not_run_together() -> None:
    """Each part counts with its length."""
    assert len({digest_of("ab", "c"), digest_of("a", "bc"), digest_of("abc"), digest_of("ab", b"c")}) == 4


@pytest.mark.parametrize("verdict", [Verdict.TIMED_OUT, Verdict.CRASHED, Verdict.OUT_OF_MEMORY, Verdict.NOT_CONFINED])
def test_what_a_busy_machine_may_have_caused_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    """Such a verdict does not follow from the inputs alone."""
    monkeypatch.setattr(judge, "grade", lambda *_, **__: Report([Result("double-test", "two", verdict, 0, 1)]))
    report(tmp_path)
    monkeypatch.setattr(judge, "grade", lambda *_, **__: Report([Result("double-test", "two", Verdict.PASSED, 1, 1)]))
    assert report(tmp_path).points == 1


def test_a_result_counts_when_its_test_has_passed(tmp_path: Path) -> None:
    """Until then it is known in its own run only."""
    cache = ProofCache(tmp_path)
    cache.result("0key", int, lambda: 7)
    assert ProofCache(tmp_path).stored("0key", int) is None
    cache.keep()
    assert ProofCache(tmp_path).stored("0key", int) == 7


def test_a_failed_test_has_its_results_computed_again(tmp_path: Path) -> None:
    """In the next run, although another test that asked for the same one passes, before or after."""
    cache = ProofCache(tmp_path)
    cache.result("0key", int, lambda: 7)
    cache.keep()
    cache.begin()
    cache.result("0key", int, lambda: 8)
    cache.forget()
    cache.begin()
    assert cache.result("0key", int, lambda: 8) == 7
    cache.keep()
    assert ProofCache(tmp_path).stored("0key", int) is None


def test_a_damaged_entry_is_none(tmp_path: Path) -> None:
    """Half a file, an empty one, other bytes."""
    ProofCache(tmp_path).store("0key", "result")
    [path] = [path for path in tmp_path.rglob("*") if path.is_file()]
    whole = path.read_bytes()
    for damaged in (whole[:-1], b"", whole.replace(b"result", b"RESULT")):
        path.write_bytes(damaged)
        assert ProofCache(tmp_path).stored("0key", str) is None
    path.write_bytes(whole)
    assert ProofCache(tmp_path).stored("0key", str) == "result"


def test_an_entry_that_no_run_uses_is_removed(tmp_path: Path) -> None:
    """After a month; use keeps it."""
    cache = ProofCache(tmp_path)
    for key in ("0used", "0unused"):
        cache.store(key, 7)
        os.utime(tmp_path / "0u" / key, (0, 0))
    assert cache.stored("0used", int) == 7
    cache.remove_unused()
    assert [path.name for path in tmp_path.rglob("0u*") if path.is_file()] == ["0used"]


# nbval


class NbvalRun:
    """Runs nbval, with a cache of its own, on a notebook whose first cell leaves a line in a file."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self._ran = pytester.path / "ran.txt"
        first = new_code_cell(f"with open({str(self._ran)!r}, 'a') as file:\n    print('ran', file=file)")
        self._notebook = notebook(first, new_code_cell("1 + 1", outputs=[]))
        for cell in self._notebook.cells:
            cell.execution_count = 1

    def __call__(self, *options: str, output: str = "2") -> dict[str, int]:
        """Run it as if its second cell had this output stored; return the number of tests by outcome."""
        stored = new_output("execute_result", {"text/plain": output}, execution_count=1)
        self._notebook.cells[1].outputs = [stored]
        self._pytester.path.joinpath("small.ipynb").write_text(writes(self._notebook))
        plugins = ("-p", "tests.support.proof_cache", "-p", "tests.support.proven_notebooks")
        cache = ("--proof-cache", str(self._pytester.path / "cache"))
        # A pyproject.toml above the folder would make that folder the root, and names of cells would begin there.
        here = ("--rootdir", str(self._pytester.path))
        done = self._pytester.inline_run("--nbval", *here, *plugins, *cache, *options, "small.ipynb")
        return dict(zip(("passed", "skipped", "failed"), done.countoutcomes(), strict=True))

    @property
    def times(self) -> int:
        """How often its cells ran."""
        return len(self._ran.read_text().splitlines())


@pytest.fixture
def nbval(pytester: pytest.Pytester) -> NbvalRun:
    """A notebook to run."""
    return NbvalRun(pytester)


def test_a_notebook_that_passed_is_not_run_again(nbval: NbvalRun) -> None:
    """Its cells are reported as passed, each by itself."""
    for _ in range(3):
        assert nbval() == {"passed": 2, "skipped": 0, "failed": 0}
    assert nbval.times == 1


def test_a_notebook_that_changed_is_run_again(nbval: NbvalRun) -> None:
    """Be it one stored output; a wrong one is found, and stays wrong in the next run."""
    nbval()
    for _ in range(2):
        assert nbval(output="3") == {"passed": 1, "skipped": 0, "failed": 1}
    assert nbval.times == 3


def test_a_notebook_is_proven_only_by_all_its_cells(nbval: NbvalRun) -> None:
    """A run of some of them does not count."""
    assert nbval("--deselect", "small.ipynb::Cell 1") == {"passed": 1, "skipped": 0, "failed": 0}
    assert nbval() == {"passed": 2, "skipped": 0, "failed": 0}
    assert nbval.times == 2


def test_without_the_cache_every_notebook_is_run(nbval: NbvalRun) -> None:
    """And nothing is kept of it."""
    nbval("--no-proof-cache")
    nbval()
    assert nbval("--no-proof-cache") == {"passed": 2, "skipped": 0, "failed": 0}
    assert nbval.times == 3
