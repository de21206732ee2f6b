"""Proves that the numbers of the figures of assignments 01 to 03 are torch's, or those of the course's answers."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from course import widgets
from tests.commands.mark.marker import needs_browser
from tests.support.widgets import Compute, State, generator, reals, same, solution, whole

pytestmark = [pytest.mark.slow, needs_browser]
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
