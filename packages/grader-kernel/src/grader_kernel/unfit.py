"""Asks for the probable fault of a result when torch cannot compare it with the right one.

An error of torch, raised in a test's own line --question--> a sentence below a check, or in the grader's explanation
"""

import re

DTYPES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip
"""The names of dtypes in torch's errors, and those that a student writes."""
TWO_DTYPES = re.compile(rf"^({'|'.join(DTYPES)}) did not match ({'|'.join(DTYPES)})$")
"""The error of `torch.allclose` and `torch.isclose` for two dtypes."""
UNFIT = {
    "does not require grad": "no gradient comes back through it.",
    "did not match|dtype": "does it have the required dtype?",
    "must match|shapes|sizes|invalid for input": "does it have the required shape?",
}
"""Hints by patterns of torch's error messages, which themselves might reveal values of a hidden test."""


def question(error: Exception | str) -> str:
    """Return the probable fault of a result for which torch raised an error, or ''. It quotes no number of the error.

    Args:
        error: the error, or its text.
    """
    return next((asks for pattern, asks in UNFIT.items() if re.search(pattern, str(error))), "")


def compared_dtypes(error: Exception | str) -> str:
    """Return a sentence about the two dtypes that a check compared, or '' for any other error.

    Args:
        error: the error, or its text.
    """
    if not (dtypes := TWO_DTYPES.match(str(error).strip())):
        return ""
    one, other = (DTYPES[dtype] for dtype in dtypes.groups())
    return f"The check compares numbers in {one} with numbers in {other}: is your dtype the required one?"
