"""Adds an AST transformer that drops every assert, to IPython, to ast.parse and to compile.

The transformer works only in the student process.
"""

from nbformat import NotebookNode

from tests.attacks.build import first

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
