"""Which cell runs where."""

from notebooks import answer, check, code, helpers, hidden, notebook, text, written

from course.grading.plan import Role, plan


def test_every_kind_of_cell_has_its_place():
    """Tests in the examiner, read-only cells in both, the student's in the candidate; text and experiments nowhere."""
    steps = plan(
        notebook(
            text("# Title"),
            helpers("imports", "import torch"),
            answer("f", "def f(): ..."),
            check("f-check", "f()", points=2),
            hidden("f-test-x", "X holds.", "f()", points=3),
            code("print(f())"),
            code("train()", "experiment"),
            written("why", "Because."),
        )
    )
    assert [(step.name, step.role, step.points, step.is_hidden) for step in steps] == [
        ("imports", Role.BOTH, 0, False),
        ("f", Role.CANDIDATE, 0, False),
        ("f-check", Role.TEST, 2, False),
        ("f-test-x", Role.TEST, 3, True),
        ("cell 6", Role.CANDIDATE, 0, False),
    ]
    assert [step.index for step in steps] == [1, 2, 3, 4, 5]


def test_a_read_only_cell_can_be_for_the_candidate_alone():
    """A training loop of ours runs beside the student's model; the tag says so, on no other kind of cell."""
    loop, free = helpers("loop", "def train(model): ..."), code("1")
    loop.metadata.tags = free.metadata.tags = ["candidate"]
    test = check("f-check", "train(f)")
    test.metadata.tags = ["candidate"]
    steps = plan(notebook(loop, free, test))
    assert [step.role for step in steps] == [Role.CANDIDATE, Role.CANDIDATE, Role.TEST]


def test_a_test_belongs_to_the_exercise_it_is_named_for():
    """To the longest name that fits: mask-tgt-check is about mask-tgt, not about mask."""
    steps = plan(
        notebook(
            *(answer("mask", ""), answer("mask-tgt", ""), check("mask-check", ""), check("mask-tgt-check", "")),
            *(check("mask-test-all", ""), check("mask-tgt-test-all", ""), check("other", "")),
        )
    )
    assert [step.exercise for step in steps if step.role is Role.TEST] == (
        ["mask", "mask-tgt", "mask", "mask-tgt", "other"]
    )


def test_only_the_students_own_cells_are_experiments():
    """The tag on an answer, a helper or a test changes nothing."""
    cells = [helpers("imports", ""), answer("f", ""), check("f-check", ""), code("1")]
    for cell in cells:
        cell.metadata.tags = ["experiment"]
    assert [step.name for step in plan(notebook(*cells))] == ["imports", "f", "f-check"]
