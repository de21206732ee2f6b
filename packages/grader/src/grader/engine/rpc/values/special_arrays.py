"""Takes arrays of numpy apart that hold objects or records, masked ones and matrices; see library_values.py."""

import math
from typing import Any

import numpy

from grader.engine.rpc.values.arrays import scalar_dtype, scalar_name
from grader.engine.rpc.values.library_values import array

CLASSES = {
    "ndarray": numpy.ndarray,
    "recarray": numpy.recarray,
    "matrix": numpy.matrix,
    "MaskedArray": numpy.ma.MaskedArray,
}


def class_named(name: str) -> Any:
    """Return a class of arrays."""
    return CLASSES[name]


def parts(item: Any, kind: str) -> Any:
    """Return the parts of an array.

    Args:
        item: the array.
        kind: the name of its class.
    """
    if kind == "matrix":
        return numpy.asarray(item)
    if kind == "MaskedArray":
        return [numpy.asarray(item.data), numpy.ma.getmaskarray(item), item.mask is numpy.ma.nomask, item.fill_value]
    shape = list(item.shape)
    if item.dtype.kind == "O":
        return [shape, None, list(item.flat)]
    fields = [[name, scalar_name(item.dtype[name])] for name in item.dtype.names]
    if item.dtype.base != numpy.dtype([(name, item.dtype[name]) for name in item.dtype.names]):
        raise TypeError("the fields of this array have places of their own")
    return [shape, fields, [numpy.ascontiguousarray(item[name]) for name, _ in fields]]


def make(content: Any, kind: str) -> Any:
    """Return the array with these parts.

    Args:
        content: the parts.
        kind: the name of its class.
    """
    if kind == "matrix":
        if array(content).ndim != 2:
            raise ValueError
        return content.view(numpy.matrix)  # the constructor warns
    if kind == "MaskedArray":
        data, mask, has_none, fill = content
        return numpy.ma.MaskedArray(array(data), numpy.ma.nomask if has_none else array(mask, "b"), fill_value=fill)
    shape, fields, values = content
    if fields is None:
        if math.prod(shape) != len(values):
            raise ValueError
        made = numpy.empty(len(values), object)
        made[:] = values
        return made.reshape(shape)
    made = numpy.empty(array(values[0]).shape, [(name, scalar_dtype(dtype)) for name, dtype in fields])
    for name, column in zip(made.dtype.names or (), values, strict=True):
        if array(column).shape != made.shape or column.dtype != made.dtype[name]:
            raise ValueError
        made[name] = column
    return made.view(numpy.recarray) if kind == "recarray" else made
