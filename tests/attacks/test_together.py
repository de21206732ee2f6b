"""Shows what attacks gain on tests that are judged together with the student's code: what threat-model.md names.

corpus, the same assignment with the tag `together` --one class run--> points, outputs, what is left
ways to leave early, to forge the end, to read other tests ---------> the points and messages of one submission
"""

import copy
import json

import pytest

from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.report import Report
from grader.engine.rpc.channel import encode
from grader.engine.rpc.message import Message
from grader.engine.rpc.protocol import CellDone, EndOfTest, Ready, Returned
from tests.attacks.aftermath import ATTACKS, HONEST, LOOT, NAME, Aftermath, graded
from tests.attacks.build import (
    LIMITS,
    REACHED,
    RELEASED,
    RIGHT_DOUBLE,
    RIGHT_SCALE,
    SECRETS,
    SOURCE,
    WRONG_SCALE,
    answered,
    appended,
    calling,
    on_channel,
    trying,
)
from tests.support.notebooks import cell

pytestmark = pytest.mark.slow

TOGETHER = copy.deepcopy(SOURCE)
TOGETHER.metadata["tags"] = ["together"]

ABOUT_FILES = ("54", "60", "61", "69", "70")
"""Attacks by files, names and pages, which meet no test."""
CORPUS = {
    name: attack
    for name, attack in ATTACKS.items()
    if not hasattr(attack, "place") and not name.startswith(ABOUT_FILES)
}

NAMED = {
    "01-equal-to-everything": "the values of a test are objects of the student's",
    "04-patched-allclose": "what the test calls is replaced",
    "64-work-of-torch": "`without:` does not apply",
    "65b-module-without-end": "it is right in the end, since no description of it has to cross",
    "65d-random-state-made-up": "the test's random numbers are the student's",
    "72-other-name-of-torch": "`without:` does not apply",
}
"""What the threat model says is lost, by the attacks that earn something by it."""


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    """What is found after the class was graded with every test together with the students' code."""
    return graded(tmp_path_factory.mktemp("together"), TOGETHER, CORPUS)


@pytest.mark.parametrize("attack", CORPUS)
def test_earns_and_learns_nothing_that_the_threat_model_does_not_name(aftermath: Aftermath, attack: str) -> None:
    """The others earn what their honest part earns. No number of a hidden test and no sign of success is shown."""
    found = aftermath.outcomes[attack]
    results = [result for report in found.reports.values() for result in report.results]
    points, honest = sum(result.points for result in results), float(getattr(ATTACKS[attack], "EARNS", 0))
    assert all(result.together for result in results)
    verdicts = [f"{result.name}: {result.verdict} {result.points:g} {result.message}" for result in results]
    # A named one may fail, too: 65b takes longer than a busy machine allows.
    assert points == honest or attack in NAMED and points > honest, (verdicts, found.errors)
    shown = aftermath.shown(attack)
    assert [loot for loot in (*LOOT, REACHED) if loot in shown] == []
    for report in found.reports.values():
        assert len(json.dumps(report.outputs)) < 3 * LIMITS["output_kb"] * 1024


def test_leaves_and_harms_nothing(aftermath: Aftermath) -> None:
    """Neighbours get what they deserve; no process, folder, file or change is left."""
    for student, (_, points) in HONEST.items():
        assert aftermath.outcomes[student].reports[NAME].points == points
        assert sum(score or 0 for (name, _), score in aftermath.scores().items() if name == student) == points
    assert aftermath.changed == [] and not any(aftermath.left.values())


# One submission


def judged(double: str = RIGHT_DOUBLE, scale: str = WRONG_SCALE) -> Report:
    """Return the report on a submission with these answers."""
    limits = Limits(cell_seconds=LIMITS["cell_seconds"])
    return grade(TOGETHER, answered(RELEASED, double, scale), limits)


def points(report: Report) -> list[float]:
    """Return the points of each test."""
    return [result.points for result in report.results]


