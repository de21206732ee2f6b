"""Reads submitted notebooks: opens the file here and parses it in a process with a memory limit.

file --submission_folder--> bytes --parser--> JSON of a small, valid notebook --> NotebookNode
"""

import json
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path

from nbformat import NotebookNode, from_dict

from grader.engine.limits import MAX_NOTEBOOK_MB
from grader.engine.notebook.folder.submission_folder import read_bytes
from grader.engine.supervisor import forkserver
from grader.errors import UnreadableFile

PARSE_SECONDS = 20
"""Seconds that a file may take to parse; on an idle machine no file takes more than two."""
START_SECONDS = 60
"""Seconds that a parser may take to start: the fork server may still be loading."""


class ParserProcess:
    """A process that parses one file after the other."""

    def __init__(self) -> None:
        self._connection, other_end = forkserver.pipe()
        self._process: BaseProcess = forkserver.start(forkserver.PARSER, other_end)
        other_end.close()
        self._seconds = START_SECONDS + PARSE_SECONDS

    def parsed(self, data: bytes) -> bytes:
        """Return the parser's answer; raise EOFError or OSError if the process is lost over this file."""
        self._connection.send_bytes(data)
        if not self._connection.poll(self._seconds):
            raise EOFError
        self._seconds = PARSE_SECONDS
        return self._connection.recv_bytes()

    def is_lost(self) -> bool:
        """Return whether the process ended while idle: an idle process sends nothing, so input means the end."""
        return self._connection.poll(0)

    def end(self) -> None:
        """Kill the process."""
        forkserver.end(self._process)
        self._connection.close()


_idle: list[ParserProcess] = []
_lock = threading.Lock()


def read_notebook(path: Path, max_mb: int = MAX_NOTEBOOK_MB) -> NotebookNode:
    """Return the notebook in `path`, without its outputs.

    Args:
        path: the file.
        max_mb: its size limit, in MiB.

    Raises:
        UnreadableFile: it is not a notebook, in a format from before 2015, or too large.
    """
    return parse(read_bytes(path, max_mb), path.name)


def parse(data: bytes, name: str) -> NotebookNode:
    """Return the notebook that a file holds, without its outputs.

    Args:
        data: the content of the file, of a bounded size.
        name: the name of the file, for the error.

    Raises:
        UnreadableFile: it is not a notebook, or in a format from before 2015.
    """
    parser = _borrowed()
    try:
        answer = parser.parsed(data)
    except (EOFError, OSError):
        parser.end()
        raise UnreadableFile(
            f"{name} takes too much memory or time to read",
            "ask for it without outputs",
            "clear its outputs, and save it",
        ) from None
    with _lock:
        _idle.append(parser)
    content = json.loads(answer[1:])
    if answer[:1] == b"0":
        why, to_do, yours = content
        raise UnreadableFile(f"{name} {why}", to_do, yours)
    notebook: NotebookNode = from_dict(content)
    return notebook


def _borrowed() -> ParserProcess:
    """Return an idle parser, or a new one; the next file is not to blame for one that ended while idle."""
    while True:
        with _lock:
            parser = _idle.pop() if _idle else None
        if parser is None:
            return ParserProcess()
        if not parser.is_lost():
            return parser
        parser.end()
