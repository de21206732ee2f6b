"""Adds an AST transformer that drops every assert, to IPython, to ast.parse and to compile.

It acts in the student's process only.
"""

from attacks.build import first
from nbformat import NotebookNode

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import ast, builtins
        class Drop(ast.NodeTransformer):
            def visit_Assert(self, node):
                return ast.Pass()
        get_ipython().ast_transformers.append(Drop())
        parse = ast.parse
        ast.parse = lambda *args, **kwargs: ast.fix_missing_locations(Drop().visit(parse(*args, **kwargs)))
        """,
    )
