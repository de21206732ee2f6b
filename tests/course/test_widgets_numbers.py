"""Proves that the numbers of the figures are torch's, or those of the course's answers."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from course import data, widgets
from tests.commands.mark.marker import needs_browser
from tests.support.widgets import Compute, State, generator, reals, same, solution, whole

pytestmark = [pytest.mark.slow, needs_browser]
WORDS = data.sentence_vectors().double()
ENDINGS = {
    (1,): [0, 0, 0, 0.4, 0.6],
    (1, 3): [0, 0, 0.1, 0, 0.9],
    (1, 4): [0, 0, 0.5, 0.3, 0.2],
    (1, 3, 4): [0, 0, 0.9, 0.1, 0],
    (1, 4, 3): [0, 0, 0.3, 0, 0.7],
    (1, 4, 4): [0, 0, 1, 0, 0],
}
Table = dict[tuple[int, ...], list[float]]


def squares(*shape: int, g: torch.Generator) -> Any:
    return torch.randint(-9, 10, shape, generator=g).tolist()


def test_sums_are_those_of_a_convolution_in_torch(compute: Compute) -> None:
    """Sums, window and count equal torch's for all settings; a filter that is rotated gives other sums."""
    output_size = solution("01-aggregation/2-convolution-and-pooling.ipynb", "output-size")["output_size"]
    g = generator()
    cases = [(n, k, s, p, d) for n in (1, 4, 7) for k in (1, 2, 3) for s in (1, 2, 4) for p in (0, 2) for d in (1, 3)]
    states: list[State] = [
        {"picture": squares(7, 7, g=g), "size": size, "weight": squares(k, k, g=g), "stride": stride,
         "padding": padding, "dilation": dilation, "position": whole(0, 30, g)}
        for size, k, stride, padding, dilation in cases
    ]  # fmt: skip
    states.append(states[-1] | {"weight": [[0] * 3] * 3})
    changed = 0
    for state, got in zip(states, compute("convolution", states), strict=True):
        size, k = state["size"], len(state["weight"])
        x = torch.tensor(state["picture"], dtype=torch.float64)[:size, :size]
        weight = torch.tensor(state["weight"], dtype=torch.float64)
        options = {name: state[name] for name in ("stride", "padding", "dilation")}
        assert got["value"] == output_size(size, k, **options) and got["span"] == state["dilation"] * (k - 1) + 1
        assert same(got["padded"], F.pad(x, 4 * [state["padding"]]))
        if got["count"] == 0:
            assert got["value"] < 1 and got["at"] == -1 and got["sums"] == []
            with pytest.raises(RuntimeError, match="[Kk]ernel size can't be greater than|size is too small"):
                F.conv2d(x[None, None], weight[None, None], **options)
            continue
        sums = F.conv2d(x[None, None], weight[None, None], **options)[0, 0]
        assert same(got["sums"], sums) and got["count"] == len(sums) == got["value"]
        windows = F.unfold(x[None, None], k, **options)[0]  # (k * k, count * count)
        assert got["at"] == min(state["position"], sums.numel() - 1)
        assert same(got["seen"], windows[:, got["at"]].view(k, k))
        assert sums[got["row"], got["column"]] == (torch.tensor(got["seen"]) * weight).sum()
        rotated = F.conv2d(x[None, None], weight.flip(0, 1)[None, None], **options)[0, 0]
        changed += not same(got["sums"], rotated)
    assert changed > 30


def test_the_picture_of_the_text_has_the_sums_of_the_text(compute: Compute) -> None:
    """The middle column gives [[3, 1], [3, -1]], and not the printed [[3, 2], [3, 1]]."""
    picture = [[0, 1, 1, 0], [0, 1, -1, 0], [0, 1, 1, 0], [0, 1, -1, 0]]
    state = widgets.convolution(picture, {"column": [[0, 1, 0]] * 3}, size=4).state
    assert compute("convolution", [state])[0]["sums"] == [[3, 1], [3, -1]]


