"""Gives the tests of a cluster a main program, as each program has one."""

import sys
import types

import pytest


@pytest.fixture(autouse=True)
def main_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """An IPython shell that another test made in this process puts a module of its own there, and empties it."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
