"""A module of the student's, and the same module here, to compare; a graded class, and a copy of it to change."""

import shutil

import pytest
import torch
from small_class import SCORES, grade_class, make_class
from torch import nn

SMALL = """
class Small(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.first = nn.Linear(width, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(4, 2)
        self.width = width
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.last(self.drop(self.norm(self.first(x)).relu()))

    def double_of(self, x):
        return self.first(x) * 2

    @property
    def weight_sum(self):
        return self.first.weight.sum()
"""


@pytest.fixture
def in_both(student):
    """Runs a source here and there, and gives the names that it defines here, and there."""

    def run(source):
        here = {"torch": torch, "nn": nn}
        exec(source, here)
        return here, student(source)

    return run


@pytest.fixture
def pair(in_both):
    """The same module here and there, with the same weights, which the same seed gave."""
    made = []
    for names in in_both(SMALL):
        torch.manual_seed(1)
        made.append(names["Small"]())
    return made


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """A class that was graded four at a time."""
    folder = make_class(tmp_path_factory.mktemp("graded") / "course")
    assert grade_class(folder, jobs=4) == sorted(SCORES)
    return folder


@pytest.fixture
def again(graded, tmp_path):
    """A copy of the graded class to change."""
    return shutil.copytree(graded, tmp_path / "course")
