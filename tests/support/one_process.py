"""The other world: a notebook's cells, tests too, in one process, as JupyterLab, nbval and stock nbgrader run them."""

import zlib
from typing import Any

import torch

from grader.engine.notebook.plan import Role, plan
from grader.engine.notebook.repair import repair
from grader.engine.rpc.protocol import ErrorInfo
from grader.engine.sandbox.shell import Shell
from grader.engine.supervisor import forkserver


def verdicts(source: Any, submission: Any) -> dict[str, str]:
    """How each test cell of `submission` ends in one process: passed, failed, error."""
    ours, theirs = forkserver.pipe()
    process = forkserver.start("tests.support.one_process:_main", theirs, plan(repair(source, submission).notebook))
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
        error = shell.run(step.source, step.name).error
        if step.role is Role.TEST:
            found[step.name] = _verdict(error)
    connection.send(found)


def _verdict(error: ErrorInfo | None) -> str:
    if error is None:
        return "passed"
    return "failed" if error.kind == "AssertionError" else "error"
