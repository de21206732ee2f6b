"""Student code finds the process as the test left it: settings, attributes of libraries, the environment, warnings."""

import math
import os
import random
import sys
import warnings

import numpy
import pytest

from grader.engine.explanation import Cause, EndingKind
from grader.engine.grading import grade
from grader.engine.limits import Limits
from grader.engine.runner.names.process_watch import sources_used, watched
from grader.engine.runner.standins.client import RpcClient
from tests.support.notebooks import answer, check, helpers, hidden, notebook

NO = "def no(*args, **kwargs):\n    raise AssertionError('forbidden')\n"

CASES = {
    "warnings are errors": (
        "def f(x):\n    return sum(x) / len(x) if x else 0.0",
        "import numpy as np\ndef f(x):\n    return float(np.nan_to_num(np.mean(x)))",
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')\n    assert f([]) == 0",
    ),
    "a warning is expected": (
        "import warnings\ndef f():\n    warnings.warn('use g', DeprecationWarning)",
        "import warnings\ndef f():\n    warnings.warn('use g', UserWarning)",
        "import warnings\nwith warnings.catch_warnings(record=True) as log:\n    warnings.simplefilter('always')\n"
        "    f()\nassert [w.category for w in log] == [DeprecationWarning] and 'use g' in str(log[0].message)",
    ),
    "numpy raises": (
        "import numpy as np\ndef f(x):\n    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)",
        "import numpy as np\ndef f(x):\n    return np.where(x != 0, 1.0 / x, 0.0)",
        "import numpy as np\nwith np.errstate(all='raise'):\n    assert f(np.array([0.0, 2.0])).tolist() == [0, 0.5]",
    ),
    "few frames": (
        "def f(n):\n    return n * (n + 1) // 2",
        "def f(n):\n    return n and n + f(n - 1)",
        "import sys\nbefore = sys.getrecursionlimit()\nsys.setrecursionlimit(200)\nassert f(500) == 125250\n"
        "sys.setrecursionlimit(before)",
    ),
    "the environment": (
        "import os\ndef f():\n    return os.environ.get('KEY')",
        "def f():\n    return 'a'",
        "import os\nfrom unittest.mock import patch\nos.environ['KEY'] = 'a'\nassert f() == 'a'\n"
        "del os.environ['KEY']\nassert f() is None\nwith patch.dict(os.environ, KEY='b'):\n    assert f() == 'b'",
    ),
    "under another name": (
        "def f(m):\n    return m[0, 0] * m[1, 1]",
        "import numpy as np\ndef f(m):\n    return np.linalg.det(m)",
        f"import numpy as np\n{NO}la = getattr(np, 'linalg')\nla.det = no\nassert f(np.eye(2)) == 1",
    ),
    "what a spy counts": (
        "import numpy as np\ndef f(a):\n    return np.dot(a, a)",
        "def f(a):\n    return sum(x * x for x in a)",
        "import numpy as np\nreal, calls = np.dot, []\nnp.dot = lambda *a: calls.append(a) or real(*a)\n"
        "assert f(np.ones(3)) == 3 and len(calls) == 1",
    ),
    "an inherited method": (
        "import torch\ndef f(x):\n    return torch.where(x > 0, x, 0.0)",
        "def f(x):\n    return x.clamp(min=0)",
        f"import torch\n{NO}from unittest.mock import patch\nwith patch.object(torch.Tensor, 'clamp', no):\n"
        "    assert f(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]",
    ),
    "Python's own": (
        "def f(x):\n    x = list(x)\n    x.sort()\n    return x",
        "def f(x):\n    return sorted(x)",
        "from unittest.mock import patch\nwith patch('builtins.sorted', side_effect=AssertionError('forbidden')):\n"
        "    assert f([2, 1]) == [1, 2]",
    ),
    "what the grader itself calls": (
        "def f(x):\n    return x[0] + x[1]",
        "def f(x):\n    return sum(x)",
        f"import builtins\n{NO}builtins.sum = builtins.len = builtins.sorted = no\nassert f([2, 1]) == 3",
    ),
    "a name that only the wrong answer imports": (
        "def f(x):\n    return x[::-1]",
        "from numpy import flip\ndef f(x):\n    return flip(x).tolist()",
        f"{NO}flip = no\nassert f([1, 2]) == [2, 1]",
    ),
    "a library is missing": (
        "def f(x):\n    return sum(x) / len(x)",
        "def f(x):\n    import statistics\n    return statistics.mean(x)",
        "import sys\nfrom unittest.mock import patch\nwith patch.dict(sys.modules, {'statistics': None}):\n"
        "    assert f([1, 3]) == 2",
    ),
    "a clock that stands": (
        "import time\ndef f():\n    return int(time.time())",
        "def f():\n    return 6",
        "from unittest import mock\nwith mock.patch('time.time', return_value=5.5):\n    assert f() == 5",
    ),
    "a nap that is counted": (
        "import time\ndef f():\n    time.sleep(99)",
        "def f():\n    pass",
        "from unittest.mock import patch\nwith patch('time.sleep') as nap:\n    f()\nnap.assert_called_once_with(99)",
    ),
    "decimals": (
        "from decimal import Decimal\ndef f():\n    return Decimal(1) / Decimal(3)",
        "from decimal import Decimal\ndef f():\n    return Decimal('0.33333')",
        "import decimal\nwith decimal.localcontext() as context:\n    context.prec = 3\n    assert str(f()) == '0.333'",
    ),
    "digits that are printed": (
        "def f(x):\n    return str(x)",
        "def f(x):\n    return '[0.33333333]'",
        "import numpy as np\nwith np.printoptions(precision=2):\n    assert f(np.array([1 / 3])) == '[0.33]'",
    ),
    "lines of input": (
        "import sys\ndef f():\n    return int(sys.stdin.readline())",
        "def f():\n    return 3",
        "import io, sys\nsys.stdin = io.StringIO('3\\n4\\n')\nassert f() == 3 and f() == 4",
    ),
    "many at once": (
        "def f(m):\n    return m[0, 0] * m[1, 1]",
        "import numpy as np\ndef f(m):\n    return np.linalg.det(m)",
        f"import numpy as np\n{NO}for name in np.linalg.__all__:\n    setattr(np.linalg, name, no)\n"
        "assert f(np.eye(2)) == 1",
    ),
}


