"""Shows that a submitted notebook is read, whatever program wrote it, or named with its defect; neither takes long."""

import gzip
import json
import os
import signal
from contextlib import suppress

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.engine.cpu_limit import cpu_limit
from grader.engine.notebook.parsing import parsed
from grader.engine.notebook.repair import repair
from grader.engine.supervisor import parsers
from grader.engine.supervisor.parsers import read_notebook
from grader.errors import UnreadableFile
from tests.support.notebooks import answered, cell
from tests.support.two_exercises import SOURCE, graded, right
from tests.support.waiting import until

NOTEBOOK = json.dumps(json.loads(nbformat.writes(right())), indent=1)
CONFLICT = f"<<<<<<< HEAD\n{NOTEBOOK}\n=======\n{NOTEBOOK}\n>>>>>>> theirs\n"
LONG_CELL = json.dumps({"cells": [{"source": "a"}, {"source": ["a" * 600_000, "b" * 600_000]}]})
NO_NOTEBOOK = {
    "empty": (b"", "is empty"),
    "blanks": (b" \r\n", "is empty"),
    "cut": (NOTEBOOK[:-200].encode(), r"breaks off near cell 7 \(line \d+\)"),
    "cut in a text": (NOTEBOOK.split("Two exercises")[0].encode(), r"breaks off near cell 1 \(line \d+\)"),
    "cut at once": (b"{", r"breaks off \(line 1\)"),
    "mistake": (NOTEBOOK.replace('"It had', '""It had').encode(), r"has a mistake near cell 7 \(line \d+\)"),
    "bytes": (b"\x80\x81{", "is not text"),
    "half of UTF-16": (b"\xff\xfe" + b"\x00\xd8" * 9, "is not text"),
    "cut in UTF-16": (NOTEBOOK.encode("utf-16")[:-201], r"breaks off near cell 7"),
    "deep": (b"[" * 200_000, "nested too deeply"),
    "number": (b'{"cells": ' + b"1" * 5_000 + b"}", "a number without an end"),
    "words": ("Können Sie das öffnen?".encode(), "is not JSON, so it is not a notebook"),
    "list": (b"[]", "has no list of cells"),
    "dict": (b"{}", "has no list of cells"),
    "null": (b"null", "has no list of cells"),
    "cells": (b'{"nbformat": 4, "cells": 3}', "has no list of cells"),
    "old": (b'{"nbformat": 3, "worksheets": []}', "is in notebook format 3, .*open and save it in JupyterLab"),
    "new": (b'{"nbformat": 5, "cells": []}', "is in notebook format 5, .*the JupyterLab of this course"),
    "gzip": (gzip.compress(NOTEBOOK.encode()), "compressed with gzip"),
    "zip": (b"PK\x03\x04\x14\x00", "a zip archive"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
    "page": (b"\n<!DOCTYPE html>\n<html><title>Log in", r"a web page \(HTML\), perhaps a login page"),
    "page in UTF-16": ("<html lang='de'>".encode("utf-16"), r"a web page \(HTML\)"),
    "conflict": (CONFLICT.encode(), "marks of a git conflict"),
    "conflict in a cell": (NOTEBOOK.replace('    "It had', '<<<<<<< HEAD\n    "It had').encode(), "a git conflict"),
    "program": (b"# %% [markdown]\n# # One\n", "a program in Python"),
    "imports": (b'"""Mine."""\n\nimport torch\n', "a program in Python"),
    "long cell": (LONG_CELL.encode(), r"has 1200000 characters in cell 2 \(of 2 cells\)"),
    "many cells": (json.dumps({"cells": [{}] * 2_001}).encode(), "has 2001 cells with 0 characters"),
    "large": (b" " * (2**21 + 1), "MB are read"),
}


@pytest.mark.parametrize(("content", "reason"), NO_NOTEBOOK.values(), ids=NO_NOTEBOOK)
def test_a_file_that_is_not_a_notebook_is_named(tmp_path, content, reason):
    """One line says what it is instead, and what to do: another one for the teacher than for the student."""
    path = tmp_path / "hw.ipynb"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=reason) as caught:
        read_notebook(path, 2)
    for line in (str(caught.value), caught.value.to_student):
        assert line.startswith("hw.ipynb ") and "\n" not in line
    assert "ask" in caught.value.to_do and "ask" not in caught.value.yours


