"""The fork server has loaded all that its children need."""

import os
import subprocess
import sys

FORK_SERVER = {"multiprocessing.forkserver", "multiprocessing.resource_tracker"}
"""What the fork server itself is made of."""


def test_a_candidate_has_nothing_left_to_load(student):
    """An import in every fork, for every notebook of a class, would cost more than the fork."""
    program = [sys.executable, "-c", "import course.grading.warm, sys; print(*sys.modules)"]
    loaded = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
    [output] = student("").run("import sys\nprint(*sys.modules)")["outputs"]
    assert set(output["text"].split()) - set(loaded) <= FORK_SERVER


def test_student_code_draws_the_same_numbers_each_time():
    """Whichever library it asks, and in each run of the grader: a score is no matter of luck."""
    draws = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    program = f"""
from nbformat.v4 import new_code_cell, new_notebook
from course.grading.grade import grade
notebook = new_notebook(cells=[new_code_cell({draws!r})])
print(grade(notebook, notebook).outputs[0][0]["text"])
"""
    once, again = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert len(once.stdout.split()) == 3 and once.stdout == again.stdout


def test_temporary_files_may_lie_deep(tmp_path):
    """Deeper than the path of a socket may be long; what student code writes into lies there all the same."""
    deep = tmp_path / "temporary" / ("files of this job " * 6)
    deep.mkdir(parents=True)
    program = """
from nbformat.v4 import new_code_cell, new_notebook
from course.grading.grade import grade
notebook = new_notebook(cells=[new_code_cell("import os\\nprint(os.getcwd())")])
print(grade(notebook, notebook).outputs[0][0]["text"])
"""
    environment = {**os.environ, "TMPDIR": str(deep)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{deep}/") and not list(deep.glob("course-*"))
