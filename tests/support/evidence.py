"""Names the figures and pictures that are older than what they show: `make readme` prints them.

benchmarks/RESULTS.md --date of each section--+
docs/images/*.png --date of the last commit---+--> older than the last commit of what they show?
"""

import re
import subprocess
from collections.abc import Iterator

from tests.support.paths import REPOSITORY

ENGINE, CLASSROOM, COMMANDS = (f"packages/grader/src/grader/{room}" for room in ("engine", "classroom", "commands"))
KERNEL = "packages/grader-kernel/src"
SECTIONS = {
    "The same class, in turn": (ENGINE, CLASSROOM, f"{COMMANDS}/grade"),
    "A class that grows": (ENGINE, CLASSROOM, f"{COMMANDS}/grade"),
    "The limit": (ENGINE, CLASSROOM, f"{COMMANDS}/grade"),
    "A call across the boundary": (f"{ENGINE}/rpc", f"{ENGINE}/runner/standins"),
    "Attacks that beat stock nbgrader": (f"{ENGINE}/sandbox", "tests/attacks/corpus"),
    "The kill matrix": ("source/*/misconceptions", "source/*/*.ipynb", "tests/correct_answers"),
    "Names of causes": (f"{ENGINE}/diagnosis", "source/*/misconceptions"),
    "A mistake is paid for once": (f"{ENGINE}/runner", "source/*/misconceptions"),
    "Grading on arrival": (f"{COMMANDS}/serve",),
    "One notebook, checked again and again": (f"{COMMANDS}/check",),
    "The report on a class": (f"{COMMANDS}/report",),
    "Marking by question": (f"{COMMANDS}/mark",),
    "A class on a cluster": (f"{COMMANDS}/cluster",),
    "A hundred thousand submissions": (f"{COMMANDS}/cluster",),
}
"""What the sections of benchmarks/RESULTS.md were measured on."""
PICTURES = {
    "check-fails": (KERNEL, "release/04-attention/1-vanilla-attention.ipynb"),
    "check-passes": (KERNEL, "release/04-attention/1-vanilla-attention.ipynb"),
    "report-in-notebook": (KERNEL, "release/04-attention/1-vanilla-attention.ipynb"),
    "class-report": (f"{COMMANDS}/report",),
    "feedback-390": (f"{CLASSROOM}/page",),
    "feedback-1280": (f"{CLASSROOM}/page",),
}
"""What pictures in docs/images show."""
DATED = re.compile(r"^## (?P<title>.+)\n\n\*Measured on (?P<date>[\d-]{10})\.\*$", re.MULTILINE)


def changed(*paths: str) -> str:
    """Return the date of the last commit of some paths; "" if there is none, as outside a repository."""
    command = ["git", "log", "-1", "--format=%cs", "--", *paths]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout.strip()


def dates() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the date of each piece of evidence, and what it shows."""
    results = (REPOSITORY / "benchmarks" / "RESULTS.md").read_text()
    sections = {match["title"]: match["date"] for match in DATED.finditer(results)}
    pictures = {f"docs/images/{name}.png": shown for name, shown in PICTURES.items()}
    return {
        **{f"benchmarks/RESULTS.md, {title}": (sections.get(title, ""), shown) for title, shown in SECTIONS.items()},
        **{picture: (changed(picture), shown) for picture, shown in pictures.items()},
    }


def older() -> Iterator[str]:
    """Yield a line for each piece of evidence that is older than what it shows."""
    for name, (date, shown) in dates().items():
        if date < (since := changed(*shown)):
            yield f"older than what it shows: {name} is of {date or 'an unknown day'}, {', '.join(shown)} of {since}"


if __name__ == "__main__":
    print(*older(), sep="\n")
