"""What a student is told: of a visible check everything, of a hidden test its truth and its own words only."""

import pytest
from notebooks import answer, answered, check, helpers, hidden, notebook

from course.grading.grade import grade
from course.grading.limits import Limits
from course.grading.messages import WROTE

SOURCE = notebook(
    answer("f", "def f(x):\n    return x"),
    check("f-check", "assert f(1) == 1, f'f(1) is 1; yours is {f(1)}'"),
    hidden("f-test-said", "f gives back what it gets.", "secret = 41\nassert f(secret) == 41, 'not for every number'"),
    hidden("f-test-silent", "f gives back what it gets!", "secret = 42\nassert f(secret) == secret"),
    hidden(
        "f-test-torch",
        "f leaves tensors alone.",
        "import torch\ntorch.testing.assert_close(f(torch.tensor(43.0)), torch.tensor(43.0))",
    ),
    hidden(
        "f-test-torch-said",
        "f leaves tensors alone.",
        "import torch\ntorch.testing.assert_close(f(torch.tensor(43.0)), torch.tensor(43.0), msg='another tensor')",
    ),
    hidden(
        "f-test-numpy",
        "f leaves numbers alone.",
        "import numpy.testing\nnumpy.testing.assert_allclose(f(43.0), 43.0)",
    ),
    hidden("f-test-uses", "f returns a number.", "secret = 44\n[secret][f(0)]"),
)
SECRETS = ("secret", "41", "42", "43", "44", "Traceback", "BEGIN", "assert", "[secret]")


def told(f, limits=None):
    """The messages by test, for a student who wrote this f."""
    report = grade(SOURCE, answered(SOURCE, f=f), limits)
    assert report.points < 7
    return {result.name.removeprefix("f-"): result.message for result in report.results}


def hidden_ones(messages):
    return {name: message for name, message in messages.items() if name.startswith("test")}


def test_a_visible_check_shows_its_assertion():
    """With the values in it."""
    assert told("def f(x):\n    return 7")["check"] == "f(1) is 1; yours is 7."


def test_a_hidden_test_shows_its_truth_and_its_own_words():
    """The message of an assert was written for students; where it has none the truth stands alone."""
    messages = told("def f(x):\n    return 7")
    assert messages["test-said"] == "f gives back what it gets. Not for every number."
    assert messages["test-silent"] == "f gives back what it gets! This does not hold for your code."
    assert messages["test-torch"] == "f leaves tensors alone. The test could not use what your code returned."
    assert messages["test-numpy"] == "f leaves numbers alone. This does not hold for your code."
    assert messages["test-uses"] == "f returns a number. The test could not use what your code returned."


@pytest.mark.parametrize(
    ("back", "why"),
    [
        ("x.detach()", ": no gradient comes back through it."),
        ("x.double()", ": is its dtype the one that is asked for?"),
        ("x[:, :2]", ": is its shape the one that is asked for?"),
        ("'x'", "."),
    ],
)
def test_a_result_that_a_hidden_test_cannot_use_is_told_by_its_kind(back, why):
    """What torch says of it, which may hold numbers of the test, comes down to gradient, dtype or shape."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("f", "def f(x):\n    return x"),
        hidden(
            "f-test-use",
            "It is used.",
            "x = torch.ones(3, 3, requires_grad=True)\n(f(x) @ torch.eye(3)).sum().backward()",
        ),
    )
    [result] = grade(source, answered(source, f=f"def f(x):\n    return {back}")).results
    assert result.message == f"It is used. The test could not use what your code returned{why}"


@pytest.mark.parametrize(
    ("words", "told"), [("a number is lost", "A number is lost."), ("x is changed", "x is changed."), ("h_n!", "h_n!")]
)
def test_what_follows_a_truth_begins_like_a_sentence(words, told):
    """But for a name in the student's code, which must be found there."""
    test = hidden("f-test-two", "f gives 2.", f"assert f() == 2, '{words}'")
    source = notebook(answer("f", "def f():\n    return 1"), test)
    [result] = grade(source, source).results
    assert result.message == f"f gives 2. {told}"


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("x.sub_(1)", True),
        ("x.data.mul_(0.5)", True),
        ("names.append(1)", True),
        ("x = x - 1", False),
        ("names[0] += 0", False),
    ],
)
def test_who_writes_into_what_a_test_hands_over_is_told_so_where_it_fails(line, is_told):
    """The test that fails for it speaks of something else: of two calls that differ, say, or of a gradient."""
    again = "x, names = torch.ones(3), [0]\nassert f(x, names) == f(x, names), 'equal calls differ'"
    source = notebook(
        helpers("imports", "import torch"),
        answer("f", "def f(x, names):\n    return float(x.sum()) + len(names)"),
        check("f-check", again),
        hidden("f-test-once", "f gives a number.", "assert f(torch.ones(3), [1]) > -9"),
        hidden("f-test-two", "f does the same twice.", again),
        hidden("f-test-never", "f is never so large.", "assert f(torch.ones(3), [1]) > 9"),
    )
    code = f"def f(x, names):\n    {line}\n    return float(x.sum()) + len(names)"
    check_, once, two, never = grade(source, answered(source, f=code)).results
    assert once.message == ""
    told_of_it = f" {WROTE}" if is_told else ""
    assert check_.message == (f"equal calls differ.{told_of_it}" if is_told else "")
    assert two.message == (f"f does the same twice. Equal calls differ.{told_of_it}" if is_told else "")
    assert never.message == f"f is never so large. This does not hold for your code.{told_of_it}"