LEAVING = {
    "exit of IPython": "exit(); quit()",
    "an exit that a test catches": "raise SystemExit(None)",
    "an interrupt of the thread": "_thread.interrupt_main(); time.sleep(9)",
    "a signal": "os.kill(os.getpid(), signal.SIGTERM)",
    "a signal with a handler": "signal.signal(signal.SIGALRM, lambda *_: os._exit(0)); signal.raise_signal(14)",
    "an end at exit": "atexit.register(os._exit, 0); sys.exit(0)",
    "a skipped test of unittest": "raise unittest.SkipTest('not today')",
    "a skipped test by name": "raise type('Skipped', (BaseException,), {})('not today')",
    "the end of an iteration": "raise StopIteration(5.0)",
    "a generator that is closed": "raise GeneratorExit",
    "a cancelled task": "raise asyncio.CancelledError",
    "a task that is cancelled": "asyncio.current_task().cancel()",
    "a task with a result": "asyncio.Future.set_result(asyncio.current_task(), (5.0, None))",
    "a loop that stops": "asyncio.get_running_loop().stop()",
    "the closed channel": "os.close(3)",
    "the closed channel and success": "os.close(3); os._exit(0)",
    "a socket shut down": "socket.socket(fileno=3).shutdown(2)",
    "no end": "threading.Event().wait()",
    "a thread that ends the process": "threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(9)",
    "no output": "sys.stdout = sys.stderr = sys.__stdout__ = None",
    "hooks": "sys.excepthook = sys.displayhook = sys.unraisablehook = print; raise ValueError",
    "an error without a text": "raise type('E', (Exception,), {'__str__': lambda self: os._exit(0)})()",
    "success printed": "print('5.0'); os.write(1, b'5.0'); get_ipython().displayhook(5.0)",
}
"""Beside the ways that tests/engine/runner/test_together.py tries with their verdicts."""
MODULES = "import _thread, asyncio, atexit, os, signal, socket, sys, threading, time, unittest\n"


@pytest.mark.parametrize("leaving", LEAVING)
def test_leaving_early_gives_no_points(leaving: str) -> None:
    """A test gives points if it runs to its end, and no way to leave it does. The other exercise is not touched."""
    double = f"{MODULES}def double(x):\n    {LEAVING[leaving]}\n    return 0 * x"
    assert points(judged(double, RIGHT_SCALE)) == [0, 0, 0, 1, 2, 2]


def test_leaving_a_test_that_awaits_gives_no_points() -> None:
    """A task that student code ends, or a loop that it stops, while the test waits is no end of the test."""
    source = copy.deepcopy(TOGETHER)
    cell(source, "double-check").source = "x = await double(1)\nassert x == 2"
    right = "async def double(x):\n    return 2 * x"
    for ending in (
        "asyncio.Future.set_result(asyncio.current_task(), None)",
        "asyncio.current_task().cancel()",
        "asyncio.get_running_loop().stop()",
        "asyncio.get_running_loop().call_soon(asyncio.get_running_loop().stop)",
    ):
        wrong = f"import asyncio\nasync def double(x):\n    {ending}\n    await asyncio.sleep(0.1)\n    return 0"
        found = [grade(source, answered(source, double)).results[0].points for double in (right, wrong)]
        assert found == [1, 0], ending


