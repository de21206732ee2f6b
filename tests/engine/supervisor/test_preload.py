"""The fork server loads everything that its children need."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine.grading import grade
from grader.engine.supervisor import forkserver
from tests.support.exercises import HELPER_PACKAGES
from tests.support.waiting import until

pytestmark = pytest.mark.slow

FORK_SERVER = {"multiprocessing.forkserver", "multiprocessing.resource_tracker"}
"""The modules of the fork server itself."""


def test_a_sandbox_has_nothing_left_to_load(student):
    """An import in every fork, for every notebook of a class, would take longer than the fork."""
    program = [sys.executable, "-c", "import grader.engine.supervisor.preload, sys; print(*sys.modules)"]
    # With the helper packages that tests/conftest.py names.
    packages = [forkserver._modules_to_load(name) for name in HELPER_PACKAGES]
    environment = {**os.environ, forkserver.HELPER_PACKAGES: json.dumps(packages)}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    [output] = student("").run("import sys\nprint(*sys.modules)").outputs
    assert set(output.text.split()) - set(loaded) <= FORK_SERVER


def test_student_code_draws_the_same_numbers_each_time():
    """From every library, and in each run of the grader, this one too: a score does not depend on luck."""
    draws = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    program = f"""
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine.grading import grade
notebook = new_notebook(cells=[new_code_cell({draws!r})])
print(grade(notebook, notebook).outputs[0][0]["text"], end="")
"""
    once = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    notebook = new_notebook(cells=[new_code_cell(draws)])
    assert len(once.split()) == 3 and once == grade(notebook, notebook).outputs[0][0]["text"]


def test_the_folder_for_temporary_files_may_be_deep(tmp_path):
    """Its path may be longer than that of a socket may be. Scratch folders are in it all the same."""
    deep = tmp_path / "temporary" / ("files of this job " * 6)
    deep.mkdir(parents=True)
    program = """
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine.grading import grade
notebook = new_notebook(cells=[new_code_cell("import os\\nprint(os.getcwd()[::-1])")])
print(grade(notebook, notebook).outputs[0][0]["text"])
"""
    environment = {**os.environ, "TMPDIR": str(deep)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip()[::-1].startswith(f"{deep}/") and not list(deep.glob("course-*"))


def test_no_process_outlives_the_grader(tmp_path):
    """However it ends: after its work, by an error, or killed while the fork server is starting."""
    begin = "import os, time\nfrom grader.engine.supervisor import forkserver, parsers\nforkserver.prepare()\n"
    work = "parsers.read_notebook(__import__('pathlib').Path('none'))"
    for program in (begin + "os._exit(0)", begin + "time.sleep(0.3)\nos.kill(os.getpid(), 9)", begin + work):
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], env=environment, stderr=subprocess.DEVNULL)
    until(lambda: not list(processes_with(f"TMPDIR={tmp_path}")), "the end of all processes")


def processes_with(variable):
    """The processes that have a variable in their environment."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended
            if variable.encode() in environ.read_bytes().split(b"\0"):
                yield environ.parent.name
