"""Carries what a test changes of its process to student code: settings, and what modules and classes of libraries hold.

    np.errstate(all="raise"), warnings.simplefilter("error"), np.linalg.inv = forbidden, patch.dict(os.environ, A="1")
        --Changes, with a call--> the same holds in the sandbox while student code runs, and no longer

The grader itself runs in both processes. So in both, its own code runs with everything as it was before (`Changed`).
"""

import decimal
import importlib
import io
import locale
import pickle
import pkgutil
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy

from grader.engine.rpc.exceptions import known_class, to_data
from grader.engine.rpc.message import ProtocolError, Tree
from grader.engine.rpc.protocol import ProcessChanges
from grader.engine.torch_if_used import USES_TORCH, torch

UNBOUND = object()
"""What a place holds in which there is nothing."""
SMALLEST_STACK = 20
"""Frames that student code gets at least, so that the grader's own few fit into them."""


class Place(Protocol):
    """Something that a test may change and that student code sees."""

    def read(self) -> Any: ...

    def write(self, content: Any) -> None: ...

    def differs(self, before: Any, now: Any) -> bool: ...


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting of a process. Its values are plain, and the runner pickles them.

    Args:
        words: the names of functions that change it.
        read: returns it.
        write: sets it.
        sent: makes of it what crosses.
        received: makes a value for `write` of that.
    """

    words: frozenset[str]
    read: Callable[[], Any]
    write: Callable[[Any], None]
    sent: Callable[[Any], Any] = lambda value: value
    received: Callable[[Any], Any] = lambda value: value

    def differs(self, before: Any, now: Any) -> bool:
        """Return whether two values differ."""
        return bool(before != now)


def _done(_: object) -> None:
    """Drop what a function returns that sets something."""


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame := frame.f_back:  # type: ignore[assignment]
        depth += 1
    return depth


def _write_limit(limit: int) -> None:
    with suppress(RecursionError):  # it is lower than the present depth
        sys.setrecursionlimit(limit)


def _write_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    warnings._filters_mutated()  # type: ignore[attr-defined]


DECIMAL = "prec", "rounding", "Emin", "Emax", "capitals", "clamp"


def _decimal() -> tuple[dict[str, Any], list[str]]:
    context = decimal.getcontext()
    return {name: getattr(context, name) for name in DECIMAL}, [
        signal.__name__ for signal, traps in context.traps.items() if traps
    ]


def _write_decimal(values: tuple[dict[str, Any], list[str]]) -> None:
    context = decimal.getcontext()
    for name, value in values[0].items():
        setattr(context, name, value)
    for signal in context.traps:
        context.traps[signal] = signal.__name__ in values[1]


def _pandas() -> dict[str, Any]:
    pandas: Any = sys.modules.get("pandas")
    if pandas is None:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some options are old
        return {name: pandas.get_option(name) for name in pandas._config.config._registered_options}


def _write_pandas(values: dict[str, Any]) -> None:
    pandas: Any = importlib.import_module("pandas") if values else None
    now = _pandas()
    for name, value in values.items():
        if name in now and now[name] != value:
            pandas.set_option(name, value)


def _torch_flags() -> tuple[Any, ...]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
    )


def _write_torch_flags(flags: tuple[Any, ...]) -> None:
    deterministic, warns, finds_anomalies, casts, dtype = flags
    torch.use_deterministic_algorithms(deterministic, warn_only=warns)
    torch.autograd.set_detect_anomaly(finds_anomalies)
    torch.set_autocast_enabled("cpu", casts)
    torch.set_autocast_dtype("cpu", dtype)


SETTINGS: dict[str, Setting] = {
    "warnings": Setting(
        frozenset({"simplefilter", "filterwarnings", "resetwarnings", "catch_warnings", "warns", "deprecated_call"})
        | {"suppress_warnings", "assert_no_warnings", "assert_warns", "assertWarns", "assertWarnsRegex", "recwarn"},
        lambda: list(warnings.filters),
        _write_filters,
    ),
    "floating point": Setting(
        frozenset({"errstate", "seterr"}), numpy.geterr, lambda values: _done(numpy.seterr(**values))
    ),
    "printing of arrays": Setting(
        frozenset({"printoptions", "set_printoptions"}),
        numpy.get_printoptions,
        lambda values: numpy.set_printoptions(**values),
    ),
    "recursion": Setting(
        frozenset({"setrecursionlimit"}),
        sys.getrecursionlimit,
        _write_limit,
        # Student code gets the frames that are left to the test.
        sent=lambda limit: limit - _depth(),
        received=lambda left: max(left, SMALLEST_STACK) + _depth(),
    ),
    "digits of int": Setting(
        frozenset({"set_int_max_str_digits"}), sys.get_int_max_str_digits, sys.set_int_max_str_digits
    ),
    "decimal": Setting(frozenset({"getcontext", "setcontext", "localcontext"}), _decimal, _write_decimal),
    "locale": Setting(
        frozenset({"setlocale"}),
        lambda: locale.setlocale(locale.LC_ALL),
        lambda name: _done(locale.setlocale(locale.LC_ALL, name)),
    ),
    "options of pandas": Setting(
        frozenset({"set_option", "option_context", "reset_option", "options"}), _pandas, _write_pandas
    ),
}
if USES_TORCH:
    SETTINGS["flags of torch"] = Setting(
        frozenset({"use_deterministic_algorithms", "set_detect_anomaly", "detect_anomaly", "autocast"})
        | {"set_autocast_enabled", "set_autocast_dtype"},
        _torch_flags,
        _write_torch_flags,
    )
    SETTINGS["printing of tensors"] = Setting(
        frozenset({"set_printoptions"}),
        lambda: dict(vars(torch._tensor_str.PRINT_OPTS)),
        lambda values: vars(torch._tensor_str.PRINT_OPTS).update(values),
    )

WATCHERS: dict[str, tuple[frozenset[str], Callable[[], Any]]] = {
    "sys.settrace": (frozenset({"settrace"}), sys.gettrace),
    "sys.setprofile": (frozenset({"setprofile"}), sys.getprofile),
    "tracemalloc": (frozenset({"tracemalloc"}), tracemalloc.is_tracing),
    "sys.meta_path": (frozenset({"meta_path"}), lambda: list(sys.meta_path)),
    "sys.addaudithook": (frozenset({"addaudithook"}), object),
}
"""What looks at code as it runs, by the words of its use, and how to see whether it is on. None of it can cross."""


@dataclass(frozen=True, eq=False)
class Held:
    """A name of a module or class of a library, or a key of a mapping of one, such as `os.environ`.

    Args:
        holder: "module:name" of the module, class or mapping.
        name: the name in it.
        at: the holder itself.
    """

    holder: str
    name: str
    at: Any

    def read(self) -> Any:
        """Return what it holds."""
        if isinstance(self.at, MutableMapping):
            return self.at.get(self.name, UNBOUND)
        if isinstance(self.at, type | ModuleType):
            return vars(self.at).get(self.name, UNBOUND)  # the very object: a static method of a class, say
        return getattr(self.at, self.name, UNBOUND)

    def write(self, content: Any) -> None:
        """Put something there, or remove what is there."""
        if isinstance(self.at, MutableMapping):
            if content is UNBOUND:
                self.at.pop(self.name, None)
            else:
                self.at[self.name] = content
        elif content is not UNBOUND:
            setattr(self.at, self.name, content)
        elif self.read() is not UNBOUND:
            delattr(self.at, self.name)

    def differs(self, before: Any, now: Any) -> bool:
        """Return whether something else is there now, and not just an equal value or a submodule that was loaded."""
        if before is now or before is UNBOUND and isinstance(now, ModuleType):
            return False
        return type(before) is not type(now) or not isinstance(now, str | int | float) or before != now

    @property
    def adapter(self) -> "Adapter | None":
        """What lets the content cross, if it is neither a value nor a function that student code calls."""
        return ADAPTERS.get((self.holder, self.name))


class Adapter(NamedTuple):
    """Makes a function of something that cannot cross, and of this function the same in the sandbox."""

    function: Callable[[Any], Callable]
    renewed: Callable[[Callable], Any]


def _shows(show: Callable) -> Callable[[str, str], None]:
    """Return a function that hands a warning of student code to the recorder of the test."""

    def shown(kind: str, text: str) -> None:
        category: Any = known_class(kind)
        if not (isinstance(category, type) and issubclass(category, Warning)):
            category = UserWarning
        show(warnings.WarningMessage(category(text), category, "<student code>", 1))

    return shown


def _reports(shown: Callable) -> Callable[[warnings.WarningMessage], None]:
    def report(message: warnings.WarningMessage) -> None:
        described = to_data(message.message if isinstance(message.message, Warning) else UserWarning(message.message))
        shown(described.kind, described.message)

    return report


class _Input(io.TextIOBase):
    """Standard input of which the test has the lines."""

    def __init__(self, line: Callable[[], str]) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        return self._line()

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self._line, ""))


ADAPTERS = {
    ("warnings", "_showwarnmsg_impl"): Adapter(_shows, _reports),
    ("sys", "stdin"): Adapter(lambda stream: lambda: stream.readline(), _Input),
}


def packed(contents: Mapping[Any, Any], walk: Callable[[Any], Tree]) -> ProcessChanges:
    """Return the message that carries contents of places.

    Args:
        contents: the contents.
        walk: packs a value or a function.

    Raises:
        ProtocolError, TypeError: one of them cannot cross.
    """
    names = {setting: name for name, setting in SETTINGS.items()}
    settings = {names[place]: place.sent(now) for place, now in contents.items() if isinstance(place, Setting)}
    changes = ProcessChanges()
    for place, now in contents.items():
        if isinstance(place, Held):
            function = place.adapter.function(now) if place.adapter and now is not UNBOUND else now
            changes.held.append((place.holder, place.name, [] if now is UNBOUND else [walk(function)]))
    try:
        changes.settings = pickle.dumps(settings) if settings else b""
    except Exception as error:  # whatever an object raises that cannot be pickled
        raise ProtocolError(f"the test sets what cannot reach student code ({', '.join(settings)})") from error
    return changes


def unpacked(changes: ProcessChanges, unpack: Callable[[Tree], Any]) -> dict[Any, Any]:
    """Return the contents of places in a message from the runner.

    Args:
        changes: the message.
        unpack: makes a value, or a function that calls the test's.
    """
    contents: dict[Any, Any] = {}
    for path, name, trees in changes.held:
        place = Held(path, name, pkgutil.resolve_name(path))
        contents[place] = unpack(trees[0]) if trees else UNBOUND
        if trees and place.adapter is not None:
            contents[place] = place.adapter.renewed(contents[place])
    for name, value in pickle.loads(changes.settings).items() if changes.settings else ():
        contents[SETTINGS[name]] = SETTINGS[name].received(value)
    return contents


class Changed:
    """Places that differ from what they held before; the grader's own code runs while they are as before.

    Args:
        before: what the places held.
    """

    def __init__(self, before: Mapping[Any, Any]) -> None:
        self._before = dict(before)
        self.now: dict[Any, Any] = {}
        """What those hold that differ, as the last `suspend` found it."""

    def suspend(self) -> None:
        """Restore what was there before, and remember what is there now."""
        self.now = {}
        for place, before in self._before.items():
            if place.differs(before, now := place.read()):
                self.now[place] = now
        for place in self.now:
            place.write(self._before[place])

    def resume(self) -> None:
        """Undo `suspend`."""
        for place, now in self.now.items():
            place.write(now)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Have everything as before in a `with` block."""
        self.suspend()
        try:
            yield
        finally:
            self.resume()

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Have everything as the test left it in a `with` block inside `suspended`."""
        self.resume()
        try:
            yield
        finally:
            self.suspend()


def applied(contents: Mapping[Any, Any]) -> Changed:
    """Return these contents of places, to be resumed while student code runs.

    Args:
        contents: the contents.
    """
    changed = Changed({place: place.read() for place in contents})
    changed.now = dict(contents)
    return changed
