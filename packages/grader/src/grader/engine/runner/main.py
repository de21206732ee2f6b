"""Runs the trusted test process, which grades one notebook after the other.

    Job --> NotebookRun (passes.py) --> JobResult

It is unconfined, runs no line of the student's, and knows student code only through its sandbox.
"""

import gc
import os
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from grader.engine.diagnosis.diagnosis import DiagnosisCache
from grader.engine.rpc.jobs import JobResult
from grader.engine.rpc.state.torch_settings import settings_kept
from grader.engine.runner.answer_cache import AnswerCache
from grader.engine.runner.passes import NotebookRun
from grader.engine.runner.test_execution import install_seeds
from grader.engine.runner.working_folder import working_folder
from grader.engine.sandbox.isolation.confinement import limit_memory

MEMORY_MB = 3 * 1024
"""MiB of address space for tests, and for the answers of student code, often in several copies."""


def main(parent: Connection, processor: int) -> None:
    """Grade the jobs that the parent sends, and send back a JobResult for each.

    Args:
        parent: the connection to the parent.
        processor: the processor on which runner and sandbox run.
    """
    os.sched_setaffinity(0, {processor})
    limit_memory(MEMORY_MB)
    # Tests print for their author in a notebook, not for the terminal of a class run.
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    # Objects that a test drops are freed at once or after the notebook, never at an unpredictable moment.
    gc.disable()
    answers, diagnoses = AnswerCache(), DiagnosisCache()
    install_seeds()
    is_reusable = True
    with suppress(EOFError, OSError):
        while is_reusable:
            # An instructor's cell changes settings only for its own notebook.
            with settings_kept():
                is_reusable = _grade_next(parent, answers, diagnoses)
            # Only the youngest generation, so that each cached object is visited once.
            gc.collect(0)
    os._exit(0)


def _grade_next(parent: Connection, answers: AnswerCache, diagnoses: DiagnosisCache) -> bool:
    """Grade a notebook; return whether this process was not interrupted, and so can grade another."""
    job = parent.recv()
    with working_folder(job):
        run = NotebookRun(parent, job, answers, diagnoses)
        result = JobResult(run.results(), run.outputs, run.unfinished())
        run.close()
    parent.send(result)
    return not run.was_interrupted