def slider(g: torch.Generator) -> float:
    return whole(-12, 12, g) / 2


def without_weights(cell: torch.nn.RNNCellBase) -> torch.nn.RNNCellBase:
    for parameter in cell.requires_grad_(False).parameters():
        parameter.zero_()
    return cell


def test_gates_are_those_of_an_lstm_cell(compute: Compute) -> None:
    """Cells and hidden states equal torch's LSTMCell at each step, and the difference left is the derivative f^t."""
    g = generator()
    states = [{"kind": "LSTM", **{name: slider(g) for name in "figozrn"}, "steps": whole(0, 50, g)} for _ in range(100)]
    states += [states[0] | {"f": 6, "i": 6, "g": 6, "steps": 50}, states[0] | {"f": -6, "i": -6, "g": -6, "steps": 0}]
    cell = without_weights(torch.nn.LSTMCell(1, 1, dtype=torch.float64))
    word = torch.zeros(2, 1, dtype=torch.float64)
    for state, got in zip(states, compute("gates", states), strict=True):
        cell.bias_ih.copy_(torch.tensor([state[name] for name in "ifgo"]))
        first = torch.tensor([[1.0], [0.0]], dtype=torch.float64, requires_grad=True)
        h, c = torch.sigmoid(torch.tensor(state["o"], dtype=torch.float64)) * first.tanh(), first
        cells = [c]
        for step in range(50):
            if step == state["steps"]:
                assert same(got["hidden"], h.flatten())
            h, c = cell(word, (h, c))
            cells.append(c)
        assert same(got["one"], torch.stack(cells)[:, 0, 0]) and same(got["zero"], torch.stack(cells)[:, 1, 0])
        (slope,) = torch.autograd.grad(cells[state["steps"]][0], first)
        assert same(got["kept"][state["steps"]], slope[0, 0])
        assert same(got["kept"], torch.tensor(state["f"], dtype=torch.float64).sigmoid() ** torch.arange(51))


def test_gates_are_those_of_a_gru_cell(compute: Compute) -> None:
    """States equal torch's GRUCell with a weight of 1 for the state's part of the candidate, at each step."""
    g = generator()
    states = [{"kind": "GRU", **{name: slider(g) for name in "figozrn"}, "steps": whole(0, 50, g)} for _ in range(100)]
    states += [states[0] | {"z": 6, "r": 6, "n": 0, "steps": 50}, states[0] | {"z": -6, "r": -6, "n": -6, "steps": 0}]
    cell = without_weights(torch.nn.GRUCell(1, 1, dtype=torch.float64))
    cell.weight_hh[2] = 1
    word = torch.zeros(2, 1, dtype=torch.float64)
    for state, got in zip(states, compute("gates", states), strict=True):
        cell.bias_ih.copy_(torch.tensor([state[name] for name in "rzn"]))
        h = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
        runs = [h]
        for _ in range(50):
            h = cell(word, h)
            runs.append(h)
        one, zero = torch.stack(runs).squeeze(-1).T
        assert same(got["one"], one) and same(got["zero"], zero) and same(got["kept"], one - zero)
        assert same(got["hidden"], torch.stack([one, zero])[:, state["steps"]])
        assert min(got["kept"]) > -1e-9 and max(got["kept"]) <= 1


def random_table(longest: int, g: torch.Generator) -> Table:
    """Return probabilities of six token ids after each prefix; 0 and BOS = 1 never come, and some others do not."""
    table, level = {}, [(1,)]
    for _ in range(longest):
        for prefix in level:
            row = torch.zeros(6, dtype=torch.float64)
            possible = torch.randperm(4, generator=g)[: whole(1, 4, g)] + 2
            row[possible] = reals(len(possible), g=g, scale=1.5).softmax(0)
            table[prefix] = row.tolist()
        level = [(*p, token) for p in level for token, each in enumerate(table[p]) if each > 0 and token != 2]
    return table


