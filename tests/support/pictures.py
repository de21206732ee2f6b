"""Helps tests of pictures: data to draw, and the grey values of a picture."""

import io

import matplotlib.image
import torch

from course import data, figures

ALT = "A description of five words or more."
WORDS = list(data.TOKENS)


def darkness(picture: figures.Picture) -> torch.Tensor:
    """Return the grey values of a picture from 0 (white) to 1 (black), (height, width)."""
    return 1 - torch.tensor(matplotlib.image.imread(io.BytesIO(picture.png), format="png")[..., 0])
