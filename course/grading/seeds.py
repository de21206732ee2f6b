"""The numbers that tests draw: new in every run of the grader, the same for everybody who is graded in it."""

import random
import zlib

import torch


class Generator(torch.Generator):
    """A torch.Generator whose `seed` draws from what was set for the test that runs."""

    drawn = random.Random()

    def seed(self) -> int:
        """Takes the next new seed and returns it."""
        number = self.drawn.getrandbits(32)
        self.manual_seed(number)
        return number


def install() -> None:
    """From now on torch.Generator is the one above, in this process."""
    torch.Generator = Generator


def begin(run: int, test: str) -> None:
    """Sets what `test` draws in the grader's run that has this number."""
    Generator.drawn = random.Random(f"{run} {test}")
    # Where a test seeds nothing, it draws the same numbers in every run; torch.manual_seed takes milliseconds.
    torch.default_generator.manual_seed(zlib.crc32(test.encode()))
