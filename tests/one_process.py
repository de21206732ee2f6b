"""The other world: a notebook's cells, tests too, in one process, as JupyterLab, nbval and stock nbgrader run them."""

import zlib
from typing import Any

import torch

from course.grading import processes
from course.grading.cells import Shell
from course.grading.grade import repair
from course.grading.plan import Role, plan


def verdicts(source: Any, submission: Any) -> dict[str, str]:
    """How each test cell of `submission` ends in one process: passed, failed, error."""
    ours, theirs = processes.pipe()
    process = processes.start("one_process:_main", theirs, plan(repair(source, submission).notebook))
    theirs.close()
    found = ours.recv()
    process.join()
    return found


def _main(connection: Any, steps: list[Any]) -> None:
    shell, found = Shell(1 << 20), {}
    for step in steps:
        if step.role is Role.TEST:
            # The engine's seed for a test: randomised tests draw the same numbers in both worlds.
            torch.manual_seed(zlib.crc32(step.name.encode()))
        raised = shell.run(step.source, step.name)["raised"]
        if step.role is Role.TEST:
            kind = raised and raised["kind"]
            found[step.name] = {None: "passed", "AssertionError": "failed"}.get(kind, "error")
    connection.send(found)
