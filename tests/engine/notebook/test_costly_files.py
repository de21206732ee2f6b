"""Shows that any file that is small enough to be read is read or refused in under two seconds and 300 MB."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, target
from hypothesis import strategies as st

from grader.engine.limits import MAX_NOTEBOOK_MB
from grader.engine.supervisor import parsers
from grader.errors import UnreadableFile
from tests.support.idle import end_parsers
from tests.support.memory import peak, reset_peak
from tests.support.waiting import slowness

SECONDS, MEGABYTES = 2, 300
SIZE = MAX_NOTEBOOK_MB * 2**20 - 1000

PLACES = {
    "cells": b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[%s]}',
    "metadata": b'{"nbformat":4,"nbformat_minor":5,"metadata":{"a":[%s]},"cells":[]}',
    "outputs": b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"code","source":"",'
    b'"metadata":{},"id":"a","execution_count":1,"outputs":[%s]}]}',
    "source": b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","id":"a",'
    b'"metadata":{},"source":[%s]}]}',
    "nbgrader": b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","id":"a",'
    b'"metadata":{"nbgrader":{"a":[%s]}},"source":""}]}',
    "nothing": b"%s",
}
UNITS = [
    *(b"{}", b"[]", b"0", b"1e300", b"12345678901", b'""', b'"ab"', b"null", b'{"a":0}', b'{"a":{}}', b"[[]]", b"[0]"),
    *(b" ", b'"\\ud83d\\ude00"', '"\U0001f600"'.encode(), '"é"'.encode(), b'{"a":[],"b":{},"c":""}'),
    b'{"cell_type":"markdown","source":"","metadata":{},"id":"a"}',
    b'{"cell_type":"code","source":"","metadata":{},"id":"a","outputs":[],"execution_count":null}',
    b'{"cell_type":"markdown","source":["a"],"metadata":{"tags":["a"]},"attachments":{"a":{"image/png":""}}}',
    b'{"output_type":"stream","name":"stdout","text":"a"}',
]
OPENED = [b"[", b'{"a":', b'"', '"\U0001f600'.encode(), b"1", b"1.", b"1e", b"-", b"\\u0041", b"\xff", b"\x00", b"//"]
"""What a file may repeat without an end."""


@dataclass
class Cost:
    """CPU seconds of both processes, and the most MiB by which either of them grew."""

    seconds: float
    megabytes: float


def cost(data: bytes, folder: Path) -> Cost:
    """What it costs to read a notebook file with this content."""
    path = folder / "one.ipynb"
    path.write_bytes(data)
    end_parsers()
    with pytest.raises(UnreadableFile):
        parsers.read_notebook(folder / "missing.ipynb")
    # A small file first: the process must have started, and its first notebook makes the validator.
    small = folder / "small.ipynb"
    small.write_bytes(PLACES["cells"] % b"")
    parsers.read_notebook(small)
    [parser] = parsers._idle
    processes = [os.getpid(), parser._process.pid]
    before = [_used(process) for process in processes]
    for process in processes:
        reset_peak(process)
    resident = [peak(process) for process in processes]
    begin = time.monotonic()
    with suppress(UnreadableFile):
        parsers.read_notebook(path)
    wall = time.monotonic() - begin
    if not parsers._idle:  # the file ended the parser, at the limit of its memory
        return Cost(wall, (peak(processes[0]) - resident[0]) / 2**20)
    after = [_used(process) for process in processes]
    return Cost(
        sum(after) - sum(before),
        max(peak(process) - before for process, before in zip(processes, resident, strict=True)) / 2**20,
    )


def _used(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def filled(place: str, unit: bytes) -> bytes:
    """A file of the largest size that repeats `unit` in one place of a notebook."""
    room = SIZE - len(PLACES[place])
    return PLACES[place] % b",".join([unit] * (room // (len(unit) + 1)))


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("COSTLY_FILES", "8")), deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(place=st.sampled_from(sorted(PLACES)), unit=st.sampled_from(UNITS))
@example(place="metadata", unit=b"{}")
@example(place="source", unit=b'"ab"')
def test_a_file_of_many_small_parts_costs_little(tmp_path: Path, place: str, unit: bytes) -> None:
    """Whatever it repeats, and wherever: the cost is counted before the file is parsed."""
    spent = cost(filled(place, unit), tmp_path)
    target(spent.seconds, label="seconds")
    target(spent.megabytes, label="megabytes")
    assert spent.seconds < SECONDS * slowness() and spent.megabytes < MEGABYTES, (place, unit, spent)


@pytest.mark.parametrize("text", [b"[", '"\U0001f600'.encode(), b"1"])
def test_a_file_without_an_end_costs_little(tmp_path: Path, text: bytes) -> None:
    """However deep, long or wide it is."""
    spent = cost(text * (SIZE // len(text)), tmp_path)
    assert spent.seconds < SECONDS * slowness() and spent.megabytes < MEGABYTES, (text, spent)
