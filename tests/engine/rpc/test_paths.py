"""No text for a student holds a path of the folders in which the grader lives."""

import os
import random
import sys

import pytest
import torch

from grader.engine.rpc import paths
from grader.engine.rpc.exceptions import to_data

FOLDERS = sorted({os.path.dirname(os.path.dirname(torch.__file__)), os.path.dirname(os.__file__), sys.prefix})
AROUND = [
    "{}",
    "'{}'",
    'File "{}", line 3',
    "\\n{}\\n",
    "\x1b[0;32m{}\x1b[0m",
    "a:{}:b",
    "PosixPath('{}')",
    "-I{}",
    "see {}.",
    "{}, {}",
]
BELOW = ["", "/", "/torch/nn/functional.py", "/a b", "/.ipython/profile_default/db"]


@pytest.fixture
def scratch(tmp_path):
    """A scratch folder that is hidden during the test."""
    folder = tmp_path / "grader-abc" / "scratch"
    paths.hide(folder)
    yield str(folder)
    paths._scratch.clear()
    paths._hidden.cache_clear()


def test_no_folder_is_left(scratch):
    """Whatever stands around it and below it; the home folder and the one above the scratch folder are hidden, too."""
    draw = random.Random(0)
    hidden = [*FOLDERS, scratch, os.path.dirname(scratch), paths.HOME]
    for _ in range(30):
        text = "\n".join(draw.choice(AROUND).replace("{}", draw.choice(hidden) + draw.choice(BELOW)) for _ in range(10))
        short = paths.without_paths(text)
        assert not [folder for folder in hidden if folder in short]
        assert paths.without_paths(short) == short


def test_a_path_is_named_from_its_package_on(scratch):
    """A file of the student's from the scratch folder on, and what lies in the home folder from ~ on; other text stays.

    Other text has paths that the student wrote, addresses, fractions and markup.
    """
    short = {
        torch.__file__: "torch/__init__.py",
        f"{scratch}/a.txt": "a.txt",
        scratch: ".",
        f"{paths.HOME}/.ipython/db": "~/.ipython/db",
        f"in {paths.HOME}.": "in ~.",
    }
    others = ["", "/", "a/b", "https://pytorch.org/docs", "/content/data.csv", "</td>", "1/2", "/usr", "C:\\a"]
    short |= {text: text for text in [*others, f"{paths.HOME}x/a"]}
    assert {text: paths.without_paths(text) for text in short} == short


def test_the_message_of_an_error_holds_none():
    """Even if it is longer than what is kept of it."""
    assert (
        to_data(FileNotFoundError(2, "No such file", torch.__file__)).message
        == "[Errno 2] No such file: 'torch/__init__.py'"
    )
    assert paths.HOME not in to_data(ValueError(f"{paths.HOME}/a " * 10_000)).message


LINES = [
    *("import os; os.getcwd()", "torch", "print(torch.__file__)", "raise ValueError(torch.__file__)", "_dh"),
    *("import sys; sys.path, sys.prefix, sys.executable", "open(torch.__file__ + '.txt')", "%dhist", "%who"),
    *("import warnings; warnings.warn('a')", "torch.tensor(torch.ones(2))", "display(torch.__file__)", "%config"),
    "import traceback\ntry:\n    torch.ones(2) @ torch.ones(3)\nexcept Exception:\n    traceback.print_exc()",
    *("get_ipython().run_cell('torch.nn.Linear(2, 3)(torch.ones(5))')", "get_ipython().ipython_dir", "torch?"),
    *("get_ipython().profile_dir.location", "%cd /content", "%store", "%bookmark a", "%rehashx", "%pwd", "%tb"),
    *("import tempfile; tempfile.mkdtemp()", "import inspect; inspect.getfile(torch.nn.Linear)"),
    *("%%writefile a.py\n1/0\n%run a.py", "open('/nowhere')"),
]  # fmt: skip


@pytest.mark.slow
def test_no_cell_shows_one(student, tmp_path):
    """In values, printed text, warnings, tracebacks and messages."""
    hidden = {str(tmp_path), str(tmp_path.parent), paths.HOME, *FOLDERS, sys.base_prefix} - {"/usr"}
    for line in LINES:
        shown = repr(student("").run(line))
        assert not [folder for folder in hidden if folder in shown], line
