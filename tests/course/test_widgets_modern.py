"""Proves that the numbers of the figures of positions and of assignment 07 are torch's."""

import math

import pytest
import torch

from course import widgets
from tests.commands.mark.marker import needs_browser
from tests.support.widgets import Compute, State, generator, reals, same, solution, whole

pytestmark = [pytest.mark.slow, needs_browser]
LN2 = math.log(2)


def test_waves_are_the_sinusoidal_positional_encoding(compute: Compute) -> None:
    """Rows, each hand's part, the dot product and its curve follow the formula, for every even D of 2 to 32."""
    g = generator()
    states = [
        {"dim": 2 * whole(1, 16, g), "length": 61, "position": whole(0, 60, g), "other": whole(0, 60, g)}
        for _ in range(120)
    ]
    states += [
        {"dim": 2, "length": 61, "position": 0, "other": 0},
        {"dim": 32, "length": 61, "position": 60, "other": 0},
    ]
    for state, got in zip(states, compute("waves", states), strict=True):
        even = torch.arange(0, state["dim"], 2, dtype=torch.float64)
        angles = torch.arange(61, dtype=torch.float64).unsqueeze(1) / 10000 ** (even / state["dim"])
        table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)  # (L, D)
        one, two = table[state["position"]], table[state["other"]]
        assert same(got["one"], one) and same(got["two"], two) and same(got["dot"], one @ two)
        assert same(got["parts"], (one * two).view(-1, 2).sum(-1)) and same(got["curve"], table @ table[0])
        assert same(got["curve"][abs(state["position"] - state["other"])], one @ two)


def turned(vector: torch.Tensor, position: float, base: float) -> torch.Tensor:
    """Return a vector rotated as complex numbers, a way that the module does not take."""
    frequencies = base ** (-torch.arange(0, len(vector), 2, dtype=torch.float64) / len(vector))
    turn = torch.polar(torch.ones_like(frequencies), position * frequencies)
    return torch.view_as_real(torch.view_as_complex(vector.view(-1, 2)) * turn).flatten()


def test_rotary_arrows_are_rotated_pairs(compute: Compute) -> None:
    """Both vectors, the parts and the score equal complex multiplication, also of zero vectors and at one position."""
    g = generator()
    states = [
        {"q": reals(4, g=g).tolist(), "k": reals(4, g=g).tolist(), "base": (10, 100, 10000)[whole(0, 2, g)],
         "query": whole(0, 12, g), "key": whole(0, 12, g), "positions": 13}
        for _ in range(120)
    ]  # fmt: skip
    states += [states[0] | {"q": [0, 0, 0, 0]}, states[0] | {"query": 7, "key": 7}]
    for state, got in zip(states, compute("rotary", states), strict=True):
        q, k = (torch.tensor(state[name], dtype=torch.float64) for name in ("q", "k"))
        one, two = turned(q, state["query"], state["base"]), turned(k, state["key"], state["base"])
        assert same(got["one"], one) and same(got["two"], two) and same(got["score"], one @ two)
        assert same(got["parts"], (one * two).view(-1, 2).sum(-1))
        at = got["distances"].index(state["query"] - state["key"])
        assert same(got["curve"][at], one @ two)
        # Wrong: the key rotated the other way.
        other_way = one @ turned(k, -state["key"], state["base"])
        assert state["key"] == 0 or not q.any() or not same(got["score"], other_way)


def test_the_window_keeps_what_update_cache_keeps(compute: Compute) -> None:
    """After each token the keys are those in the cache of the course's answer, for all windows and numbers of sinks."""
    update_cache = solution("07-modern/2-attention-that-fits.ipynb", "update-cache")["update_cache"]
    for length in (2, 7, 11):
        cases = [(window, sinks) for window in range(1, length + 1) for sinks in range(5)]
        states = [
            {"names": ["x"] * length, "window": window, "sinks": sinks, "written": length} for window, sinks in cases
        ]
        for (window, sinks), got in zip(cases, compute("window", states), strict=True):
            cache = None
            for position in range(length):
                token = torch.full((1, 1, 1, 1), float(position))
                cache = update_cache(cache, token, token, window, sinks)
                assert got["attended"][position] == cache[0].flatten().tolist()
            assert got["cache"] == got["attended"][-1]
            assert sorted(got["cache"] + got["dropped"]) == list(range(length))


