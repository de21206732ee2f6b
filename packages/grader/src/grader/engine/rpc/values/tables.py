"""Takes tables of pandas apart into arrays and indexes, and makes them again; see library_values.py.

A column is an array of numpy, a list of objects, or, for the dtypes of pandas, the parts of its extension array.
"""

import re
from typing import Any

import numpy
import pandas
from msgspec import json

from grader.engine.rpc.values.library_values import array, text

MASKED = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")
"""Dtypes of pandas that are numbers and a mask."""
ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
FREQUENCY = re.compile(r"-?\d{0,6}[A-Za-z]{1,5}(-[A-Z]{3})?")


def class_named(name: str) -> Any:
    """Return a class of pandas."""
    return {"NAType": type(pandas.NA), "NaTType": type(pandas.NaT)}.get(name) or getattr(pandas, name, None)


def parts(item: Any, kind: str) -> Any:
    """Return the parts of a value.

    Args:
        item: the value.
        kind: the name of its class.
    """
    match kind:
        case "DataFrame":
            return [item.columns, item.index, [_column(item.iloc[:, place]) for place in range(item.shape[1])]]
        case "Series":
            return [item.name, item.index, _column(item)]
        case "RangeIndex":
            return [item.name, item.start, item.stop, item.step]
        case "MultiIndex":
            return [list(item.names), list(item.levels), [numpy.asarray(codes) for codes in item.codes]]
        case "DatetimeIndex" | "TimedeltaIndex":
            return [item.name, _column(item), item.freqstr]
        case "Index" | "CategoricalIndex" | "IntervalIndex":
            return [item.name, _column(item)]
        case "Categorical":
            return [numpy.asarray(item.codes), item.categories, item.ordered]
        case "Interval":
            return [item.left, item.right, item.closed]
        case "Timestamp":
            return [item.tz_convert(None).asm8 if item.tz else item.asm8, _zone(item.tz)]
        case "Timedelta":
            return item.asm8
    return None


def make(content: Any, kind: str) -> Any:
    """Return the value with these parts.

    Args:
        content: the parts.
        kind: the name of its class.
    """
    match kind:
        case "DataFrame":
            return _frame(*content)
        case "Series":
            name, index, column = content
            return pandas.Series(_array(column), index=_index(index), name=name, copy=False)
        case "RangeIndex":
            name, *bounds = content
            return pandas.RangeIndex(*bounds, name=name)
        case "MultiIndex":
            names, levels, codes = content
            return pandas.MultiIndex(
                [_index(level) for level in levels], [array(each, "i") for each in codes], names=names
            )
        case "DatetimeIndex" | "TimedeltaIndex":
            name, column, frequency = content
            if frequency is not None and not FREQUENCY.fullmatch(frequency):
                raise ValueError
            return class_named(kind)(_array(column), freq=frequency, name=name)
        case "Index" | "CategoricalIndex" | "IntervalIndex":
            name, column = content
            made = _array(column)
            return class_named(kind)(made, name=name, **({"dtype": made.dtype} if kind == "Index" else {}))
        case "Categorical":
            codes, categories, ordered = content
            return pandas.Categorical.from_codes(array(codes, "i"), _index(categories), ordered=ordered is True)
        case "Interval":
            return pandas.Interval(*content)
        case "Timestamp":
            moment, zone = content
            made = pandas.Timestamp(moment if isinstance(moment, numpy.datetime64) else int("no date"))
            return made if zone is None else made.tz_localize("UTC").tz_convert(_checked_zone(zone))
        case "Timedelta":
            return pandas.Timedelta(content if isinstance(content, numpy.timedelta64) else int("no duration"))
    return pandas.NA if kind == "NAType" else pandas.NaT


def update(item: Any, new: Any) -> None:
    """Give a table or a series the content of another one, in place.

    Args:
        item: the one to change.
        new: the other.
    """
    item.__setstate__(new.__getstate__())


def _frame(columns: Any, index: Any, content: list[Any]) -> Any:
    index, columns = _index(index), _index(columns)
    made = pandas.DataFrame({place: _array(column) for place, column in enumerate(content)}, index=index)
    made.columns = columns
    return made


def _index(item: Any) -> Any:
    if not isinstance(item, pandas.Index):
        raise TypeError
    return item


def _column(item: Any) -> list[Any]:
    """Return the kind of a column or an index, and its parts."""
    dtype = item.dtype
    if isinstance(dtype, numpy.dtype):
        return ["objects", list(item)] if dtype.kind == "O" else ["numpy", item.to_numpy()]
    values = item.array
    if isinstance(dtype, pandas.CategoricalDtype):
        return ["value", values]
    if isinstance(dtype, pandas.StringDtype):
        # One string, because each part of a message costs time.
        texts = [None if lacks else str(each) for each, lacks in zip(values, values.isna(), strict=True)]
        return ["text", json.encode(texts).decode(), str(dtype)]
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return ["zone", values.tz_convert(None).to_numpy(), _zone(dtype.tz)]
    if isinstance(dtype, pandas.IntervalDtype):
        return ["intervals", pandas.Index(values.left), pandas.Index(values.right), values.closed]
    if MASKED.fullmatch(str(dtype)):
        lacks = values.isna()
        return ["masked", values.to_numpy(dtype.numpy_dtype, na_value=dtype.type(0)), lacks, str(dtype)]
    raise TypeError(f"columns of {dtype} do not cross")


def _array(column: Any) -> Any:
    """Return the array of a column by its kind and parts."""
    kind, content, *more = column
    if kind == "numpy" and not more:
        return array(content, "biufcmM")
    if kind == "objects" and not more and type(content) is list:
        return pandas.Series(content, dtype=object).array
    if kind == "value" and not more and isinstance(content, pandas.Categorical):
        return content
    if kind == "text" and more[0] in ("str", "string"):
        texts = json.decode(text(content), type=list[str | None])
        return pandas.array(texts, dtype=more[0])
    if kind == "zone":
        moments = pandas.DatetimeIndex(array(content, "M")).tz_localize("UTC")
        return moments.tz_convert(_checked_zone(more[0])).array
    if kind == "intervals":
        right, closed = more
        return pandas.arrays.IntervalArray.from_arrays(_index(content), _index(right), closed=text(closed))
    if kind == "masked":
        lacks, name = more
        if not MASKED.fullmatch(text(name)):
            raise ValueError
        made = pandas.array(array(content, "biuf"), dtype=name)
        made[array(lacks, "b")] = pandas.NA
        return made
    raise TypeError


def _zone(zone: Any) -> str | None:
    if zone is None:
        return None
    if not ZONE.fullmatch(str(zone)):
        raise TypeError(f"times of the zone {zone} do not cross")
    return str(zone)


def _checked_zone(name: Any) -> str:
    if not ZONE.fullmatch(text(name)):
        raise ValueError
    return str(name)
