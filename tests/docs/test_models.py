"""docs/models.md shows which exercise builds which part of the attention of open models."""

import re

import pytest

from tests.support.exercises import SOURCES
from tests.support.models import ATTENTION, CELLS, DATA, MODELS, PAGE, PARTS, Model, Part, built, page

SHARE = 0.9
"""Of the parts of attention, at least this share is built."""


def test_the_page_is_up_to_date() -> None:
    """After a change of tests/docs/models.toml or of a notebook's name, run `make readme`."""
    assert PAGE.read_text() == page()


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_an_exercise_named_exists(part: Part) -> None:
    """An exercise that was renamed must be renamed in the data."""
    assert not part.exercise or part.exercise in SOURCES


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_that_of_a_model(part: str) -> None:
    """A part that no model has does not count, whether an exercise builds it or not."""
    assert any(part in model.parts for model in MODELS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_states_its_parts(model: Model) -> None:
    """It has parts of attention only that the data describes, a source for each, and a link to each file read."""
    assert set(model.parts) <= set(PARTS) and set(model.parts) & set(ATTENTION)
    assert all(stated.strip() for stated in model.parts.values()) and model.year in (2025, 2026)
    assert model.read and all(
        re.match(r"https://|transformers:[a-z0-9_]+/[a-z0-9_]+\.py$", link) for _, link in model.read
    )
    # Of these, a model has one.
    assert len({"multi-head", "multi-query", "grouped-query", "latent"} & set(model.parts)) <= 1
    assert not {"rotary", "partial-rotary"} <= set(model.parts)


def test_twenty_models_are_listed_once() -> None:
    """Twenty models, no two with the same name, and some of each year."""
    names = [model.name for model in MODELS]
    assert len(names) == len(set(names)) == 20
    assert {model.year for model in MODELS} == {2025, 2026}


@pytest.mark.parametrize("parts", [list(ATTENTION), [part for _, part in CELLS]], ids=["parts", "models"])
def test_nearly_all_parts_are_built(parts: list[str]) -> None:
    """Of all parts, each counted once or for each model that has it, 04 to 08 build at least nine in ten."""
    assert sum(built(parts)) >= SHARE * len(parts)


def test_parts_are_built_in_04_to_08() -> None:
    """An exercise of 01 to 03 or 06 builds no part of these models' attention."""
    rows = [line for line in page().split("## The models")[0].splitlines() if line.startswith("| ") and "](../" in line]
    assert len(rows) == sum(built(PARTS))
    assert all(re.search(r"\]\(\.\./source/0[4578]-", row) for row in rows)


def test_the_data_names_an_exercise_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is not written, and the message names the file, the part and the exercise."""
    monkeypatch.setitem(
        PARTS, "sink", Part("states", "a sink", "A sink.", ("Xiao", "", "https://x"), "no-such-exercise")
    )
    with pytest.raises(ValueError, match=f"{DATA.name}: a sink names an exercise of source/, got no-such-exercise"):
        page()
