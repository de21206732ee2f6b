"""Collects what student code prints during a call, for a test that captures its own output."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.engine.rpc.exceptions import OutputLimit
from grader.engine.rpc.paths import without_paths
from grader.engine.rpc.protocol import MAX_PRINTED, Printed


class PrintedText:
    """The text printed since it was last taken, in order."""

    def __init__(self) -> None:
        self._parts: list[Printed] = []
        self._room = MAX_PRINTED

    def take(self) -> list[Printed]:
        """Return the text, in one part for each change between stdout and stderr, and forget it."""
        if not self._parts:
            return []
        parts, self._parts, self._room = self._parts, [], MAX_PRINTED
        joined: list[Printed] = []
        for is_error, text in parts:
            before = joined.pop()[1] if joined and joined[-1][0] == is_error else ""
            joined.append((is_error, before + text))
        return [(is_error, without_paths(text).encode(errors="replace").decode()) for is_error, text in joined]

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect what is printed until the end of the block; the present streams get it, too, and count it."""
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Stream(self, streams[0], False), _Stream(self, streams[1], True)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams

    def add(self, is_error: bool, text: str) -> None:
        """Add printed text; raise OutputLimit if it is too much for one message."""
        self._room -= len(text)
        if self._room < 0:
            raise OutputLimit(f"more than {MAX_PRINTED} characters were printed")
        self._parts.append((is_error, text))


class _Stream(io.TextIOBase):
    """A file that passes on what is written to it."""

    encoding = "utf-8"

    def __init__(self, text: PrintedText, stream: Any, is_error: bool) -> None:
        self._text, self._stream, self._is_error = text, stream, is_error

    def write(self, text: str) -> int:
        self._stream.write(text)
        self._text.add(self._is_error, text)
        return len(text)
