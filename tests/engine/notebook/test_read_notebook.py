"""Shows that a submitted notebook is read, whatever program wrote it, or named with its defect; neither takes long."""

import json
import os
import signal

import nbformat
import pytest

from grader.engine.cpu_limit import cpu_limit
from grader.engine.notebook.repair import repair
from grader.engine.supervisor import parsers
from grader.engine.supervisor.parsers import read_notebook
from grader.errors import UnreadableFile
from tests.support.notebooks import cell
from tests.support.two_exercises import SOURCE, graded, right
from tests.support.waiting import until

TEXT_IS_A_NUMBER = {
    **{"nbformat": 4, "nbformat_minor": 5, "metadata": {}},
    "cells": [{"cell_type": "markdown", "source": 5, "metadata": {}}],
}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 200_000, "not a valid notebook|not JSON"),
        (b"[]", "not a valid notebook"),
        (b"{}", "not a valid notebook"),
        (b"null", "not a valid notebook"),
        (
            json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}).encode(),
            "not a valid notebook",
        ),
        (json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}).encode(), "not a valid notebook"),
        (json.dumps(TEXT_IS_A_NUMBER).encode(), r"not a valid notebook \(ValidationError\)"),
        (
            json.dumps({"nbformat": 99, "nbformat_minor": 5, "metadata": {}, "cells": []}).encode(),
            "not a valid notebook",
        ),
        (json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}).encode(), "format 3"),
        (b" " * (2**20 + 1), "MB are read"),
    ],
    ids=["empty", "cut", "bytes", "deep", "list", "dict", "null", "cell", "cells", "text", "version", "old", "large"],
)
def test_a_file_that_is_not_a_notebook_is_named(tmp_path, content, reason):
    """One line says what is wrong and what to do."""
    path = tmp_path / "hw.ipynb"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=reason) as caught:
        read_notebook(path, 1)
    assert "hw.ipynb" in str(caught.value) and "\n" not in str(caught.value) and "ask" in str(caught.value)


DAMAGE = {
    "minor": lambda notebook: notebook.update(nbformat_minor=4),
    "id": lambda notebook: notebook["cells"][1].update(id="#VSC-12"),
    "no outputs": lambda notebook: notebook["cells"][1].pop("outputs"),
    "count": lambda notebook: notebook["cells"][1].update(execution_count="3"),
    "half an output": lambda notebook: notebook["cells"][1].update(outputs=[{"output_type": "stream", "text": "x"}]),
    "further key": lambda notebook: notebook["cells"][1].update(cell_id=3),
    "tags": lambda notebook: notebook["cells"][1]["metadata"].update(tags=["a", "a", None]),
    "kernel": lambda notebook: notebook["metadata"].update(kernelspec=None),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_jupyter_opens_is_read(tmp_path, damage):
    """Other editors write a byte order mark and things that the schema of notebooks forbids; neither costs a point."""
    notebook = json.loads(nbformat.writes(right()))
    damage(notebook)
    path = tmp_path / "hw.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    assert graded(read_notebook(path, 1)) == (2, "")


LONG = {
    "tags": lambda notebook: notebook["cells"][1]["metadata"].update(tags=[{"a": n} for n in range(20_000)]),
    "outputs": lambda notebook: notebook["cells"][1].update(outputs=[{"text": 1}] * 40_000),
    "attachments": lambda notebook: notebook["cells"][0].update(
        attachments={str(n): {"image/png": 5} for n in range(30_000)}
    ),
    "pictures": lambda notebook: notebook["cells"][0].update(
        attachments={str(n): {"image/png": ""} for n in range(30_000)}, source="a" * 990_000
    ),
}


@pytest.mark.parametrize("damage", LONG.values(), ids=LONG)
def test_no_file_takes_long_to_read(tmp_path, damage):
    """Forbidden content takes no time, nor does a great amount of allowed content: the whole class would wait."""
    notebook = json.loads(nbformat.writes(right()))
    notebook["cells"][0] = json.loads(json.dumps(cell(right(), "why")))
    damage(notebook)
    path = tmp_path / "hw.ipynb"
    path.write_text(json.dumps(notebook))
    with cpu_limit(5):
        repaired = repair(SOURCE, read_notebook(path, 20))
    assert graded(repaired.notebook)[0] == 2


def test_a_missing_file_is_named(tmp_path):
    """A folder with the name of a notebook is not a notebook either."""
    (tmp_path / "folder.ipynb").mkdir()
    for name in ("missing.ipynb", "folder.ipynb"):
        with pytest.raises(UnreadableFile, match=name):
            read_notebook(tmp_path / name, 1)


def test_a_parser_that_ended_while_it_was_idle_is_not_the_next_files_fault(tmp_path):
    """As when the system's memory is short; the file is read by another one."""
    path = tmp_path / "right.ipynb"
    nbformat.write(right(), path)
    before = read_notebook(path)
    (parser,) = parsers._idle[-1:]
    os.kill(parser._process.pid, signal.SIGKILL)
    until(parser.is_lost, "the end of the parser")
    assert read_notebook(path) == before and parser not in parsers._idle
