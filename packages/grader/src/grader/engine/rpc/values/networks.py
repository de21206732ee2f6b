"""Takes graphs of networkx, and sparse matrices and results of scipy apart, and makes them; see library_values.py."""

import importlib
from typing import Any

from grader.engine.rpc.values.library_values import array
from grader.engine.rpc.values.standard_values import hashable

SPARSE = "bsr coo csc csr dia dok lil".split()


def class_named(name: str) -> Any:
    """Return a class of networkx or scipy."""
    if name == "OptimizeResult":
        return importlib.import_module("scipy.optimize").OptimizeResult
    return getattr(importlib.import_module("networkx" if name.endswith("Graph") else "scipy.sparse"), name)


def parts(item: Any, kind: str) -> Any:
    """Return the parts of a value.

    Args:
        item: the value.
        kind: the name of its class.
    """
    if kind == "OptimizeResult":
        return dict(item)
    if not kind.endswith("Graph"):
        entries = item.tocoo()
        return [list(item.shape), entries.data, entries.row, entries.col]
    edges = item.edges(keys=True, data=True) if item.is_multigraph() else item.edges(data=True)
    return [
        dict(item.graph),
        [[node, dict(attributes)] for node, attributes in item.nodes(data=True)],
        [list(edge) for edge in edges],
        [[node, list(neighbours)] for node, neighbours in item.adjacency()],
    ]


def make(content: Any, kind: str) -> Any:
    """Return the value with these parts.

    Args:
        content: the parts.
        kind: the name of its class.
    """
    new = class_named(kind)
    if kind == "OptimizeResult":
        return new({name: part for name, part in content.items() if type(name) is str})
    if not kind.endswith("Graph"):
        shape, data, rows, columns = content
        triples = array(data, "biufc"), (array(rows, "i"), array(columns, "i"))
        # By this one, which checks its indexes; others read memory by them.
        made = getattr(importlib.import_module("scipy.sparse"), f"coo_{kind[4:]}")(triples, shape=tuple(shape))
        return made.asformat(kind[:3])
    attributes, nodes, edges, order = content
    hashable([node for node, _ in nodes], "nodes of a graph")
    graph = new()
    graph.graph.update(attributes)
    graph.add_nodes_from((node, dict(own)) for node, own in nodes)
    if not {end for start, stop, *_ in edges for end in (start, stop)} <= graph.nodes:
        raise ValueError
    graph.add_edges_from(edges)
    for node, neighbours in order:
        # Searches visit the neighbours of a node in this order.
        known = graph._adj[node]
        arranged = {neighbour: known[neighbour] for neighbour in neighbours}
        if len(arranged) != len(known):
            raise ValueError
        known.clear()
        known.update(arranged)
    return graph
