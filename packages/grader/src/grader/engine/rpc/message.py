"""What every message between the runner and the sandbox is made of."""

from typing import Annotated, Any

import msgspec

Tree = Any
"""A value that `values.trees.pack` has packed."""
Index = Annotated[int, msgspec.Meta(ge=0)]
"""The number of a tensor of the message, or of an object of the session."""


class ProtocolError(Exception):
    """A value or message that must not cross; the text names the broken rule and what arrived."""


class Message(msgspec.Struct, tag=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """A message, or a tagged part of one."""
