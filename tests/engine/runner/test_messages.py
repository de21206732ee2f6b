"""Messages tell a student all about a visible check, and of a hidden test only its truth and its own message."""

import pytest

from grader.engine.explanation import CHANGED_ARGUMENTS
from grader.engine.grading import grade
from tests.support.notebooks import answer, answered, check, helpers, hidden, notebook

SOURCE = notebook(
    answer("f", "def f(x):\n    return x"),
    check("f-check", "assert f(1) == 1, f'f(1) is 1; yours is {f(1)}'"),
    hidden(
        "f-test-worded", "f gives back what it gets.", "secret = 41\nassert f(secret) == 41, 'not for every number'"
    ),
    hidden("f-test-silent", "f gives back what it gets!", "secret = 42\nassert f(secret) == secret"),
    hidden(
        "f-test-torch",
        "f leaves tensors alone.",
        "import torch\ntorch.testing.assert_close(f(torch.tensor(43.0)), torch.tensor(43.0))",
    ),
    hidden(
        "f-test-torch-worded",
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


def messages_for(f):
    """The messages by test, for a submission with this f."""
    report = grade(SOURCE, answered(SOURCE, f=f))
    assert report.points < 7
    return {result.name.removeprefix("f-"): result.message for result in report.results}


def of_hidden_tests(messages):
    """The messages of hidden tests only."""
    return {name: message for name, message in messages.items() if name.startswith("test")}


def test_a_visible_check_shows_its_assertion_and_a_hidden_test_its_truth_and_its_own_message():
    """The message of an assert was written for students; without one, only the truth is shown. The log has more."""
    messages = messages_for("def f(x):\n    return 7")
    assert messages["check"] == "f(1) is 1; yours is 7."
    assert messages["test-worded"] == "f gives back what it gets. Not for every number."
    assert messages["test-silent"] == "f gives back what it gets! This does not hold for your code."
    assert messages["test-torch"] == "f leaves tensors alone. The test could not use what your code returned."
    assert messages["test-numpy"] == "f leaves numbers alone. This does not hold for your code."
    assert messages["test-uses"] == "f returns a number. The test could not use what your code returned."
    composed = messages_for("def f(x):\n    return 0 * x")
    assert composed["test-torch-worded"] == "f leaves tensors alone. Another tensor."
    assert composed["test-torch"] == "f leaves tensors alone. This does not hold for your code."
    report = grade(SOURCE, answered(SOURCE, f="def f(x):\n    return 7"))
    silent = next(result for result in report.results if result.name == "f-test-silent")
    assert "assert f(secret) == secret" in silent.log and "Traceback" in silent.log


MISSING = (
    "f is not defined: the cell that should define it is missing, did not run to its end, or gives it another name."
)
ERRORS = {
    "def f(x):\n    raise NotImplementedError()": 2 * ("Not written yet (in f, line 2: raise NotImplementedError()).",),
    "def g(x):\n    return x": 2 * (MISSING,),
    "def f(x):\n    return y": (
        "Your code raised NameError: name 'y' is not defined (in f, line 2: return y)",
        "f gives back what it gets. Your code raised NameError (in f, line 2: return y).",
    ),
    "def f(x):\n    y = x + 1\n    return y / 0": (
        "Your code raised ZeroDivisionError: division by zero (in f, line 3: return y / 0)",
        "f gives back what it gets. Your code raised ZeroDivisionError (in f, line 3: return y / 0).",
    ),
    "import numpy\ndef f(x):\n    return numpy.ones(2, numpy.longdouble)": (
        "Your code returned something that no test can use: arrays that pass between a test and student code must hold",
        "f gives back what it gets. Your code returned something that no test can use.",
    ),
    "import torch\nclass F(torch.nn.Module):\n    def foward(self, x):\n        return x\nf = F()": (
        'Your code raised NotImplementedError: Module [F] is missing the required "forward" function',
        "f gives back what it gets. Your code raised NotImplementedError.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "messages"), ERRORS.items())
def test_an_error_is_shown_with_its_line_and_in_a_hidden_test_without_its_text(f, messages):
    """A blank is called so, a missing name is called missing, and what cannot cross is named."""
    shown = messages_for(f)
    assert shown["check"].startswith(messages[0]) and shown["test-worded"] == messages[1]
    assert len(set(shown.values())) == 1 or messages[0] != messages[1]


@pytest.mark.parametrize(
    ("back", "why"),
    [
        ("x.detach()", ": no gradient comes back through it."),
        ("x.double()", ": does it have the required dtype?"),
        ("x[:, :2]", ": does it have the required shape?"),
        ("'x'", "."),
    ],
)
def test_a_result_that_a_hidden_test_cannot_use_gets_a_hint(back, why):
    """torch's message may hold values of the test, so the hint names only gradient, dtype or shape."""
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


@pytest.mark.parametrize("compare", ["torch.allclose(f(x), x)", "torch.isclose(f(x), x).all()", "f(x).allclose(x)"])
@pytest.mark.parametrize(
    ("back", "dtypes"),
    [("x.double()", ("float64", "float32")), ("x.half()", ("float16", "float32")), ("x.long()", ("int64", "float32"))],
)
def test_a_visible_check_names_the_dtypes_that_it_cannot_compare(compare, back, dtypes):
    """Whichever function of torch it compares with."""
    source = notebook(
        helpers("imports", "import torch"),
        answer("f", "def f(x):\n    return x"),
        check("f-check", f"x = torch.ones(3)\nassert {compare}"),
    )
    [result] = grade(source, answered(source, f=f"def f(x):\n    return {back}")).results
    one, other = dtypes
    assert result.message == (
        f"The check compares numbers in {one} with numbers in {other}: is your dtype the required one?"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("choose", "A function of the test, choose, could not use what your code gave it."),
        ("lambda number: choose(number)", "A function of the test could not use what your code gave it."),
    ],
)
@pytest.mark.parametrize("f", ["choose('x')", "[choose(0.5), choose(2)][0]"])
def test_an_error_in_a_function_of_the_test_is_no_error_of_a_result(given, message, f):
    """Student code called it with something that it refuses, and nothing was returned."""
    test = "def choose(number):\n    if not 0 <= number <= 1:\n        raise ValueError('secret')\n    return 0\n"
    source = notebook(
        answer("f", "def f(choose):\n    return choose(1)"), hidden("f-test", "f chooses.", f"{test}f({given})")
    )
    [result] = grade(source, answered(source, f=f"def f(choose):\n    return {f}")).results
    assert result.message == f"f chooses. {message}"


@pytest.mark.parametrize(
    ("message", "shown"),
    [("a number is lost", "A number is lost."), ("x is changed", "x is changed."), ("h_n!", "h_n!")],
)
def test_a_message_behind_a_truth_begins_with_a_capital(message, shown):
    """Unless it begins with a name of the student's code, which the student must find there."""
    test = hidden("f-test-two", "f gives 2.", f"assert f() == 2, '{message}'")
    source = notebook(answer("f", "def f():\n    return 1"), test)
    [result] = grade(source, source).results
    assert result.message == f"f gives 2. {shown}"


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("x.sub_(1)", True),
        ("x.data.mul_(0.5)", True),
        ("names.append(1)", True),
        ("x = x - 1", False),
        ("names[0] += 0", False),
    ],
)
def test_a_failed_test_mentions_that_its_arguments_were_changed(line, writes):
    """Its own message is about a consequence: that two calls differ, say, or that a gradient is missing."""
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
    wrote = f" {CHANGED_ARGUMENTS}" if writes else ""
    assert check_.message == (f"equal calls differ.{wrote}" if writes else "")
    assert two.message == (f"f does the same twice. Equal calls differ.{wrote}" if writes else "")
    assert never.message == f"f is never so large. This does not hold for your code.{wrote}"


def test_a_missing_return_is_suggested():
    """If a test gets None, the message says so: the error alone mentions a NoneType in a line of the test."""
    source = notebook(
        answer("f", "def f(x):\n    return x"),
        check("f-check", "assert f([1]).count(1) == 1"),
        hidden("f-test-length", "It has a length.", "assert len(f([1, 2])) == 2"),
    )
    visible, secret = (result.message for result in grade(source, answered(source, f="def f(x):\n    x")).results)
    assert visible.startswith("AttributeError: 'NoneType'") and visible.endswith(
        "is a return missing, or does no gradient come back?"
    )
    assert secret == "It has a length. The test got None: is a return missing, or does no gradient come back?"


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
def test_a_hidden_test_shows_no_code_and_no_values(body):
    """Whatever student code does with its arguments, no message contains one of them, nor a line of the test."""
    messages = of_hidden_tests(messages_for(f"def f(x):\n    {body}"))
    assert len(messages) == 6
    for message in messages.values():
        # The student's own line may be shown as it was written.
        shown = message.replace(body.strip(), "")
        assert message and not any(secret in shown for secret in SECRETS)


def test_a_hidden_test_does_not_repeat_an_exception_of_student_code():
    """Student code chose its text, which may hold values of the test. A message of the test's own is shown."""
    tests = {
        "repeats": "try:\n    f(41)\nexcept ValueError as error:\n    raise AssertionError(f'it fails: {error}')",
        "says": "try:\n    f(41)\nexcept ValueError:\n    raise AssertionError('f takes any number')",
    }
    source = notebook(
        answer("f", "def f(x):\n    return x"),
        *(hidden(f"f-test-{name}", "f never fails.", code) for name, code in tests.items()),
    )
    repeated = {"ValueError(f'got {x}')": "This does not hold for your code.", "ValueError": "It fails:."}
    for raises, shown in repeated.items():
        report = grade(source, answered(source, f=f"def f(x):\n    raise {raises}"))
        assert [result.message for result in report.results] == [
            f"f never fails. {shown}",
            "f never fails. f takes any number.",
        ]


def test_the_number_of_a_line_reveals_no_value_of_a_hidden_test():
    """In a cell of a thousand lines student code can choose the line; a visible check, with no secrets, names it."""
    raises = "exec(compile('\\n' * (x - 1) + 'raise ValueError', '<f>', 'exec'))"
    messages = messages_for("def f(x):\n    x = 500 + int(x)\n    " + raises + "\n" * 1000)
    assert "line 501" in messages["check"] and "line" not in messages["test-worded"]


@pytest.mark.parametrize("answer", ["'x' * 1_000_000", "'\\ud800'"])
def test_messages_and_logs_are_short_and_can_be_written(answer):
    """However long and odd the values are that a test shows."""
    report = grade(SOURCE, answered(SOURCE, f=f"def f(x):\n    return {answer}"))
    for result in report.results:
        assert len(result.message) < 3_000 and result.message.encode()
        assert len(result.log) < 60_000 and result.log.encode()


def test_the_autograded_notebook_shows_the_messages():
    """A failed test has an error output with its message; a passed one has no output."""
    report = grade(SOURCE, answered(SOURCE, f="def f(x):\n    return 1"))
    assert report.outputs[1] == []
    (shown,) = report.outputs[2]
    assert shown["output_type"] == "error" and shown["evalue"] == report.results[1].message


def test_control_characters_of_a_terminal_are_removed():
    """From messages and outputs: student code must not set the instructor's window title, screen or clipboard."""
    raises = "print('\\x1b[2J')\ndef f(x):\n    raise ValueError('\\x1b]0;mine\\x07')"
    report = grade(SOURCE, answered(SOURCE, f=raises))
    assert "[2J" in str(report.outputs) and "]0;mine" in report.results[0].message
    streams = [output["text"] for outputs in report.outputs.values() for output in outputs if "text" in output]
    assert streams and not any({"\x1b", "\x07"} & set(text) for text in streams)
    assert not any({"\x1b", "\x07"} & set(result.message) for result in report.results)


def test_the_signal_that_ends_a_hidden_test_is_not_named():
    """Student code may choose it by a value of the test. In a visible check it is named."""
    kills = "import os\ndef f(x):\n    if x != {}:\n        os.kill(os.getpid(), 40)\n    return x"
    assert messages_for(kills.format(0))["check"] == "Your code was stopped: the process was ended by signal 40."
    messages = messages_for(kills.format(1))
    assert messages["check"] == ""
    assert messages["test-worded"] == "Your code was stopped: the process ended itself."


def test_the_log_quotes_little_of_a_reply_that_breaks_the_protocol():
    """The instructor reads in it what was wrong: neither a million characters nor what a terminal obeys."""
    f = """
import os, struct
def f(x):
    text = b'[{"type":"Returned","value":1,"\\\\u001b[2J' + b"x" * 10**6 + b'":1},[]]'
    message = memoryview(struct.pack(">II", len(text), 0) + text)
    while message:
        message = message[os.write(3, message):]
"""
    results = grade(SOURCE, answered(SOURCE, f=f)).results
    assert "could not be read" in results[0].message and "unknown field" in results[0].log
    assert all(len(result.log) < 60_000 and "\x1b" not in result.log for result in results)
