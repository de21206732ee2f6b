"""Turns what a student's cell printed, displayed and raised into the outputs of a notebook.

CellDone --> outputs in nbformat's form, with printable text only --OutputRoom--> those that fit the notebook
"""

from typing import Any

from grader.engine.notebook.cells import FORMS
from grader.engine.report import Verdict, error_output
from grader.engine.rpc.protocol import CellDone, ErrorInfo, Text
from grader.text import printable


class OutputRoom:
    """The room that is left for the outputs of a notebook.

    Args:
        kilobytes: how much its outputs may hold, in KiB.
    """

    def __init__(self, kilobytes: int) -> None:
        self._room = kilobytes * 1024

    def fitting(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the outputs of a cell that fit, and use room for them; a final error output replaces the rest."""
        kept: list[dict[str, Any]] = []
        for output in outputs if self._room >= 0 else ():
            self._room -= _size(output)
            if self._room < 0:
                return [*kept, error_output(Verdict.OUTPUT_LIMIT, "there was more output than is shown")]
            kept.append(output)
        return kept


def outputs_of(done: CellDone) -> list[dict[str, Any]]:
    """Return the outputs of a cell in nbformat's form, with printable text only, and its exception as an error."""
    outputs: list[dict[str, Any]] = []
    for output in done.outputs:
        if isinstance(output, Text):
            outputs.append({"output_type": "stream", "name": "stdout", "text": _whole(output.text)})
        else:
            data = {form: _whole(output.data[form]) for form in FORMS if form in output.data}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    if done.error is not None:
        outputs.append(_error(done.error))
    return outputs


def _error(info: ErrorInfo) -> dict[str, Any]:
    name, message = printable(info.name), printable(info.message)
    lines = [f"{printable(frame.cell)}, line {frame.line}: {printable(frame.text)}" for frame in info.frames]
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [*lines, f"{name}: {message}"]}


def _whole(text: str) -> str:
    return printable(text, len(text))


def _size(output: dict[str, Any]) -> int:
    """Return the approximate number of characters that an output adds to the notebook."""
    parts = (output.get(name, "") for name in ("text", "ename", "evalue"))
    return sum(map(len, (*parts, *output.get("data", {}).values(), *output.get("traceback", ())))) + 100