DAMAGE = {
    "minor": lambda notebook: notebook.update(nbformat_minor=4),
    "id": lambda notebook: notebook["cells"][1].update(id="#VSC-12"),
    "no outputs": lambda notebook: notebook["cells"][1].pop("outputs"),
    "further key": lambda notebook: notebook["cells"][1].update(cell_id=3),
    "tags": lambda notebook: notebook["cells"][1]["metadata"].update(tags=["a", "a", None]),
    "kernel": lambda notebook: notebook["metadata"].update(kernelspec=None),
    "lines": lambda notebook: notebook["cells"].insert(1, {"cell_type": "code", "source": ["x = 1", None, 2]}),
    "heading": lambda notebook: notebook["cells"].insert(1, {"cell_type": "heading", "level": 2, "source": "Mine"}),
    "no type": lambda notebook: notebook["cells"][1].pop("cell_type"),
    "no metadata": lambda notebook: [notebook.pop("metadata"), notebook["cells"][0].pop("metadata")],
    "null metadata": lambda notebook: notebook.update(metadata=None),
    "no format": lambda notebook: [notebook.pop("nbformat"), notebook.pop("nbformat_minor")],
    "format in quotes": lambda notebook: notebook.update(nbformat="4"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_jupyter_opens_is_read(tmp_path, damage):
    """Other editors write a byte order mark and things that the schema of notebooks forbids; neither costs a point."""
    notebook = json.loads(nbformat.writes(right()))
    damage(notebook)
    path = tmp_path / "hw.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    points, repairs = graded(read_notebook(path, 1))
    assert points == 2 and repairs == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_notebook_is_read_in_any_encoding_of_unicode(encoding):
    """With its accents and emoji; Windows writes UTF-16."""
    said = "Größer zuvor, 注意, 🙂."
    notebook = nbformat.writes(answered(right(), why=said), ensure_ascii=False)
    assert cell(parsed(notebook.encode(encoding)), "why").source == said


def test_a_cell_of_an_unknown_type_becomes_text():
    """It is shown as typed; a heading of an old notebook stays one."""
    cells = [
        {"cell_type": "sql", "source": "select *\nfrom *"},
        {"cell_type": "heading", "level": 9, "source": ["Mine"]},
        {"source": "no type"},
        {"source": "x = 1", "execution_count": None},
        "only a text",
    ]
    read = parsed(json.dumps({"cells": cells}).encode())
    assert [(each.cell_type, each.source) for each in read.cells] == [
        ("raw", "select *\nfrom *"),
        ("markdown", "###### Mine"),
        ("markdown", "no type"),
        ("code", "x = 1"),
        ("markdown", "only a text"),
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(st.text(max_size=5), value, max_size=3),
    max_leaves=5,
)
CELLS = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "sql", "", None, 4]) | VALUES,
        "source": st.text() | st.lists(st.text()) | VALUES,
        "metadata": st.fixed_dictionaries({}, optional={"nbgrader": VALUES, "tags": VALUES}) | VALUES,
        "outputs": VALUES,
        "execution_count": VALUES,
        "attachments": VALUES,
        "id": VALUES,
        "level": VALUES,
    },
)


OPENED = st.fixed_dictionaries(
    {"metadata": st.dictionaries(st.sampled_from(["tags", "nbgrader", "a"]), VALUES)},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "sql", ""]),
        "source": st.none() | st.text() | st.lists(st.text()) | st.integers(),
        "outputs": st.just([]) | VALUES,
        "id": st.text(max_size=3) | VALUES,
    },
)
"""Cells most of which nbformat opens, whether or not they are valid."""


@pytest.mark.slow
@given(
    cells=st.lists(CELLS, max_size=5) | st.lists(OPENED, min_size=1, max_size=4),
    top=st.dictionaries(st.sampled_from(["metadata", "nbformat_minor"]), VALUES),
)
@settings(deadline=None, max_examples=200)
@pytest.mark.filterwarnings("ignore")
def test_whatever_stands_in_a_list_of_cells_it_is_read(cells, top):
    """Every notebook that nbformat itself opens, as there, and more: it is valid, can be graded, and has every text."""
    content = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, **top, "cells": cells})
    read = parsed(content.encode())
    nbformat.validate(read)
    assert len(read.cells) == sum(isinstance(each, dict | str) for each in cells)
    for kept, given_cell in zip(read.cells, [each for each in cells if isinstance(each, dict | str)], strict=True):
        source = given_cell.get("source") if isinstance(given_cell, dict) else given_cell
        assert not isinstance(source, str) or source in kept.source
    repaired = repair(SOURCE, read)
    nbformat.validate(repaired.notebook)
    assert len({each.id for each in repaired.notebook.cells}) == len(repaired.notebook.cells)
    opened = nbformat.from_dict({"cells": []})
    with suppress(Exception):
        opened = nbformat.reads(content, as_version=4)
    # Of types that nbformat does not know, the text alone is kept.
    for ours, theirs in zip(read.cells, opened.cells, strict=bool(opened.cells)):
        if theirs.get("cell_type") in ("code", "markdown", "raw") and isinstance(theirs.get("source"), str):
            assert (ours.cell_type, ours.source) == (theirs.cell_type, theirs.source)


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


@pytest.mark.slow
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
