"""python -m course"""

import gc
import sys

from course.cli import main

# Notebooks are large trees that live as long as the grading of a student: to look through them for garbage all the time
# would be a tenth of the work.
gc.set_threshold(50_000, 20, 20)
sys.exit(main())
