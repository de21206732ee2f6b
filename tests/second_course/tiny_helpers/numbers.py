"""Numbers that the helpers use."""

FIRST_WEIGHT = 2.0
