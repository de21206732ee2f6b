"""python -m course"""

import gc
import sys

if sys.platform != "linux":
    sys.exit(
        "course: these commands need Linux. Windows has it in WSL, a Mac in a container or a virtual machine; "
        "the notebooks run anywhere"
    )

try:
    from course.cli import main
except ModuleNotFoundError as error:
    # A student's computer holds what the notebooks need, and this package.
    sys.exit(
        f"course: {error.name} is not installed. Grading needs the whole repository with all of its requirements.txt; "
        "the notebooks do not"
    )

# Notebooks are large trees that live as long as the grading of a student: to look through them for garbage all the time
# would be a tenth of the work.
gc.set_threshold(50_000, 20, 20)
sys.exit(main())
