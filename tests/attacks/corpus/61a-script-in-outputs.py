"""Shows HTML, SVG, JavaScript, LaTeX and pictures with scripts in them, and raises errors with scripts.

Outputs are cleaned before they reach a page: no script of a submission runs in a browser.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, answered, appended, on_channel

EARNS = 5

SHOW = """
import base64
from IPython.display import display
script = "<script>attack()</script><img src=x onerror=attack()><svg onload=attack()><a href='javascript:attack()'>x</a>"
script += "<iframe srcdoc='<script>attack()</script>'></iframe><math><mtext></form><form><mglyph><style></math>"
script += "<img src=x onerror=attack()><object data='javascript:attack()'></object><base href='//attack.example'>"
script += "<meta http-equiv=refresh content='0;url=javascript:attack()'><form action='javascript:attack()'></form>"
kinds = ("text/html", "image/svg+xml", "application/javascript", "text/markdown", "text/latex", "text/plain",
         "application/vnd.jupyter.widget-view+json", "text/html<script>attack()</script>", "application/pdf")
for kind in kinds:
    display({kind: script}, raw=True)
for kind in ("image/png", "image/jpeg"):
    display({kind: 'x" onerror="attack()'}, raw=True)
    display({kind: "x'><script>attack()</script>"}, raw=True)
print(script, "\\x1b]8;;javascript:attack()\\x07link\\x1b]8;;\\x07", "\\x1b[31m" + script)
raise type("<script>attack()</script>", (ValueError,), {})(script)
"""
SCALE = """
def Scale(d):
    script = "<script>attack()</script><img src=x onerror=attack()>"
    raise type(script, (ValueError,), {})(script)
"""


def submission(released: NotebookNode) -> NotebookNode:
    forged = """
    script, picture = "<script>attack()</script>", "<img src=x onerror=attack()>"
    frames = [protocol.Frame(script, 1, script), protocol.Frame(picture, -1, picture)]
    error = protocol.ErrorInfo(kind=script, name=script, message=picture, frames=frames)
    outputs = [protocol.Text(text=script + picture), protocol.Display(data={
        "text/html": script + picture, "text/plain": script, "image/png": 'x" onerror="attack()', script: script})]
    server._run = lambda request: (protocol.CellDone(outputs=outputs, error=error), [])
    """
    hostile = answered(released, RIGHT_DOUBLE + SHOW, SCALE)
    return appended(appended(hostile, on_channel(forged)), "'and more'")
