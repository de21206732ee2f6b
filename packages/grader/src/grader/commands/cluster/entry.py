"""The command `grader worker-setup`."""

import argparse
from pathlib import Path

from grader.classroom.config import helper_packages, load_config
from grader.commands.shared import Command, add_no_sandbox, require_dask


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scheduler", metavar="ADDRESS", help="tcp://HOST:PORT of the scheduler")
    add_no_sandbox(parser, "do not require that they can confine student code")


def _run(parsed: argparse.Namespace) -> int:
    require_dask()
    from grader.commands.cluster.command import set_up

    config, status = load_config(Path.cwd()), 0
    for worker, reason in set_up(parsed.scheduler, config, helper_packages(config), sandbox=not parsed.no_sandbox):
        print(f"{worker}: {reason or 'ready'}", flush=True)
        status |= bool(reason)
    return status


HELP = "prepare the workers of a cluster, or print why they cannot grade"
COMMANDS = (Command("worker-setup", HELP, _options, _run),)
