"""What the fork server loads once, so that no submission waits for it."""

import gc
import multiprocessing.popen_forkserver  # a child unpickles what it is to do with it

import matplotlib.figure
import safetensors.torch
import torch
import torch._dynamo  # the first step of an optimiser imports it, which takes a second

import course.data
import course.explorer
import course.figures
import course.grading.candidate
import course.grading.cells
import course.grading.confinement
import course.grading.examiner
import course.grading.processes
from course.grading import pages, rehearsal

__all__ = ["course", "matplotlib", "multiprocessing", "safetensors", "torch"]

# One thread, always: a process that has run torch in parallel must not fork.
torch.set_num_threads(1)
# What is marked to be compiled runs as it is written: a confined process starts no compiler.
torch.compiler.set_stance("force_eager")
course.grading.cells.prepare()
rehearsal.play()
course.grading.confinement.prepare()
# Collections are rare: a test cell leaves little behind, and every look at it costs.
gc.set_threshold(10_000, 20, 20)
# What is loaded is never garbage: a collection in a child would touch, and so copy, every page of it.
gc.collect()
gc.freeze()
pages.collapse()