def test_the_search_is_beam_search_of_the_course(compute: Compute) -> None:
    """After each step the result is that of the course's answer with as many steps; beam size 1 is greedy search."""
    names = ("table-model", "sequence-log-probability", "greedy", "length-penalty", "beam-search")
    found = solution("03-seq2seq/2-searching.ipynb", *names)
    g = generator()
    cases = [(random_table(longest := whole(1, 3, g), g), whole(1, 5, g), longest) for _ in range(120)]
    cases += [(ENDINGS, size, 3) for size in (1, 2, 3, 4, 8)]
    missed = 0
    for table, size, longest in cases:
        model = found["table_model"](table)
        base = {"table": [[list(prefix), row] for prefix, row in table.items()], "bos": 1, "eos": 2, "beam": size,
                "longest": longest}  # fmt: skip
        for steps, got in enumerate(compute("beam", [base | {"half": 2 * steps} for steps in range(longest + 1)])):
            pairs = [(tuple(each["tokens"]), each["log"]) for each in got["result"]]
            wanted = found["beam_search"](model, 1, 2, size, steps)
            assert [sequence for sequence, _ in pairs] == [sequence for sequence, _ in wanted]
            assert [log for _, log in pairs] == pytest.approx([float(score) for _, score in wanted], abs=1e-9)
            for sequence, log in pairs:
                assert log == pytest.approx(float(found["sequence_log_probability"](model, sequence)), abs=1e-9)
            for candidates in got["steps"]:
                assert sorted(each["rank"] for each in candidates) == list(range(len(candidates)))
                kept = [each["log"] for each in candidates if each["kept"]]
                lost = [each["log"] for each in candidates if not each["kept"]]
                assert len(kept) == min(size, len(candidates)) and min(kept) >= max(lost, default=-math.inf)
        assert got["finished"]
        if size == 1:
            assert got["result"][0]["tokens"] == list(found["greedy"](model, 1, 2, longest))
        everything = found["beam_search"](model, 1, 2, 10**6, longest)
        assert got["best"]["log"] == pytest.approx(float(everything[0][1]), abs=1e-9)
        missed += got["best"]["log"] > got["result"][0]["log"] + 1e-9
    assert missed > 0


def test_equally_probable_candidates_are_kept_in_the_order_of_the_vocabulary(compute: Compute) -> None:
    """The figure keeps as many candidates as the beam has places, also when all of them are equally probable."""
    table = {(1,): [0, 0, 0.25, 0.25, 0.25, 0.25]}
    state = widgets.beam("abcdef", table, start="", beam_size=2, max_length=1).state
    got = compute("beam", [state | {"half": 2}])[0]
    assert [each["tokens"] for each in got["result"]] == [[1, 2], [1, 3]]


def test_a_half_step_shows_candidates_before_they_are_pruned(compute: Compute) -> None:
    """The result changes only when candidates are pruned, so the student can guess first."""
    state = widgets.beam(["", "<bos>", "<eos>", "river", "bank"], ENDINGS, start="she sat by the").state
    got = compute("beam", [state | {"half": half} for half in range(9)])
    results = [[each["tokens"] for each in one["result"]] for one in got]
    assert results[0] == results[1] == [[1]] and results[2] == results[3] == [[1, 4], [1, 3]]
    assert results[6] == results[8] == [[1, 3, 4, 2], [1, 4, 2]]
    assert [one["finished"] for one in got] == 6 * [False] + 3 * [True] and got[8]["at"] == 6


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
    five = {"logits": [*(n * math.log(2) for n in (4, 3, 2, 1, 1))], "temperature": 1}
    exact, tied = compute("sampling", [five | {"k": 0, "p": 0.75}, five | {"k": 4, "p": 1}])
    assert exact["left"] == pytest.approx([2 / 3, 1 / 3, 0, 0, 0])
    assert tied["left"] == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16])
