"""The fork server has loaded all that its children need."""

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
