"""Lists hostile markup: in a browser it would run a script or fetch something unless it is sanitized."""

RAN = "top.document.title=7"
"""The statement that takes the place of `attack()` in every script of the attacks."""
MATHML = [
    "<math><annotation-xml encoding='text/html'><script>RAN</script><img src=URL onerror=RAN></annotation-xml></math>",
    "<math><annotation-xml encoding='application/xhtml+xml'><style><img src=URL onerror=RAN></style></annotation-xml>",
    "<math><annotation-xml><svg><style><a title='</style><img src=URL onerror=RAN>'></annotation-xml></math>",
    "<math><semantics><mi>x</mi><annotation src=URL>a</annotation></semantics></math>",
    "<math href='javascript:RAN'><mi xlink:href='javascript:RAN' href=URL onclick=RAN>x</mi></math>",
    "<math><maction actiontype='statusline#URL' xlink:href=URL onmouseover=RAN><mi>x</mi></maction></math>",
    "<math><mglyph src=URL alt=x></mglyph><mi><mglyph src=URL></mi></math>",
    "<math style='background:url(URL)' mathbackground='url(URL)'><mspace width='9999px' altimg=URL></math>",
    # HTML where MathML allows it.
    "<math><mtext><img src=URL onerror=RAN><script>RAN</script></mtext></math>",
    "<math><ms><iframe srcdoc='<script>RAN</script>'></iframe><video src=URL></video><object data=URL></object></ms>",
    # One parser reads these as a text or an attribute, and the next as a tag.
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=URL onerror=RAN&gt;'>",
    "<math><mtext><table><mtr><mtd><style><!--</style><img title='--&gt;&lt;img src=URL onerror=RAN&gt;'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=URL onerror=RAN>",
    "<math><mi><mglyph><none><style><a title='</style><img src=URL onerror=RAN>'>",
    "<math><mtext><table><math><mtext><style><a title='</style><img src=URL onerror=RAN>'>",
    "<math></p><style><a title='</style></math><img src=URL onerror=RAN>'>",
    "<math><!--</math><img src=URL onerror=RAN>--><![CDATA[</math><script>RAN</script>]]></math>",
    "<table><math><mtext><tr><td><style><b title='</style></table><img src=URL onerror=RAN>'>",
    # Formulas, and what stands for a formula until it is drawn.
    "<math>$x$<mtext>$y$<style>$\\text{</style><img src=URL onerror=RAN>}$</math>",
    "$\\text{</mtext></math><img src=URL onerror=RAN>}$ $\\href{javascript:RAN}{x}$ $<script>RAN</script>$",
    "$$\\begin{matrix}<img src=URL onerror=RAN>\\end{matrix}$$ $$\\includegraphics{URL}$$ **<b>$a$ <a href=#>$b$",
    '<var title=\'inline formula: "><img src=URL onerror=RAN>\'></var><var title="block formula: \\text{<b"></var>',
    "<var title='block formula: &lt;/math&gt;&lt;img src=URL onerror=RAN&gt;'></var>",
]
"""MathML of a student, and formulas. `RAN` is a statement, and `URL` an address that this test watches."""
