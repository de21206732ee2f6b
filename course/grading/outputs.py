"""What the student's cells put out, as it stands below them in the autograded notebook."""

from typing import Any

from course.grading.failure import bounded
from course.grading.notebook import FORMS
from course.grading.text import printable
from course.grading.wire import WireError


def plain_outputs(done: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a student's cell, put together anew: the candidate is not trusted to shape them."""
    outputs = []
    for output in done["outputs"]:
        if output["output_type"] == "stream":
            outputs.append({"output_type": "stream", "name": "stdout", "text": _plain(output["text"])})
        else:
            data = {form: _plain(output["data"][form]) for form in FORMS if form in output["data"]}
            outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    if done["raised"] is not None:
        outputs.append(_error_output_of(bounded(done["raised"])))
    return outputs


def _error_output_of(said: dict[str, Any]) -> dict[str, Any]:
    name, message = printable(said["name"]), printable(said["message"])
    lines = [f"{printable(cell)}, line {line}: {printable(text)}" for cell, line, text in said["frames"]]
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [*lines, f"{name}: {message}"]}


def _plain(text: Any) -> str:
    if not isinstance(text, str):
        raise WireError(f"an output is text; this one is a {type(text).__name__}")
    return printable(text, len(text))


def size(output: dict[str, Any]) -> int:
    """About how many characters an output adds to the notebook."""
    parts = (output.get(name, "") for name in ("text", "ename", "evalue"))
    return sum(map(len, (*parts, *output.get("data", {}).values(), *output.get("traceback", ())))) + 100
