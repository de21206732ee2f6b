"""Makes a call in the process of the student's function, and measures it there.

A notebook has one process. In a grader, the student's function is a stand-in for a function in another one; the method
`__measured__` of the stand-in makes the call there with the same code.
"""

from collections.abc import Callable
from typing import Any


def measured(
    measure: Callable[..., tuple[Any, int]], function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]
) -> tuple[Any, int]:
    """Return the result of a call, and the number that `measure` finds.

    Args:
        measure: takes a function and its arguments, makes the call, and returns its result and a number.
        function: a student's function, module or method.
        args: its arguments.
        kwargs: its keyword arguments.
    """
    # Looked up in the class, like Python's own special methods: a student's function cannot have it.
    elsewhere = getattr(type(function), "__measured__", None)
    if elsewhere is not None:
        return elsewhere(function, measure, args, kwargs)
    return measure(function, *args, **kwargs)
