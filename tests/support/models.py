"""Writes docs/models.md, the parts of the attention of open models and the exercises that build them: `make readme`.

tests/docs/models.toml --parts, models, sources--+
source/*/*.ipynb --grade_ids of exercises--------+--> docs/models.md
"""

import re
import sys
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from textwrap import fill

from tests.support.exercises import NOTEBOOKS, SOURCES
from tests.support.paths import REPOSITORY

DATA = REPOSITORY / "tests" / "docs" / "models.toml"
PAGE = REPOSITORY / "docs" / "models.md"
BESIDE = "beside attention"
"""The group of parts that stand beside attention in the same models, and do not count as parts of it."""
TRANSFORMERS = "https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/models/"
"""What "transformers:" stands for in a link: the version that was read."""


@dataclass(frozen=True)
class Part:
    """A part of attention, or something beside it.

    Args:
        group: a column of the table of models, or BESIDE.
        name: the field's word.
        meaning: one sentence.
        paper: who and when; a section or ''; a link.
        exercise: the grade_id of the exercise that builds it, or '' if none does.
    """

    group: str
    name: str
    meaning: str
    paper: tuple[str, str, str]
    exercise: str = ""


@dataclass(frozen=True)
class Model:
    """An open model.

    Args:
        name: with its size, where sizes differ in their parts.
        organisation: who published it.
        year: when.
        read: labels and links of the files that `parts` was read in.
        parts: the name of a part in the data -> what states it, a key of the configuration or a place in the code.
        also: details that are no part of their own; '' if there are none.
    """

    name: str
    organisation: str
    year: int
    read: list[tuple[str, str]]
    parts: dict[str, str]
    also: str = ""


_data = tomllib.loads(DATA.read_text())
PARTS = {key: Part(**entry) for key, entry in _data["part"].items()}
MODELS = [Model(**entry) for entry in _data["model"]]
ATTENTION = {key: part for key, part in PARTS.items() if part.group != BESIDE}
"""The parts that count."""
CELLS = [(model.name, key) for model in MODELS for key in model.parts if key in ATTENTION]
"""Each pair of a model and a part of its attention."""


def built(parts: Iterable[str]) -> list[bool]:
    """Return for each part whether an exercise builds it."""
    return [bool(PARTS[part].exercise) for part in parts]


def _table(*rows: Iterable[object]) -> str:
    """Return a table whose first row is the head."""
    head, *body = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join([head, re.sub(r"[^|]+", "---", head), *body])


def _exercise(part: Part) -> str:
    """Return a link to the notebook of a part's exercise; raises ValueError if there is no such exercise."""
    if not part.exercise:
        return "none"
    if part.exercise not in SOURCES:
        raise ValueError(f"{DATA.name}: {part.name} names an exercise of source/, got {part.exercise}")
    path = next(path for path, notebook in NOTEBOOKS.items() if notebook is SOURCES[part.exercise])
    where = f"{path.parent.name[:2]}-{path.name[:1]}"
    return f"[{where}](../{path.relative_to(REPOSITORY).as_posix()}) `{part.exercise}`"


def _paper(part: Part) -> str:
    authors, section, link = part.paper
    return f"[{authors}]({link})" + (f", {section}" if section else "")


def _parts(parts: Collection[str]) -> str:
    """Return a table of some parts: what they are, who builds them, and how many models have them."""
    rows = [
        [part.name, part.meaning, _paper(part), _exercise(part), sum(key in model.parts for model in MODELS)]
        for key, part in PARTS.items()
        if key in parts
    ]
    return _table(["part", "what it is", "described in", "built in", "models"], *rows)


def _models() -> str:
    """Return the table of models, with a column for each group of parts."""
    groups = list(dict.fromkeys(part.group for part in ATTENTION.values()))
    rows = []
    for model in MODELS:
        names = [[PARTS[key].name for key in model.parts if PARTS[key].group == group] for group in groups]
        rows.append([model.name, model.year, *(", ".join(each) or "–" for each in names)])
    return _table(["model", "year", *groups], *rows)


def _sources(model: Model) -> str:
    """Return what a model's parts were read in, and what states each of them."""
    links = ", ".join(f"[{label}]({link.replace('transformers:', TRANSFORMERS)})" for label, link in model.read)
    rows = [[PARTS[key].name, stated] for key, stated in model.parts.items()]
    text = f"### {model.name}\n\n{model.organisation}, {model.year}. Read: {links}.\n\n"
    text += _table(["part", "as stated there"], *rows)
    return text + (f"\n\nNot counted: {model.also}." if model.also else "")


def _share(parts: Iterable[str]) -> str:
    """Return how many of some parts are built."""
    made = built(parts)
    return f"{sum(made)} of {len(made)} ({sum(made) / len(made):.0%})"


def page() -> str:
    """Return the text of docs/models.md; raises ValueError if an exercise that the data names does not exist."""
    years = [model.year for model in MODELS]
    missing = " and ".join(part.name for part in ATTENTION.values() if not part.exercise)
    introduction = [
        f"The parts of the attention of {len(MODELS)} open models of {min(years)} and {max(years)}, and the exercises "
        "that build them. In some or all layers, each model computes scaled dot products under a causal mask and has a "
        "key-value cache (assignments 04 and 05), which is not counted.",
        f"Of the parts of attention, exercises build {_share(ATTENTION)}. With each part counted once for every model "
        f"that has it, they build {_share(key for _, key in CELLS)}, and of all parts below, including those beside "
        f"attention, {_share(PARTS)}. No exercise builds {missing}.",
        f"This page is generated from `{DATA.relative_to(REPOSITORY).as_posix()}` by `make readme`. A test "
        "(`test_models.py`) checks that they agree, that the exercises exist, and that they build at least 90% of the "
        "parts of attention.",
    ]
    reading = (
        "Each entry was read in the files named above it: a configuration, the code that runs the model, or a "
        'description. A "default" is that of the configuration class; a checkpoint may have another value. A part that '
        "these files do not state is not listed, although the model may have it."
    )
    blocks = [
        "# The attention of open models, part by part",
        *(fill(paragraph, 120, break_on_hyphens=False) for paragraph in introduction),
        "## The parts",
        _parts(ATTENTION),
        "Beside attention, as RMSNorm and SwiGLU (assignment 07) are:",
        _parts(PARTS.keys() - ATTENTION.keys()),
        "## The models",
        _models(),
        "## The sources",
        fill(reading, 120, break_on_hyphens=False),
        *map(_sources, MODELS),
    ]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    try:
        PAGE.write_text(page())
    except ValueError as error:
        sys.exit(f"make readme: {error}")
