"""Runs nbgrader's programs in this process, as its command line does."""

import pytest
from nbgrader.apps import NbGrader


def run_program(program: type[NbGrader], logged: pytest.LogCaptureFixture, *arguments: str) -> tuple[int, str]:
    """Run a program in the working folder, and return its exit status and what it logged.

    Args:
        program: the class of the program.
        logged: pytest's capture of logs.
        arguments: its command line.
    """
    program.clear_instance()
    app = program.instance()
    app.initialize([*arguments])
    app.log.addHandler(logged.handler)
    logged.clear()
    status = 0
    try:
        app.start()
    except SystemExit as ended:
        status = int(str(ended.code))
    finally:
        app.log.removeHandler(logged.handler)
        program.clear_instance()
    return status, logged.text
