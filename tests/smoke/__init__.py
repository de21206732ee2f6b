"""Holds one run of everything that a user meets: `make test` runs it, with the notebooks and the unit tests."""