FORGED: dict[str, Message] = {
    "no nonce": EndOfTest(nonce="", points=2.0),
    "a made-up nonce": EndOfTest(nonce="0" * 32, points=2.0),
    "the end of a cell": CellDone(),
    "a value": Returned(value=2.0),
    "a new sandbox": Ready(pid=1, version=4),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_an_end_without_the_nonce_is_none(forged: str, when: str) -> None:
    """Whatever is written to the descriptor before, during or after the test, by threads too, gives no points."""
    reply = encode(FORGED[forged], [])
    write = f"import os, threading, time\ndef write():\n    os.write(3, {reply!r})\n"
    later = "def later():\n    time.sleep(0.01)\n    write()\n"
    double = {
        "before": f"{write}write()\ndef double(x):\n    return 0 * x",
        "during": f"{write}def double(x):\n    write()\n    return 0 * x",
        "after": f"{write}{later}def double(x):\n    threading.Thread(target=later).start()\n    return 0 * x",
    }[when]
    lost = points(judged(double, RIGHT_SCALE))
    # A reply before the question may cost more: it is taken for the end of the cell below.
    assert lost == [0, 0, 0, 1, 2, 2] or when == "before" and not any(lost)


def test_the_reply_to_one_test_is_none_to_another() -> None:
    """Each request has a nonce of its own, and no process that is judged has seen another request."""
    seen = """
    import os
    def double(x):
        frame, found = sys._getframe(), ""
        while frame:
            found = getattr(frame.f_locals.get("test"), "nonce", found)
            frame = frame.f_back
        raise ValueError(found)
    """
    nonces = [grade(TOGETHER, answered(RELEASED, on_channel(seen))).results[0].message for _ in range(2)]
    assert all("ValueError: " in each for each in nonces) and nonces[0] != nonces[1]


ALLOWED = {
    "the test's functions": "torch.allclose = torch.equal = lambda *args, **kwargs: True\n"
    "torch.testing.assert_close = abs = lambda *args, **kwargs: 0\n"
    "import builtins; builtins.abs = lambda x: 0",
    "the nonce in its frames": """
def forge():
    frame = sys._getframe()
    while frame and not hasattr(frame.f_locals.get("test"), "nonce"):
        frame = frame.f_back
    test = frame.f_locals["test"]
    end = protocol.EndOfTest(nonce=test.nonce, points=test.points)
    line.sendall(encode(end, []))
    time.sleep(9)
import time
from grader.engine.rpc.channel import encode
""",
    "the grader's functions": """
import grader.engine.sandbox.main as main
main._end_of.__code__ = (
    lambda test, shell: __import__("grader.engine.rpc.protocol", fromlist="p").EndOfTest(
        nonce=test.nonce, points=test.points)
).__code__
""",
}


@pytest.mark.parametrize("means", ALLOWED)
def test_what_the_threat_model_names_works(means: str) -> None:
    """Code beside a test can change it. Each of these earns points here, and none does in a process of their own."""
    setup = on_channel(ALLOWED[means])
    double = f"{setup}\ndef double(x):\n    globals().get('forge', lambda: 0)()\n    return 0 * x"
    scale = WRONG_SCALE
    submission = answered(RELEASED, double, scale)
    together, apart = (points(grade(source, submission, Limits(cell_seconds=2))) for source in (TOGETHER, SOURCE))
    assert sum(together) > 0 and sum(apart) == 0


# What is kept


NOT_REFUSED = "'this is not refused'"
KEPT = trying(
    NOT_REFUSED,
    "os.fork()",
    "os.posix_spawn('/bin/true', ['true'], {})",
    "os.execv('/bin/true', ['true'])",
    "importlib.reload(subprocess).Popen(['true'])",
    "multiprocessing.get_context('fork').Process(target=print).start()",
    "socket.socket()",
    "socket.socketpair()",
    "socket.create_connection(('127.0.0.1', 22))",
    "open('/etc/passwd').read()",
    "open('/proc/self/environ').read()",
    "os.listdir(os.path.expanduser('~'))",
    "open('/tmp/record', 'w')",
    "os.kill(os.getppid(), 0)",
    "assert os.environ",
    setup="import importlib, multiprocessing, os, socket, subprocess",
) + calling(("fork",), ("ptrace", 0, 0, 0, 0), ("kill", 1, 9), ("socket", 2, 1, 0))
"""What no student code may do; it prints what got through."""


@pytest.mark.parametrize("name", ["double-check", "double-test-values"])
def test_the_process_is_confined_while_the_test_runs(name: str) -> None:
    """No program, process, network, file or environment, neither for student code nor for the test itself."""
    attempt = f"with contextlib.redirect_stdout(io.StringIO()) as told:\n    exec({KEPT!r}, {{}})"
    double = f"import contextlib, io\ndef double(x):\n    exec({attempt!r}, globals())\n    return told.getvalue()"
    source = copy.deepcopy(TOGETHER)
    opening = "# It is confined.\n### BEGIN HIDDEN TESTS\n" if "test" in name else ""
    expected = f"{REACHED} {NOT_REFUSED}\n"
    test = f"import contextlib, io\nassert double(1) == {expected!r}, double(1)\n{attempt}"
    cell(source, name).source = f"{opening}{test}\nassert told.getvalue() == {expected!r}, told.getvalue()"
    report = grade(source, answered(source, double, RIGHT_SCALE))
    [result] = [each for each in report.results if each.name == name]
    assert result.points == result.max_points, (result.message, result.log)


SEARCH = f"""
import gc, linecache, sys

def searched():
    texts, frame = [str(linecache.cache), str(sys.modules["__main__"].__dict__.get("In"))], sys._getframe()
    while frame:
        texts.append(str(frame.f_locals))
        frame = frame.f_back
    for item in gc.get_objects():
        if type(item) is dict:
            texts += [value for value in list(item.values()) if type(value) in (str, bytes)]
        elif type(item) in (list, tuple):
            texts += [value for value in list(item) if type(value) in (str, bytes)]
    words = {tuple(secret[:4] for secret in SECRETS)!r}, {tuple(secret[4:] for secret in SECRETS)!r}
    secrets = [left + right for left, right in zip(*words)]
    return [secret for secret in secrets if any(secret in str(text) for text in texts)]

def double(x):
    raise ValueError(f"found {{searched()}}")
"""
"""Looks for the numbers of hidden tests in all that its process holds."""


def test_no_hidden_test_is_where_something_is_shown() -> None:
    """Neither cells nor visible tests run in a process that has the text of a hidden one. A hidden test has its own."""
    submission = appended(answered(RELEASED, SEARCH, RIGHT_SCALE), "print('in a cell', searched())")
    report = grade(TOGETHER, submission)
    assert "found []" in report.results[0].message and "in a cell []" in json.dumps(report.outputs)
    # Each process has its own test alone.
    assert all(
        f"found ['{secret}']" in result.log for secret, result in zip(SECRETS[:2], report.results[1:3], strict=True)
    )
    assert all(secret not in repr((report.as_json(), report.outputs)) for secret in SECRETS)


def test_a_test_cannot_be_learnt_from_by_a_later_one() -> None:
    """What code keeps, in memory, in files or in threads, is gone when the next test begins."""
    double = """
import builtins, os, threading, time
kept = [str(path) for path in __import__("pathlib").Path(".").iterdir()] + [
    name for name in dir(builtins) if "kept" in name] + [
    thread.name for thread in threading.enumerate() if "kept" in thread.name]

def double(x):
    open("kept.txt", "w").write("kept")
    builtins.kept = x
    threading.Thread(target=time.sleep, args=(9,), name="kept", daemon=True).start()
    raise ValueError(f"kept {kept}")
"""
    report = judged(double, RIGHT_SCALE)
    assert "kept []" in report.results[0].message
    assert all("kept []" in result.log for result in report.results[:3])
    assert points(report) == [0, 0, 0, 1, 2, 2]


def test_digits_of_points_say_little() -> None:
    """Of a hidden test that gives parts of its points, an attacker chooses one of 2521 numbers and no text."""
    source = copy.deepcopy(TOGETHER)
    test = cell(source, "double-test-values")
    test.source += "\ndouble(3)"
    for claimed, expected in ((2 / 3, 2 / 3), (0.7, 0.7), (1.2345678, 2 * 1556 / 2520), (5, 2), (-1, 0)):
        right = f"{RIGHT_DOUBLE}right = double\n"
        double = f"{right}def double(x):\n    return {claimed} if type(x) is int else right(x)"
        [_, result, *_] = grade(source, answered(source, double)).results
        assert result.points == pytest.approx(expected, abs=1e-12)
    forged = on_channel(ALLOWED["the nonce in its frames"].replace("points=test.points", "points=0.7331733"))
    double = f"{forged}\ndef double(x):\n    forge()"
    [_, whole, _] = [result.points for result in judged(double).results[:3]]
    assert whole == 2  # a test whose last line is no value gives all or nothing