def test_words_that_a_hidden_test_hands_to_torch_are_its_own():
    """Of torch.testing's message nothing is told unless the test wrote it."""
    messages = told("def f(x):\n    return 0 * x")
    assert messages["test-torch-said"] == "f leaves tensors alone. Another tensor."
    assert messages["test-torch"] == "f leaves tensors alone. This does not hold for your code."


def test_who_forgets_to_return_is_asked_for_it():
    """Where a test meets a None it says so: the error alone speaks of a NoneType and of the test's own line."""
    source = notebook(
        answer("f", "def f(x):\n    return x"),
        check("f-check", "assert f([1]).count(1) == 1"),
        hidden("f-test-length", "It has a length.", "assert len(f([1, 2])) == 2"),
    )
    shown, kept = (result.message for result in grade(source, answered(source, f="def f(x):\n    x")).results)
    assert shown.startswith("AttributeError: 'NoneType'") and shown.endswith(
        "is a return missing, or does no gradient come back?"
    )
    assert kept == "It has a length. The test met a None: is a return missing, or does no gradient come back?"


def test_what_cannot_cross_is_called_what_was_returned():
    """Nothing was raised: the student reads what came back and what is expected; of a hidden test only that."""
    messages = told("import numpy\ndef f(x):\n    return numpy.ones(2)")
    assert messages["check"].startswith("Your code returned what no test can take: a numpy ndarray came back where")
    assert messages["test-said"] == "f gives back what it gets. Your code returned what no test can take."


@pytest.mark.parametrize(
    "body",
    [
        "return 7",
        "return None",
        "raise ValueError(f'got {x}')",
        "raise type(f'Got{x}', (Exception,), {})",
        "raise KeyError(x)",
        "return [][int(x)]",
        "exec(compile(f'\\n' * 3 + f'raise ValueError  # {x}', f'<{x}>', 'exec'))",
        "import os; os._exit(int(x))",
        "print('x' * 2**21, x)",
        "assert not x, x",
        "raise AssertionError(f'{x}')",
        "import inspect; raise ValueError(inspect.stack()[-1].code_context)",
    ],
)
def test_no_hidden_test_shows_code_or_values(body):
    """Whatever the student's code does with what it gets, no value of it is told, nor is a line of the test."""
    messages = hidden_ones(told(f"def f(x):\n    {body}"))
    assert len(messages) == 6
    for message in messages.values():
        # The student's own line may be shown, and stands there as they wrote it.
        shown = message.replace(body.strip(), "")
        assert message and not any(secret in shown for secret in SECRETS)


def test_what_a_test_repeats_of_the_students_exception_is_not_shown():
    """Its text is the student's and may carry the numbers of the test; words of the test's own may follow it."""
    tests = {
        "repeats": "try:\n    f(41)\nexcept ValueError as error:\n    raise AssertionError(f'it fails: {error}')",
        "says": "try:\n    f(41)\nexcept ValueError:\n    raise AssertionError('f takes any number')",
    }
    source = notebook(
        answer("f", "def f(x):\n    return x"),
        *(hidden(f"f-test-{name}", "f never fails.", code) for name, code in tests.items()),
    )
    repeated = {"ValueError(f'got {x}')": "This does not hold for your code.", "ValueError": "It fails:."}
    for raises, told_of_it in repeated.items():
        report = grade(source, answered(source, f=f"def f(x):\n    raise {raises}"))
        assert [result.message for result in report.results] == [
            f"f never fails. {told_of_it}",
            "f never fails. f takes any number.",
        ]