def test_caches_take_the_bytes_of_their_tensors(compute: Compute) -> None:
    """The bytes are those of tensors of keys and values, and one token more than the largest number does not fit."""
    g = generator()
    kinds = {1: torch.int8, 2: torch.float16, 4: torch.float32}
    states = []
    for _ in range(120):
        state = widgets.cache(power=whole(32, 80, g) / 4, groups=(2, 4, 8, 16)[whole(0, 3, g)], layers=whole(1, 80, g),
                              head_dim=whole(1, 256, g), free=whole(10**6, 10**11, g)).state  # fmt: skip
        states.append(state | {"chats": whole(1, 16, g), "bytes": (1, 2, 4)[whole(0, 2, g)]})
    for state, got in zip(states, compute("cache", states), strict=True):
        tokens = got["tokens"]
        assert tokens == round(2 ** state["power"])
        held = [tokens, tokens, tokens, min(tokens, 4100)]
        for kind, length, heads in zip(got["kinds"], held, (32, state["groups"], 1, state["groups"]), strict=True):
            shape = (state["chats"], heads, length, state["dim"])
            keys = torch.empty(shape, dtype=kinds[state["bytes"]], device="meta")
            assert kind["bytes"] == 2 * state["layers"] * keys.nbytes and kind["heads"] == heads
            assert kind["fits"] == (kind["bytes"] <= state["free"])
            each = kind["bytes"] // length
            if kind["most"] is None:
                assert 4100 * each <= state["free"]
            else:
                assert kind["most"] * each <= state["free"] < (kind["most"] + 1) * each


def test_tiles_merge_into_the_whole_softmax(compute: Compute) -> None:
    """After each tile m, l and o are those of all positions so far, and o / l at the end is torch's softmax."""
    summarise = solution("07-modern/2-attention-that-fits.ipynb", "summaries")["summarise"]
    g = generator()
    states: list[State] = []
    for n in range(120):
        length, width = whole(1, 9, g), whole(1, 3, g)
        scores = reals(length, g=g, scale=10.0 ** whole(-2, 4, g))
        scores = scores.masked_fill(torch.rand(length, generator=g) < 0.3 * (n % 3), -math.inf)
        row = [None if score == -math.inf else score for score in scores.tolist()]
        states.append({"scores": row, "values": reals(length, width, g=g).tolist(), "tile": whole(1, length, g)})
    states.append({"scores": [None, None, None], "values": [[1.0], [2.0], [3.0]], "tile": 2})
    states.append({"scores": [None, None, 1e4], "values": [[1.0], [2.0], [3.0]], "tile": 1})
    for state, got in zip(states, compute("online", states), strict=True):
        scores = torch.tensor([-math.inf if x is None else x for x in state["scores"]], dtype=torch.float64)
        values = torch.tensor(state["values"], dtype=torch.float64)
        for read, running in enumerate(got["running"][1:], 1):
            stop = read * state["tile"]
            m, total, o = summarise(scores[None, :stop], values[:stop])
            assert same(running["m"], m[0]) and same(running["l"], total[0]) and same(running["o"], o[0])
        assert len(got["tiles"]) == math.ceil(len(scores) / state["tile"])
        assert same(got["out"], scores.softmax(-1) @ values) and same(got["full"], scores.softmax(-1) @ values)


def test_speculative_decoding_samples_from_the_target_model(compute: Compute) -> None:
    """Accepted and resampled together are p for every q, and the acceptance rate is the sum of the smaller ones."""
    g = generator()
    states: list[State] = []
    for _ in range(120):
        p, q = (4 * torch.randn(2, 4, generator=g, dtype=torch.float64)).softmax(-1)
        states.append({"target": p.tolist(), "draft": q.tolist(), "likeness": whole(0, 20, g) / 20,
                       "drafts": whole(1, 8, g), "steps": whole(1, 30, g), "shown": 9})  # fmt: skip
    states.append(states[0] | {"target": [0.5, 0.5, 0, 0], "draft": [0, 0, 0.5, 0.5], "likeness": 0})
    states.append(states[0] | {"likeness": 1})
    for state, got in zip(states, compute("speculative", states), strict=True):
        p, draft = (torch.tensor(state[name], dtype=torch.float64) for name in ("target", "draft"))
        q = torch.lerp(draft, p, state["likeness"])
        rate = torch.minimum(p, q).sum()
        missing = (p - q).clamp(min=0)
        assert same(got["q"], q) and same(got["rate"], rate) and same(got["outcome"], p)
        assert same(got["accept"], torch.where(q > 0, p / q, 1).clamp(max=1))
        if float(rate) < 1 - 1e-9:
            assert torch.allclose(
                torch.tensor(got["residual"], dtype=torch.float64), missing / missing.sum(), atol=1e-6
            )
        # The number of tokens of a step, from the probability that it ends at each of them.
        ends = [rate**n * (1 - rate) * (n + 1) for n in range(state["drafts"])]
        assert same(got["expected"], torch.stack(ends).sum() + rate ** state["drafts"] * (state["drafts"] + 1))
        guesses, out = got["last"]["guesses"], got["last"]["out"]
        for guess, token in zip(guesses, out, strict=False):
            assert guess["accepted"] == (guess["random"] < got["accept"][guess["token"]])
            assert (token == guess["token"]) == guess["accepted"]
        rejected = [n for n, guess in enumerate(guesses) if guess.get("accepted") is False]
        assert len(rejected) <= 1 and len(out) == (rejected[0] + 1 if rejected else state["drafts"] + 1)


