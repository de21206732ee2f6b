"""Writes entries of TOML as instructors do: a known mistake, and a mutant that may survive."""

from pathlib import Path

MISTAKE = """
[[misconception]]
name = "{name}"
find = "x * by"
replace = "{replace}"
hint = "Compare with a drawing."
"""
"""A known mistake of the exercise `scaled`."""


def entry(*edits: str, reason: str = "equivalent: nothing is divided by 1") -> str:
    """An entry of a record of survivors."""
    lines = "\n".join(edits)
    return f'\'{reason}\' = """\n{lines}"""\n'


def write(path: Path, content: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
