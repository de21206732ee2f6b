"""Shows figures and questions that the browser computes: in JupyterLab with a kernel, on any page without one.

kit.js + NAME.js  --module-->  an ES module, which anywidget renders in JupyterLab
                  --script-->  a script, which page.js renders into a <div class="grader-widget"> of any page
"""

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

FOLDER = Path(__file__).parent / "widgets"
"""The modules of this package, with what all modules share (`kit.js`) and what shows them on a page (`page.js`)."""

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w/-]+)\.js";\n', re.MULTILINE)
_DEFAULT = re.compile(r"^export default .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (default )?", re.MULTILINE)


def module(path: Path) -> str:
    """Return a widget's module as one file, which imports nothing.

    Args:
        path: the file of the module, whose default export is an anywidget; it may import names from "./kit.js" and
            from other files of `FOLDER`.

    Raises:
        OSError: there is no such file.
    """
    parts: dict[Path, str] = {}

    def add(file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        for found in _IMPORT.finditer(text):
            needed = FOLDER / f"{found[1]}.js"
            if needed not in parts:
                add(needed)
        parts[file] = _IMPORT.sub("", text)

    add(path)
    last = parts.pop(path)
    return "".join(_DEFAULT.sub("", part) for part in parts.values()) + last


def script(path: Path) -> str:
    """Return a widget's module as a script that adds it to `graderWidgets`, for pages without modules.

    Args:
        path: the file of the module.

    Raises:
        OSError: there is no such file.
    """
    body = _EXPORT.sub(lambda found: "return " if found[1] else "", module(path))
    return f"(globalThis.graderWidgets ??= {{}})[{json.dumps(path.stem)}] = (() => {{\n{body}}})();\n"


def html(path: Path, state: Mapping[str, Any], about: str) -> str:
    """Return HTML that `page.js` replaces by a widget.

    Args:
        path: the file of its module.
        state: the first state.
        about: the text that is shown until then.

    Raises:
        TypeError, ValueError: the state is not JSON; NaN and infinity are not.
    """
    data = escape(json.dumps(state, allow_nan=False, ensure_ascii=False))
    return (
        f'<div class="grader-widget" data-module="{escape(path.stem)}" data-state="{data}"><p>{escape(about)}</p></div>'
    )


class Widget(anywidget.AnyWidget):
    """A figure or question that JavaScript computes and draws.

    Its output has a part for JupyterLab, and HTML for pages: a text, which `page.js` replaces by the widget.
    """

    state = traitlets.Dict().tag(sync=True)
    """The values that the controls change, as JSON. Python and JavaScript both write them."""

    def __init__(self, path: Path, state: Mapping[str, Any], about: str, *, page: str | None = None) -> None:
        """Make a widget.

        Args:
            path: the file of its module; the name of the file without `.js` is the module's name.
            state: the first state.
            about: what one can do with it, in a sentence or two; shown where widgets do not run.
            page: the HTML for pages, if not that of `html`.

        Raises:
            OSError: there is no such module.
            TypeError, ValueError: the state is not JSON; NaN and infinity are not.
        """
        self._esm = module(path)
        self._page = html(path, state, about) if page is None else page
        self._about = about
        super().__init__(state=dict(state))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | {"text/plain": self._about, "text/html": self._page}, metadata
