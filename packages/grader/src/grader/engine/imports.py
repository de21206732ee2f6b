"""Leaves out a slow part of a library that notebooks do not need."""

import sys


def skip_slow_imports() -> None:
    """Make jsonschema do without its package for web addresses, which no notebook schema needs.

    The package builds a grammar when it is imported, which takes two seconds.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
