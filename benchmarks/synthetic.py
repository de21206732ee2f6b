"""Makes a class with a known truth: right answers in many styles, known mistakes, mutants, and copied work.

reference + mistakes, mutants, styles --drawn for each student and exercise, disguised--> submitted/ and Truth
"""

import ast
import random
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from benchmarks.classes import REPOSITORY
from grader.commands.prove.mutation import mutants
from grader.engine.diagnosis.misconceptions import load
from grader.engine.notebook.cells import grade_id
from grader.engine.notebook.folder.files import read_sources
from grader.engine.notebook.outline import Outline
from tests.commands.report.disguise import commented, exchange

NOTEBOOK_MB = 20
RIGHT, MISTAKE = 0.75, 0.9
"""Cumulative probabilities: right up to the first, a known mistake up to the second, and a mutant beyond it."""
MUTANTS = 6
"""Different mutants of each exercise, so few that several students share one."""
COPIES = 8
"""Students who copied another's work, which is one of the quarter with the most wrong answers: one or two frequent
mistakes are shared by many pairs of students who never met."""
WORDS = ("first", "grid", "kappa", "mix", "node", "quad", "res", "step", "unit", "zeta")


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise with its truth: our style, or the name of a mistake or mutant."""

    source: str
    kind: str
    name: str = ""


@dataclass
class Truth:
    """The truth about the class: each student's answers by exercise, and the pairs in which one copied the other."""

    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)
    copied: list[tuple[str, str]] = field(default_factory=list)

    def full_marks(self) -> set[str]:
        """Return the students whose answers are all right."""
        return {name for name, each in self.answers.items() if all(answer.kind == "right" for answer in each.values())}


def make_submissions(folder: Path, assignment: str, size: int, seed: int = 0) -> Truth:
    """Write submissions into a course folder, and return the truth about them.

    Args:
        folder: the course folder, with nothing in submitted/.
        assignment: the assignment, one of this repository's.
        size: the number of students; COPIES of them copied the work of another.
        seed: by which everything is drawn.
    """
    chance = random.Random(seed)
    sources = read_sources(REPOSITORY / "source" / assignment, NOTEBOOK_MB)
    choices = {
        exercise: _Choices.of(assignment, exercise, outline.reference(exercise), chance)
        for outline in map(Outline, sources.values())
        for exercise in outline.coded
    }
    truth = Truth()
    names = [f"student{number:05}" for number in range(size)]
    authors = names[: size - COPIES]
    for name in authors:
        truth.answers[name] = {exercise: each.draw(chance) for exercise, each in choices.items()}
    wrong = sorted(authors, key=lambda name: sum(each.kind == "right" for each in truth.answers[name].values()))
    wrong = wrong[: max(COPIES, len(authors) // 4)]
    for name, other in zip(names[size - COPIES :], chance.sample(wrong, COPIES), strict=True):
        truth.answers[name] = dict(truth.answers[other])
        truth.copied.append((other, name))
    for name, answers in truth.answers.items():
        place = folder / "submitted" / name / assignment
        place.mkdir(parents=True)
        written = {exercise: disguised(answer.source, chance) for exercise, answer in answers.items()}
        for notebook in sources:
            released = nbformat.read(REPOSITORY / "release" / assignment / f"{notebook}.ipynb", as_version=4)
            for cell in released.cells:
                if grade_id(cell) in written:
                    cell.source = written[grade_id(cell)]
            nbformat.write(released, place / f"{notebook}.ipynb")
    return truth


@dataclass(frozen=True)
class _Choices:
    """The answers to one exercise from which those of students are drawn."""

    right: list[Answer]
    mistakes: list[Answer]
    mutants: list[Answer]

    @classmethod
    def of(cls, assignment: str, exercise: str, solution: str, chance: random.Random) -> "_Choices":
        known = [each for each in load(REPOSITORY / "source" / assignment) if each.exercise == exercise]
        mistakes = [Answer(each.apply(solution), "mistake", each.name) for each in known]
        folder = REPOSITORY / "tests" / "correct_answers" / assignment / exercise
        styles = [solution, *(path.read_text() for path in sorted(folder.glob("*.py")))]
        right = [Answer(each, "right", str(number)) for number, each in enumerate(styles)]
        changed = mutants(solution, [each.source for each in (*mistakes, *right)])
        drawn = chance.sample(changed, min(MUTANTS, len(changed)))
        return cls(right, mistakes, [Answer(each.text, "mutant", f"{each.name}, {each.edit}") for each in drawn])

    def draw(self, chance: random.Random) -> Answer:
        """Draw an answer; some mistakes are far more common than others."""
        share = chance.random()
        if share < RIGHT:
            return chance.choice(self.right)
        answers = self.mistakes if share < MISTAKE else self.mutants
        return answers[min(int(chance.expovariate(0.3)), len(answers) - 1)]


def disguised(source: str, chance: random.Random) -> str:
    """Return an answer with other names of variables, other comments, and independent lines exchanged."""
    tree = ast.parse(source)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        stored = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        names = {name: f"{chance.choice(WORDS)}_{number}" for number, name in enumerate(sorted(stored - arguments))}
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
    exchange(tree, chance)
    return commented(ast.unparse(tree), chance)
