"""Which cell runs where."""

from notebooks import answer, check, code, helpers, hidden, notebook, text, written

from course.grading.plan import Role, digests, plan, talks


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


def test_only_what_stands_in_the_source_to_the_letter_is_ours():
    """It is compiled outside the candidate; a student's cell never is, for the compiler can be broken."""
    source = notebook(helpers("imports", "import torch"), answer("f", "def f(): ..."), code("f()"))
    submission = notebook(helpers("imports", "import torch"), answer("f", "def f(): 1"), code("f()"), code("f( )"))
    assert [step.is_ours for step in plan(submission, source)] == [True, False, True, False]


def test_only_the_students_own_cells_are_experiments():
    """The tag on an answer, a helper or a test changes nothing."""
    cells = [helpers("imports", ""), answer("f", ""), check("f-check", ""), code("1")]
    for cell in cells:
        cell.metadata.tags = ["experiment"]
    assert [step.name for step in plan(notebook(*cells))] == ["imports", "f", "f-check"]


def test_tests_that_share_a_variable_share_a_conversation():
    """Also where they are far apart or a helper of ours stands between them; all others have one of their own."""
    steps = plan(
        notebook(
            answer("f", "def f(): ..."),
            check("f-check", "model = f()"),
            hidden("f-test-other", "Other.", "model = f()\nmodel()"),
            hidden("f-test-kept", "Kept.", "later = model()"),
            helpers("given", "def use(): return model"),
            hidden("f-test-later", "Later.", "assert later"),
        )
    )
    numbers = {step.name: talks(steps)[step.index] for step in steps if step.name.startswith("f-")}
    assert numbers["f-test-other"] != 0, "its `model` is what the helper and the next test read"
    assert len({numbers[name] for name in ("f-check", "f-test-kept", "f-test-later")}) == 1
    alone = plan(notebook(check("one", "x = 1\nassert x"), check("two", "for x in range(3): assert x < 3")))
    assert set(talks(alone).values()) == {0}


def test_a_test_is_named_by_all_that_ran_before_it():
    """By the examiner's cells up to it: the student's make no difference, a helper above does, one below does not."""

    def digest(helper, answered, below=""):
        cells = [helpers("h", helper), answer("f", answered), check("f-check", "f()"), helpers("below", below)]
        steps = plan(notebook(*cells))
        return next(digests(steps)[step.index] for step in steps if step.name == "f-check")

    assert digest("a = 1", "f = 1") == digest("a = 1", "f = 2") == digest("a = 1", "f = 1", "b = 1")
    assert digest("a = 1", "f = 1") != digest("a = 2", "f = 1")