def test_the_number_of_a_line_tells_no_number_of_a_hidden_test():
    """In a cell of a thousand lines the student's code chooses one; a check, whose numbers are known, names it."""
    raises = "exec(compile('\\n' * (x - 1) + 'raise ValueError', '<f>', 'exec'))"
    messages = told("def f(x):\n    x = 500 + int(x)\n    " + raises + "\n" * 1000)
    assert "line 501" in messages["check"] and "line" not in messages["test-said"]


def test_what_is_not_written_is_called_so():
    """The blank of a release raises NotImplementedError: the place tells one that was left below an answer."""
    messages = told("def f(x):\n    raise NotImplementedError()")
    assert set(messages.values()) == {"Not written yet (in f, line 2: raise NotImplementedError())."}


def test_torchs_word_on_a_misspelled_forward_is_passed_on():
    """It is a NotImplementedError too, and says what is missing."""
    messages = told("import torch\nclass F(torch.nn.Module):\n    def foward(self, x):\n        return x\nf = F()")
    assert "forward" in messages["check"]


@pytest.mark.parametrize("answer", ["'x' * 1_000_000", "'\\ud800'"])
def test_messages_and_logs_are_short_and_can_be_written(answer):
    """However long and odd what the test shows of an answer is."""
    report = grade(SOURCE, answered(SOURCE, f=f"def f(x):\n    return {answer}"))
    for result in report.results:
        assert len(result.message) < 3_000 and result.message.encode()
        assert len(result.log) < 60_000 and result.log.encode()


def test_a_missing_name_is_called_missing():
    """With what to look for; a spelling mistake inside the student's function is theirs."""
    messages = told("def g(x):\n    return x")
    assert set(messages.values()) == {
        "f is not defined: the cell that should define it is missing, did not run to its end, or gives it another name."
    }
    assert "name 'y' is not defined" in told("def f(x):\n    return y")["check"]


def test_an_exception_of_the_students_is_shown_with_its_line():
    """In a visible check with its message, in a hidden test with its kind."""
    messages = told("def f(x):\n    y = x + 1\n    return y / 0")
    assert messages["check"] == "Your code raised ZeroDivisionError: division by zero (in f, line 3: return y / 0)"
    assert messages["test-said"] == (
        "f gives back what it gets. Your code raised ZeroDivisionError (in f, line 3: return y / 0)."
    )


def test_a_lost_process_is_explained():
    """A hang with the limit, a crash with how it ended."""
    slow = told("def f(x):\n    while True: pass", Limits(cell_seconds=1))
    assert set(slow.values()) == {"Your code was stopped: it took longer than 1 s."}
    assert "SIGABRT" in told("import os\ndef f(x):\n    os.abort()")["check"]


def test_the_log_is_for_the_instructor():
    """It has the traceback of the test, which no message has."""
    report = grade(SOURCE, answered(SOURCE, f="def f(x):\n    return 7"))
    silent = next(result for result in report.results if result.name == "f-test-silent")
    assert "assert f(secret) == secret" in silent.log and "Traceback" in silent.log


def test_the_autograded_notebook_shows_the_messages():
    """A failed test has an error output that says what the message says; a passed one has none."""
    report = grade(SOURCE, answered(SOURCE, f="def f(x):\n    return 1"))
    assert report.outputs[1] == []
    (shown,) = report.outputs[2]
    assert shown["output_type"] == "error" and shown["evalue"] == report.results[1].message


def test_nothing_that_a_terminal_obeys_is_told():
    """Neither in messages nor in outputs: a title, a cleared screen, a clipboard are the instructor's own."""
    raises = "print('\\x1b[2J')\ndef f(x):\n    raise ValueError('\\x1b]0;mine\\x07')"
    report = grade(SOURCE, answered(SOURCE, f=raises))
    assert "[2J" in str(report.outputs) and "]0;mine" in report.results[0].message
    streams = [output["text"] for outputs in report.outputs.values() for output in outputs if "text" in output]
    assert streams and not any({"\x1b", "\x07"} & set(text) for text in streams)
    assert not any({"\x1b", "\x07"} & set(result.message) for result in report.results)


def test_the_signal_that_ends_a_hidden_test_is_not_told():
    """It may be a number that the test handed over; of a visible check it is told."""
    kills = "import os\ndef f(x):\n    if x != {}:\n        os.kill(os.getpid(), 40)\n    return x"
    assert told(kills.format(0))["check"] == "Your code was stopped: the process was ended by signal 40."
    messages = told(kills.format(1))
    assert messages["check"] == ""
    assert messages["test-said"] == "Your code was stopped: the process ended itself."