def test_thousands_of_steps_return_what_is_expected(compute: Compute) -> None:
    """The tokens come out as often as the target model says, and as many per call as expected; not as q says."""
    p, q = [0.4, 0.3, 0.1, 0.2], [0.5, 0.1, 0.3, 0.1]
    state = {"target": p, "draft": q, "likeness": 0, "drafts": 3, "steps": 5000, "shown": 4}
    got = compute("speculative", [state])[0]
    total = sum(got["counts"])
    assert got["finished"] == 5000 and abs(total / 5000 - got["expected"]) < 5 * 1.2 / math.sqrt(5000)
    frequencies = torch.tensor(got["counts"]) / total
    assert torch.allclose(frequencies, torch.tensor(p), atol=5 * 0.5 / math.sqrt(total))
    assert not torch.allclose(frequencies, torch.tensor(q), atol=0.05)


def test_a_step_counts_once_all_its_tokens_are_shown(compute: Compute) -> None:
    """The figure does not give away what a step returns before the student has judged its tokens."""
    state = {"target": [1, 0], "draft": [1, 0], "likeness": 0, "drafts": 2, "steps": 1}
    hidden, shown = compute("speculative", [state | {"shown": 2}, state | {"shown": 3}])
    assert hidden["counts"] == [0, 0] and hidden["finished"] == 0
    assert shown["counts"] == [3, 0] and shown["finished"] == 1


def test_sampling_leaves_what_next_probabilities_leaves(compute: Compute) -> None:
    """The probabilities are those of the course's answer: greedy, off, with forbidden and with tied tokens."""
    answer = solution("07-modern/1-language-model.ipynb", "next-probabilities")["next_probabilities"]
    g = generator()
    states: list[State] = []
    for n in range(150):
        logits = reals(whole(2, 9, g), g=g, scale=3)
        logits = logits.round() if n % 3 == 0 else logits
        if n % 5 == 0:
            logits[1:] = logits[1:].masked_fill(torch.rand(len(logits) - 1, generator=g) < 0.4, -math.inf)
        row = [None if logit == -math.inf else logit for logit in logits.tolist()]
        states.append({"logits": row, "temperature": whole(0, 12, g) / 4, "k": whole(0, len(row), g),
                       "p": whole(1, 20, g) / 20})  # fmt: skip
    for state, got in zip(states, compute("sampling", states), strict=True):
        logits = torch.tensor([[-math.inf if x is None else x for x in state["logits"]]], dtype=torch.float64)
        top_p = state["p"] if state["p"] < 1 else None
        wanted = answer(logits, state["temperature"], top_k=state["k"] or None, top_p=top_p)
        assert same(got["left"], wanted[0]) and same(got["plain"], logits[0].softmax(-1))


def test_the_token_that_reaches_p_is_the_last_one(compute: Compute) -> None:
    """1/2 and 1/4 reach 0.75 exactly, so the third token is not kept; k = 4 keeps both tied tokens."""
    five = {"logits": [4 * LN2, 3 * LN2, 2 * LN2, LN2, LN2], "temperature": 1}
    exact, tied = compute("sampling", [five | {"k": 0, "p": 0.75}, five | {"k": 4, "p": 1}])
    assert exact["left"] == pytest.approx([2 / 3, 1 / 3, 0, 0, 0])
    assert tied["left"] == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16])
