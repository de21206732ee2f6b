"""Shows HTML, SVG, JavaScript, LaTeX and pictures that carry scripts, and raises errors that do.

Outputs are cleaned where they become a page: no script of a submission runs in anybody's browser.
"""

from attacks.build import RIGHT_DOUBLE, answered, appended, wire
from nbformat import NotebookNode

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
    said = {"kind": "ValueError", "name": "<script>attack()</script>", "message": "<img src=x onerror=attack()>"}
    said["frames"] = [["<script>attack()</script>", "<script>", "<script>attack()</script>"]]
    outputs = [{"output_type": "display_data", "data": {"text/html": "<script>attack()</script>"}}]
    service._run = lambda request, packed: ({"done": {"outputs": outputs, "raised": said}}, [])
    """
    hostile = answered(released, RIGHT_DOUBLE + SHOW, SCALE)
    return appended(appended(hostile, wire(forged)), "'and more'")
