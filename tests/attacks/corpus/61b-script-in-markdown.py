"""Writes scripts into its text: plain, in links, in pictures, in formulas, in attachments, in the written answer.

Text is cleaned before it reaches a page.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended
from tests.support.notebooks import cell

EARNS = 5

SCRIPT = """<script>attack()</script>

<img src=x onerror="attack()"> <svg/onload=attack()> [link](javascript:attack()) [two](java&#x0A;script:attack())
![picture](x "onerror=attack()") <a href=" javascript:attack()">x</a> <details ontoggle=attack() open>x</details>
<iframe src="javascript:attack()"></iframe> <style>@import 'attack.example';</style> ![a](attachment:a.png)
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=attack()&gt;">
<math><annotation-xml encoding="text/html"><script>attack()</script></annotation-xml>
<mi href="javascript:attack()">x</mi>
<maction actiontype="toggle" xlink:href="javascript:attack()" onclick="attack()">y</maction></math>

$$\\href{javascript:attack()}{x} <script>attack()</script>$$ $</script><script>attack()</script>$

```<script>attack()</script>
</code></pre><script>attack()</script>
```
<!-- <img --><script>attack()</script> <noscript><p title="</noscript><img src=x onerror=attack()>">
"""


def submission(released: NotebookNode) -> NotebookNode:
    hostile = appended(answered(released), text=SCRIPT)
    hostile.cells[-1]["attachments"] = {"a.png": {'image/png" onerror="attack()': "x", "image/svg+xml": SCRIPT}}
    hostile.cells[-1].metadata["tags"] = ['"><script>attack()</script>']
    cell(hostile, "question").source = SCRIPT
    hostile.cells.insert(0, {"cell_type": "raw", "metadata": {"format": "text/html"}, "source": SCRIPT, "id": "raw"})
    return hostile