class Channel:
    """A channel that is not used."""

    def send(self, message, tensors):
        raise AssertionError

    def receive(self):
        raise AssertionError


def results(test: str, right: str, submitted: str, *before: str):
    source, submission = (
        notebook(
            *(helpers(f"ours{n}", text) for n, text in enumerate(before)),
            answer("f", text),
            check("forbids", test),
            hidden("after", "It runs.", "f"),
        )
        for text in (right, submitted)
    )
    return grade(source, submission, Limits(cell_seconds=20)).results


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong", "test"), CASES.values(), ids=[name.replace(" ", "-") for name in CASES])
def test_what_a_test_sets_or_replaces_holds_for_student_code(right, wrong, test):
    """The right answer passes, as in one process, and one that breaks the rule fails."""
    assert [result.points for result in results(test, right, right)] == [1, 1]
    assert [result.points for result in results(test, right, wrong)] == [0, 1]


def test_a_helper_of_a_helpers_cell_may_set_it():
    right, wrong, _ = CASES["under another name"]
    helper = f"import numpy as np\n{NO}def forbid(module, name):\n    setattr(module, name, no)"
    test = "forbid(np.linalg, 'det')\nassert f(np.eye(2)) == 1"
    assert results(test, right, right, helper)[0].points == 1
    assert results(test, right, wrong, helper)[0].points == 0


@pytest.mark.parametrize(
    "test",
    [
        "import sys\nsys.setprofile(print)\ntry:\n    f()\nfinally:\n    sys.setprofile(None)",
        "import tracemalloc\ntracemalloc.start()\ntry:\n    f()\nfinally:\n    tracemalloc.stop()",
        "import math\nmath.sqrt = object()\nf()",
        "import warnings\nclass Own(Warning):\n    pass\nwarnings.simplefilter('error', Own)\nf()",
    ],
)
def test_what_cannot_be_carried_over_is_refused(test):
    """The test is called unfit, whatever the answer, and costs no student a point unnoticed."""
    result, _ = results(test, "def f():\n    return 1", "def f():\n    return 2")
    assert result.explanation.cause is Cause.UNGRADABLE and result.ending.kind is EndingKind.BOUNDARY


def test_nothing_stays_in_the_process_of_the_tests():
    """Neither what a test replaced nor what it set holds for the next one."""
    before = math.sqrt, random.random, warnings.filters[:], numpy.geterr(), sys.getrecursionlimit(), dict(os.environ)
    source = (
        "import math, random, warnings, os, sys\nimport numpy as np\nmath.sqrt = random.random = print\n"
        "warnings.simplefilter('error')\nnp.seterr(all='raise')\nsys.setrecursionlimit(5000)\nos.environ['A'] = 'b'"
    )
    with watched(RpcClient(Channel()), sources_used(source, [], {}), {}):
        exec(source, {})
    after = math.sqrt, random.random, warnings.filters[:], numpy.geterr(), sys.getrecursionlimit(), dict(os.environ)
    assert before == after


@pytest.mark.slow
@pytest.mark.parametrize(
    "test", ["import pytest\npytest.fail('no')", "import pytest\nwith pytest.raises(KeyError):\n    f()"]
)
def test_what_pytest_raises_ends_the_test_and_nothing_else(test):
    assert [result.points for result in results(test, "def f():\n    return 1", "def f():\n    return 1")] == [0, 1]
