"""Proves that the numbers of the figures of assignment 04 are torch's."""

import math

import pytest
import torch

from course import data, widgets
from tests.commands.mark.marker import needs_browser
from tests.support.widgets import Compute, State, generator, reals, same, solution, whole

pytestmark = [pytest.mark.slow, needs_browser]
WORDS = data.sentence_vectors().double()


def test_scores_weights_and_output_are_those_of_the_query(compute: Compute) -> None:
    """They equal torch's for all angles and lengths of the sliders, for one key, keys of zero and very long keys."""
    g = generator()
    states: list[State] = []
    for n in range(120):
        keys = reals(whole(1, 8, g), 2, g=g, scale=10.0 ** (n % 4 - 1))
        states.append({"keys": keys.tolist(), "angle": 5 * whole(0, 72, g), "length": whole(0, 12, g) / 4})
    zeros = {"keys": [[0.0, 0.0]] * 3}
    states += [zeros | {"angle": 30, "length": 3}, states[0] | {"length": 0}, states[0] | {"angle": 360, "length": 3}]
    for state, got in zip(states, compute("query", states), strict=True):
        keys = torch.tensor(state["keys"], dtype=torch.float64)
        turn = torch.tensor(math.radians(state["angle"]), dtype=torch.float64)
        query = torch.polar(torch.tensor(state["length"], dtype=torch.float64), turn)
        query = torch.view_as_real(query)
        weights = (keys @ query).softmax(0)
        assert same(got["query"], query) and same(got["scores"], keys @ query) and same(got["weights"], weights)
        assert same(got["output"], weights @ keys)
        # Wrong: the softmax of keys that were made equally long.
        cosines = (torch.nn.functional.normalize(keys, dim=1) @ query).softmax(0)
        assert len(keys) < 3 or state["length"] == 0 or not keys.any() or not same(got["weights"], cosines)


def test_the_query_finds_what_the_notebook_says(compute: Compute) -> None:
    """The query "water?" weighs as in the text; at 45 degrees three words are equal, at 225 keys of zero win."""
    state = widgets.query(dict(zip(data.TOKENS, WORDS.tolist(), strict=True)), angle=0, length=1).state
    water, diagonal, away = compute("query", [state, state | {"angle": 45}, state | {"angle": 225, "length": 3}])
    assert [round(weight, 2) for weight in water["weights"]] == [0.07, 0.07, 0.07, 0.07, 0.52, 0.19]
    she, _, _, _, river, bank = diagonal["weights"]
    assert she == pytest.approx(river) == pytest.approx(bank)
    _, _, by, the, *_ = away["weights"]
    assert by == the == max(away["weights"]) > 0.4


def test_masks_leave_the_softmax_of_the_other_keys(compute: Compute) -> None:
    """The weights equal those of the course's add_mask and torch's causal attention; a row without a key is nan."""
    add_mask = solution("04-attention/2-self-attention.ipynb", "add-mask")["add_mask"]
    g = generator()
    states: list[State] = []
    for n in range(160):
        length = whole(1, 6, g)
        states.append({"scores": reals(length, length, g=g, scale=10.0 ** (n % 5 - 1)).tolist(),
                       "padding": whole(0, length, g), "causal": bool(n % 2),
                       "how": ("first", "zero", "after")[n % 3]})  # fmt: skip
    states.append({"scores": [[1.0, 2.0], [3.0, 4.0]], "padding": 2, "causal": False, "how": "first"})
    for state, got in zip(states, compute("mask", states), strict=True):
        scores = torch.tensor(state["scores"], dtype=torch.float64)
        length = len(scores)
        padding = torch.arange(length) >= length - state["padding"]  # (L,)
        hidden = padding.expand(length, length) | (torch.ones(length, length).triu(1).bool() & state["causal"])
        assert torch.equal(torch.tensor(got["hidden"]), hidden)
        if state["how"] == "first":
            masked = add_mask(scores[None, None], padding[None])[0, 0]
            masked = masked + torch.zeros_like(scores).masked_fill(hidden, -math.inf)
            assert same(got["masked"], masked) and same(got["weights"], masked.softmax(-1))
            assert same(got["sums"], torch.where(hidden.all(-1), math.nan, 1.0).double())
        elif state["how"] == "zero":
            assert same(got["weights"], (scores * ~hidden).softmax(-1))
        else:
            assert same(got["masked"], scores) and same(got["weights"], scores.softmax(-1) * ~hidden)
        assert same(got["sums"], torch.tensor(got["weights"], dtype=torch.float64).sum(-1))


def test_heads_are_split_attended_and_combined(compute: Compute) -> None:
    """Scores, weights and output equal those of the course's answers around torch's softmax, for every query."""
    names = ("split-heads", "combine-heads")
    course = solution("04-attention/2-self-attention.ipynb", *names)
    g = generator()
    states: list[State] = []
    for n in range(140):
        heads, size = whole(1, 4, g), whole(1, 3, g)
        x = reals(whole(1, 6, g), heads * size, g=g, scale=10.0 ** (n % 3 - 1))
        states.append({"x": x.tolist(), "heads": heads, "query": whole(0, len(x) - 1, g)})
    states.append({"x": [[0.0, 0.0], [0.0, 0.0]], "heads": 2, "query": 1})
    for state, got in zip(states, compute("heads", states), strict=True):
        x = torch.tensor(state["x"], dtype=torch.float64)
        blocks = course["split_heads"](x[None], state["heads"])  # (1, H, L, D/H)
        scores = blocks @ blocks.transpose(-1, -2)  # (1, H, L, L)
        output = course["combine_heads"](scores.softmax(-1) @ blocks)[0]  # (L, D)
        query = state["query"]
        assert same(got["scores"], scores[0, :, query]) and same(got["weights"], scores.softmax(-1)[0, :, query])
        assert same(got["output"], output[query])
        # Wrong: a view hands out words, not features.
        if state["heads"] > 1 and len(x) > 1 and x.any():
            view = x.view(1, state["heads"], len(x), -1)
            assert not same(got["scores"], (view @ view.transpose(-1, -2))[0, :, query])


def test_heads_find_what_the_notebook_says(compute: Compute) -> None:
    """With two heads, head 0 gives *bank* what one head gave in the text; with four, two give what two gave."""
    water, people = WORDS.T.tolist()
    features = {"water": water, "people": people, "action": [0, 2, 0, 0, 0, 0], "place": [0, 0, 1, 0, 1, 1]}
    state = widgets.heads(data.TOKENS, features, query=5).state
    two, four, the = compute("heads", [state | {"heads": 2}, state | {"heads": 4}, state | {"heads": 4, "query": 3}])
    assert [round(number, 2) for number in two["output"][:2]] == [0.82, 0.93]
    assert [round(number, 2) for number in four["output"][:2]] == [1.24, 1.28]
    assert the["weights"] == [pytest.approx([1 / 6] * 6)] * 4
