"""Finds what a test changes of its process, so that student code meets it: settings, and attributes of libraries.

source of the test and of what it uses --words, chains of names--> places to watch --before a call--> what has changed

A static look at the source decides what is watched, so that ordinary tests pay nothing. What is watched has its old
content again while the grader's own code runs, and after the test.
"""

import ast
import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from grader.engine.notebook.names import names_bound, names_used
from grader.engine.rpc.state.process_state import SETTINGS, WATCHERS, Changed, Held
from grader.engine.runner.standins.call import CannotPass
from grader.engine.runner.standins.client import RpcClient

MAIN = "__main__"
LONGEST = 100
"""Characters of a string that may be the name of something."""
PATCHES = frozenset(
    {
        "patch",
        "setattr",
        "delattr",
        "monkeypatch",
        "MonkeyPatch",
        "setitem",
        "delitem",
        "setenv",
        "delenv",
        "patch_object",
    }
)
"""Functions that replace an attribute or a key whose name they are given."""
LISTS = frozenset({"dir", "vars", "__dict__", "__all__", "getmembers"})
"""Words of a source that may replace attributes whose names it does not hold."""
CROSS_OTHERWISE = {"stdout", "stderr", "__name__", "__file__", "__doc__", "__dict__", "__builtins__"}
"""Names that are watched in no module: what is printed has a path of its own."""
OWN = frozenset({"grader", "grader_kernel"})


class Mentioned(NamedTuple):
    """What a source mentions.

    Args:
        imports: the full dotted names of its imports, by the names that they bind.
        words: all its names and names of attributes.
        keys: its strings, and the names of keyword arguments.
        new: the attributes that it assigns or deletes.
        chains: its dotted names: `np.linalg.inv`.
        written: the dotted names before an attribute that it assigns or deletes.
        keyed: those before a key.
        bound: the names that it binds by anything but an import.
    """

    imports: Mapping[str, str]
    words: frozenset[str]
    keys: frozenset[str]
    new: frozenset[str]
    chains: frozenset[str]
    written: frozenset[str]
    keyed: frozenset[str]
    bound: frozenset[str]


