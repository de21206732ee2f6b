"""Names the folders of the repository."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
GRADER = REPOSITORY / "packages" / "grader"
"""The folder of the grader's distribution."""
KERNEL = REPOSITORY / "packages" / "grader-kernel"
IMPORTED_FROM = {"grader": GRADER / "src", "grader_kernel": KERNEL / "src", "course": REPOSITORY}
"""Package -> the folder from which it is imported."""
