"""Holds the figures that answer back: each is a module of JavaScript beside this file, and a function here."""

from pathlib import Path

from course.widgets.attention import heads as heads
from course.widgets.attention import mask as mask
from course.widgets.attention import query as query
from course.widgets.layers import beam as beam
from course.widgets.layers import convolution as convolution
from course.widgets.layers import gates as gates
from course.widgets.modern import cache as cache
from course.widgets.modern import online as online
from course.widgets.modern import rotary as rotary
from course.widgets.modern import sampling as sampling
from course.widgets.modern import speculative as speculative
from course.widgets.modern import waves as waves
from course.widgets.modern import window as window

FOLDER = Path(__file__).parent
"""Where the modules of the course are."""
