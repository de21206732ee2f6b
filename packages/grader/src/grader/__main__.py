"""Runs the command line: `python -m grader`, or `grader` if the package is installed."""

import gc
import sys


def run() -> None:
    """Run one command and end the process with its exit status."""
    if sys.platform != "linux":
        sys.exit(
            "grader: these commands need Linux, which Windows has in WSL and a Mac in a container or virtual machine; "
            "the notebooks run anywhere"
        )
    if sys.argv[1:2] == ["check"]:
        from grader.commands.check import client

        if (status := client.run(sys.argv[1:])) is not None:
            sys.exit(status)
    from grader.commands.cli import main

    # Notebooks are large trees that live as long as the grading of a student, and frequent garbage collections would
    # take a tenth of the time.
    gc.set_threshold(50_000, 20, 20)
    sys.exit(main())


if __name__ == "__main__":
    run()
