"""Runs the process that parses untrusted files: a file that takes too much memory ends only this process.

bytes of a file --> parsing.py --> the notebook as JSON, or the defect of the file
"""

import json
import os
from contextlib import suppress
from multiprocessing.connection import Connection

from grader.engine.notebook.parsing import parsed
from grader.engine.sandbox.isolation.confinement import limit_memory
from grader.engine.sandbox.isolation.namespaces import die_with_parent
from grader.errors import UnreadableFile

MEMORY_MB = 300


def main(parent: Connection) -> None:
    """Answer each file from the parent with 1 and its notebook, or with 0 and the parts of an UnreadableFile."""
    die_with_parent()
    limit_memory(MEMORY_MB)
    with suppress(EOFError, OSError):
        while True:
            parent.send_bytes(_answer(parent.recv_bytes()))
    os._exit(0)


def _answer(data: bytes) -> bytes:
    try:
        return b"1" + json.dumps(parsed(data)).encode()
    except UnreadableFile as error:
        return b"0" + json.dumps([error.why, error.to_do, error.yours]).encode()
