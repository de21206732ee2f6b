"""The fork server plays a small notebook before anybody is graded."""

import sys

import torch
from IPython.core.interactiveshell import InteractiveShell

from course.grading import cells, rehearsal


def test_it_is_played_to_its_end():
    """The cell raises nothing, and the test behind it passes: else the first use would come again in every child."""
    cells.prepare()
    done = rehearsal.play()
    assert done["raised"] is None
    text, value = done["outputs"]
    assert "river 2.00" in text["text"] and "tensor" in value["data"]["text/plain"]


def test_it_leaves_nothing_behind():
    """Neither names nor random numbers nor a hold on what is printed: a candidate starts from nothing."""
    cells.prepare()
    torch.manual_seed(7)
    before, streams = torch.get_rng_state(), (sys.stdout, sys.stderr)
    rehearsal.play()
    assert torch.equal(torch.get_rng_state(), before)
    assert (sys.stdout, sys.stderr) == streams
    assert not InteractiveShell.instance().user_ns


def test_a_candidate_knows_nothing_of_it(student):
    """What the rehearsal defined is not there for a student's code."""
    [output] = student("").run("print(sorted(name for name in globals() if not name.startswith('_')))")["outputs"]
    assert output["text"] == "['nn', 'torch']\n"  # what the fixture imports
