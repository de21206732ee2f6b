"""Builds the outputs of a student's cell, as the autograded notebook shows them, from what the sandbox sent."""

from typing import Any

from grader.engine.notebook.cells import FORMS
from grader.engine.rpc.protocol import CellDone, ErrorInfo, Text
from grader.text import printable


def cell_outputs(done: CellDone) -> list[dict[str, Any]]:
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


def size(output: dict[str, Any]) -> int:
    """Return the approximate number of characters that an output adds to the notebook."""
    parts = (output.get(name, "") for name in ("text", "ename", "evalue"))
    return sum(map(len, (*parts, *output.get("data", {}).values(), *output.get("traceback", ())))) + 100