@lru_cache(maxsize=1024)
def mentioned(source: str) -> Mentioned:
    """Return what a source mentions; nothing for one that is no Python."""
    words, keys, new, chains, written, keyed, bound = (set[str]() for _ in range(7))
    imports: dict[str, str] = {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ctx):
                words.add(name)
                chains.add(name)
                bound.update(() if isinstance(ctx, ast.Load) else [name])
            case ast.Attribute(value=value, attr=name, ctx=ctx):
                words.add(name)
                if chain := _chain(node):
                    chains.add(chain)
                if not isinstance(ctx, ast.Load) and (chain := _chain(value)):
                    written.add(chain)
                    new.add(name)
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if chain := _chain(value):
                keyed.add(chain)
            case ast.keyword(arg=str(name)):
                keys.add(name)
            case ast.Constant(value=str(text)) if len(text) <= LONGEST:
                keys.add(text)
            case ast.arg(arg=name):
                words.add(name)
            case ast.Import(names=names):
                for alias in names:
                    words.add(alias.name)
                    top = alias.name.partition(".")[0]
                    imports[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    words.add(alias.name)
                    imports[alias.asname or alias.name] = f"{module}.{alias.name}"
    return Mentioned(imports, *map(frozenset, (words, keys, new, chains, written, keyed, bound)))


def _chain(node: ast.AST) -> str:
    """Return `a.b.c` for a dotted name, '' for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class ProcessWatch(Changed):
    """The places that a test may change, with what they held before it.

    Args:
        before: what they held.
        tools: what looks at code as it runs, by name, and whether it was on.
    """

    def __init__(self, before: Mapping[Any, Any], tools: Mapping[str, Any]) -> None:
        super().__init__(before)
        self._tools = tools

    def suspend(self) -> None:
        """Restore what was there before, for the grader's own code.

        Raises:
            CannotPass: the test has switched something on that does not reach into another process.
        """
        for name, before in self._tools.items():
            if WATCHERS[name][1]() != before:
                raise CannotPass(f"{name} sees nothing of student code, which runs in another process")
        super().suspend()


@contextmanager
def watched(client: RpcClient, sources: tuple[str, ...], namespace: Mapping[str, Any]) -> Iterator[None]:
    """Have student code find, in a `with` block, what the test changes of its process; restore it afterwards.

    Args:
        client: the test's session.
        sources: the test, and what it uses; see `sources_used`.
        namespace: the names of the runner.
    """
    needs = _needs(sources)
    tools = {name: WATCHERS[name][1]() for name in needs.tools}
    places = [*needs.places, *_held(needs, sources, namespace)]
    if not places and not tools:
        yield
        return
    client.process = watch = ProcessWatch({place: place.read() for place in places}, tools)
    try:
        yield
    finally:
        client.process = None
        Changed.suspend(watch)


def sources_used(source: str, cells: Iterable[str], namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a test with the author's cells and modules whose names it uses.

    Args:
        source: the test.
        cells: the read-only cells.
        namespace: the names of the runner.
    """
    sources, rest = [source], list(cells)
    for each in sources:
        used = names_used(each)
        sources += (found := [cell for cell in rest if not names_bound(cell).isdisjoint(used)])
        rest = [cell for cell in rest if cell not in found]
    modules = {_module_of(namespace[name]) for each in sources for name in names_used(each) if name in namespace}
    return *sources, *sorted(filter(None, map(_text, modules)))


def _module_of(item: Any) -> str:
    name = item.__name__ if isinstance(item, ModuleType) else getattr(item, "__module__", None)
    return name if isinstance(name, str) else ""


@lru_cache(maxsize=256)
def _text(module: str) -> str:
    """Return the source of a module that the author wrote, '' for one of Python, of an installed package or of ours."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    installed = "site-packages" in file or module.partition(".")[0] in OWN | sys.stdlib_module_names
    return "" if installed or not file.endswith(".py") else Path(file).read_text(errors="replace")


class _Needs(NamedTuple):
    """What sources may change, as far as the namespace does not matter."""

    places: list[Any]
    tools: list[str]
    patches: bool
    lists: bool
    names: frozenset[str]
    keys: frozenset[str]
    new: frozenset[str]


@lru_cache(maxsize=1024)
def _needs(sources: tuple[str, ...]) -> _Needs:
    found = [mentioned(source) for source in sources]
    words = frozenset[str]().union(*(each.words for each in found))
    keys = frozenset[str]().union(*(each.keys for each in found))
    places: list[Any] = [setting for setting in SETTINGS.values() if setting.words & words]
    if SETTINGS["warnings"] in places:
        places += [Held("warnings", name, warnings) for name in ("showwarning", "_showwarnmsg_impl")]
    return _Needs(
        places,
        [name for name, (used, _) in WATCHERS.items() if used & words],
        # la = numpy.linalg; la.inv = forbidden
        bool(words & PATCHES) or any(chain.partition(".")[0] in each.bound for each in found for chain in each.written),
        bool(words & LISTS),
        words.union(*({text, text.rpartition(".")[2]} for text in keys)),
        keys,
        frozenset[str]().union(*(each.new for each in found)),
    )


def _held(needs: _Needs, sources: Iterable[str], namespace: Mapping[str, Any]) -> list[Held]:
    """Return the places in modules, classes and mappings of libraries that the sources may change."""
    holders: dict[str, Any] = {}
    for each in map(mentioned, sources):
        for chain in each.chains if needs.patches else each.written | each.keyed:
            for path, at in _holders(_path(chain, each, namespace)).items():
                holders[path] = at
                # la = getattr(numpy, "linalg")
                inner = {key: vars(at).get(key) for key in needs.keys} if isinstance(at, ModuleType) else {}
                holders |= {f"{path}.{key}": item for key, item in inner.items() if isinstance(item, ModuleType)}
        for text in each.keys if needs.patches else ():
            if "." in text and text.replace(".", "_").isidentifier():
                chain = text.removeprefix(f"{MAIN}.")
                holders |= _holders(_path(chain, each, namespace) if chain != text else _imported(text))
    return [Held(path, name, at) for path, at in holders.items() for name in _names_in(at, needs) - CROSS_OTHERWISE]


def _names_in(at: Any, needs: _Needs) -> set[str]:
    if isinstance(at, MutableMapping):
        return {*needs.keys, *(name for name in at if isinstance(name, str))} if needs.lists else {*needs.keys}
    if needs.lists and isinstance(at, ModuleType | type):
        return {*dir(at), *needs.new}
    return {name for name in needs.names if hasattr(at, name)} | needs.new


def _path(chain: str, source: Mentioned, namespace: Mapping[str, Any]) -> str:
    """Return the full dotted name of one whose first part is bound to something of a library, '' for others."""
    first, _, rest = chain.partition(".")
    if first in source.imports:
        path = _imported(source.imports[first])
    elif first == "__builtins__":
        path = "builtins"
    else:
        item = namespace.get(first)
        path = item.__name__ if isinstance(item, ModuleType) else ""
        if isinstance(item, type) and _holders(full := f"{item.__module__}.{item.__qualname__}").get(full) is item:
            path = full
    return ".".join(filter(None, (path, rest))) if path else ""


def _imported(path: str) -> str:
    """Import as much of a dotted name as is a module, as the test will; return the name, '' if nothing is."""
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        try:
            importlib.import_module(".".join(parts[:count]))
        except Exception:  # whatever a module raises
            return path if count > 1 else ""
    return path


def _holders(path: str) -> dict[str, Any]:
    """Return the modules, classes and mappings along a dotted name, by names for pkgutil.resolve_name."""
    holders: dict[str, Any] = {}
    item: Any = None
    parts = path.split(".")
    for count, part in enumerate(parts, 1):
        name = ".".join(parts[:count])
        item = sys.modules[name] if name in sys.modules else getattr(item, part, None)
        if item is None or not _is_of_library(name):
            break
        if isinstance(item, ModuleType | type | MutableMapping) or _module_of(type(item)).startswith("pandas."):
            holders[name] = item
    return holders


def _is_of_library(name: str) -> bool:
    return name.partition(".")[0] not in OWN | {MAIN}
