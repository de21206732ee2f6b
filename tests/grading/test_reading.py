"""A file that is handed in is read whatever wrote it, or named with what is wrong; none of it takes long."""

import json

import nbformat
import pytest
from notebooks import cell
from test_repair import SOURCE, graded, right

from course.grading.patience import at_most
from course.grading.repair import Unreadable, read, repair

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
        (b"[" * 200_000, "no valid notebook|not JSON"),
        (b"[]", "no valid notebook"),
        (b"{}", "no valid notebook"),
        (b"null", "no valid notebook"),
        (json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}).encode(), "no valid notebook"),
        (json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}).encode(), "no valid notebook"),
        (json.dumps(TEXT_IS_A_NUMBER).encode(), r"no valid notebook \(ValidationError\)"),
        (json.dumps({"nbformat": 99, "nbformat_minor": 5, "metadata": {}, "cells": []}).encode(), "no valid notebook"),
        (json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}).encode(), "format 3"),
        (b" " * (2**20 + 1), "MB are read"),
    ],
    ids=["empty", "cut", "bytes", "deep", "list", "dict", "null", "cell", "cells", "text", "version", "old", "large"],
)
def test_a_file_that_is_no_notebook_is_named(tmp_path, content, reason):
    """With one line that says what is wrong and what to do."""
    path = tmp_path / "hw.ipynb"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=reason) as caught:
        read(path, 1)
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
    """Other editors write what the schema of notebooks forbids, and a byte order mark; none of it costs a point."""
    notebook = json.loads(nbformat.writes(right()))
    damage(notebook)
    path = tmp_path / "hw.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    assert graded(read(path, 1)) == (2, "")


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
    """Neither what a notebook must not hold nor very much of what it may: a class waits for its last reader."""
    notebook = json.loads(nbformat.writes(right()))
    notebook["cells"][0] = json.loads(json.dumps(cell(right(), "why")))
    damage(notebook)
    path = tmp_path / "hw.ipynb"
    path.write_text(json.dumps(notebook))
    with at_most(5):
        repaired = repair(SOURCE, read(path, 20))
    assert graded(repaired.notebook)[0] == 2


def test_a_missing_file_is_named(tmp_path):
    """A folder of that name is none either."""
    (tmp_path / "folder.ipynb").mkdir()
    for name in ("missing.ipynb", "folder.ipynb"):
        with pytest.raises(Unreadable, match=name):
            read(tmp_path / name, 1)
