"""docs/models.md shows which exercise builds which part of the attention of open models."""

import re

from tests.support.models import ATTENTION, CELLS, MODELS, PAGE, PARTS, built, page

SHARE = 0.9
"""Of the parts of attention, at least this share is built."""


def test_the_page_is_up_to_date() -> None:
    """After a change of tests/docs/models.toml or a notebook's name, run `make readme`; it names a missing exercise."""
    assert PAGE.read_text() == page()


def test_each_model_states_its_parts() -> None:
    """Twenty models have parts that the data describes, a source for each, and links; no part is without a model."""
    assert len({model.name for model in MODELS}) == len(MODELS) == 20
    assert {model.year for model in MODELS} == {2025, 2026}
    assert set().union(*(model.parts for model in MODELS)) == set(PARTS)
    for model in MODELS:
        assert set(model.parts) & set(ATTENTION) and all(stated.strip() for stated in model.parts.values()), model.name
        links = r"https://|transformers:[a-z0-9_]+/[a-z0-9_]+\.py$"
        assert model.read and all(re.match(links, link) for _, link in model.read), model.name
        # Of these, a model has one.
        assert len({"multi-head", "multi-query", "grouped-query", "latent"} & set(model.parts)) <= 1, model.name
        assert not {"rotary", "partial-rotary"} <= set(model.parts), model.name


def test_nearly_all_parts_are_built() -> None:
    """Of all parts, each counted once or for each model that has it, 04 to 08 build at least nine in ten."""
    for parts in (list(ATTENTION), [part for _, part in CELLS]):
        assert sum(built(parts)) >= SHARE * len(parts)
