"""The fork server plays a small notebook before it forks, to its end and without traces."""

import sys

import torch
from IPython.core.interactiveshell import InteractiveShell

from grader.engine.sandbox import shell
from grader.engine.supervisor import warmup


def test_it_is_played_to_its_end_and_leaves_nothing_behind():
    """Otherwise every child would have to set up what was left out. No names, random numbers or streams are changed."""
    shell.prepare()
    torch.manual_seed(7)
    before, streams = torch.get_rng_state(), (sys.stdout, sys.stderr)
    done = warmup.play()
    assert done.error is None
    text, value = done.outputs
    assert "river 2.00" in text.text and "tensor" in value.data["text/plain"]
    assert torch.equal(torch.get_rng_state(), before)
    assert (sys.stdout, sys.stderr) == streams
    assert not InteractiveShell.instance().user_ns


def test_a_sandbox_has_no_names_of_it(student):
    """Student code finds what a kernel puts there, and cannot use what the warm-up defined."""
    [output] = student("").run("print(sorted(name for name in globals() if not name.startswith('_')))").outputs
    fixture, kernel = {"nn", "torch"}, {"In", "Out", "exit", "get_ipython", "open", "quit"}
    assert output.text == f"{sorted(fixture | kernel)}\n"
