"""Shows which process runs each cell, and what tests share."""

from grader.engine.notebook.plan import Plan, Role, plan
from tests.support.notebooks import answer, check, code, helpers, hidden, notebook, text, written


def test_every_type_of_cell_has_its_process():
    """Tests run in the runner, student cells in the sandbox, read-only cells in both; text and experiments nowhere."""
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
        ("f", Role.SANDBOX, 0, False),
        ("f-check", Role.TEST, 2, False),
        ("f-test-x", Role.TEST, 3, True),
        ("cell 6", Role.SANDBOX, 0, False),
    ]
    assert [step.index for step in steps] == [1, 2, 3, 4, 5]


def test_tags_change_where_a_cell_runs():
    """An instructor's training loop runs beside the student's model, experiments nowhere. Other cells stay."""
    for tag in ("candidate", "sandbox-only", "experiment", "not-graded"):
        cells = [helpers("loop", ""), answer("f", ""), check("f-check", ""), code("1")]
        for cell in cells:
            cell.metadata.tags = [tag]
        roles = {"loop": Role.BOTH, "f": Role.SANDBOX, "f-check": Role.TEST}
        if tag in ("candidate", "sandbox-only"):
            roles |= {"loop": Role.SANDBOX, "cell 4": Role.SANDBOX}
        assert {step.name: step.role for step in plan(notebook(*cells))} == roles


def test_only_a_cell_with_the_text_of_the_source_is_ours():
    """Such a cell is compiled outside the sandbox. A student's cell never is, because it could break the compiler."""
    source = notebook(helpers("imports", "import torch"), answer("f", "def f(): ..."), code("f()"))
    submission = notebook(helpers("imports", "import torch"), answer("f", "def f(): 1"), code("f()"), code("f( )"))
    assert [step.is_ours for step in plan(submission, source)] == [True, False, True, False]


def test_tests_that_share_a_variable_share_a_session():
    """This holds for tests that are far apart, and across a read-only cell; all other tests have their own sessions."""
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
    sessions = {step.name: Plan(steps).sessions[step.index] for step in steps if step.name.startswith("f-")}
    assert sessions["f-test-other"] != 0, "the read-only cell and the next test read its `model`"
    assert len({sessions[name] for name in ("f-check", "f-test-kept", "f-test-later")}) == 1
    alone = plan(notebook(check("one", "x = 1\nassert x"), check("two", "for x in range(3): assert x < 3")))
    assert set(Plan(alone).sessions.values()) == {0}


def test_the_digest_of_a_test_covers_everything_that_the_runner_ran_before():
    """The student's cells make no difference. A read-only cell above the test does, one below it does not."""

    def digest(helper, answered, below=""):
        cells = [helpers("h", helper), answer("f", answered), check("f-check", "f()"), helpers("below", below)]
        steps = plan(notebook(*cells))
        return next(Plan(steps).digests[step.index] for step in steps if step.name == "f-check")

    assert digest("a = 1", "f = 1") == digest("a = 1", "f = 2") == digest("a = 1", "f = 1", "b = 1")
    assert digest("a = 1", "f = 1") != digest("a = 2", "f = 1")
