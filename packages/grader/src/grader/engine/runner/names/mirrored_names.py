"""Lets a test reach into the names of the student's process, as if it ran there.

    del squares; squares = fake      --before the next call--> the same happens in the sandbox, until the test ends
    "squares" in globals(), dir()    --> the names of the sandbox
    patch("__main__.squares")        --> both

Only tests whose source does such a thing pay for it. What a name holds is the student's claim, as everywhere.
"""

import builtins
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import Any

from grader.engine.runner.standins.client import RpcClient
from grader.engine.runner.standins.errors import StudentError
from grader.engine.runner.standins.proxies import Verb

UNBOUND = object()
"""The value of a name that is not bound."""


class MirroredNames:
    """Repeats in the sandbox what a test does to names that student code uses.

    Args:
        client: the test's session.
        namespace: the names of the runner.
        names: the names to watch.
    """

    def __init__(self, client: RpcClient, namespace: dict[str, Any], names: Iterable[str]) -> None:
        self._client, self._namespace = client, namespace
        self._first = {name: self._now(name) for name in names}
        self._seen = dict(self._first)

    def watch(self, name: str) -> None:
        """Repeat from now on what happens to a name, too."""
        if name not in self._seen:
            self._first[name] = self._seen[name] = self._now(name)

    def repeat(self) -> None:
        """Repeat the changes since the last call."""
        self._client.before_call = None
        try:
            for name, before in self._seen.items():
                now = self._now(name)
                if now is not before:
                    self._seen[name] = now
                    if now is self._first[name]:
                        self._client.call(Verb.RESTORE, ([name],), {})
                    elif now is UNBOUND:
                        self._client.call(Verb.UNBIND, (name,), {})
                    else:
                        self._client.bind(name, now)
        finally:
            self._client.before_call = self.repeat

    def end(self) -> None:
        """Give the names in the sandbox the values back that they had before the test."""
        self._client.before_call = None
        if changed := [name for name, last in self._seen.items() if last is not self._first[name]]:
            with suppress(StudentError):
                self._client.call(Verb.RESTORE, (changed,), {})

    def _now(self, name: str) -> Any:
        return self._namespace.get(name, UNBOUND)


@contextmanager
def mirrored(client: RpcClient, namespace: dict[str, Any], names: Iterable[str]) -> Iterator[MirroredNames]:
    """Repeat in the sandbox what a `with` block does to names, and restore them after it.

    Args:
        client: the test's session.
        namespace: the names of the runner.
        names: the names to watch.
    """
    mirror = MirroredNames(client, namespace, names)
    client.before_call = mirror.repeat
    try:
        yield mirror
    except Exception:  # anything else ends the sandbox
        mirror.end()
        raise
    mirror.end()


class AllNames(MutableMapping[str, Any]):
    """What `globals()` returns in a test: the names of the runner, and those of the sandbox, which it fetches on use.

    Args:
        namespace: the names of the runner.
        mirror: repeats changes in the sandbox.
        names: returns the names in the sandbox.
        fetch: returns the object of a name in the sandbox, if there is one.
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        mirror: MirroredNames,
        names: Callable[[], Iterable[str]],
        fetch: Callable[[str], dict[str, Any]],
    ) -> None:
        self._namespace, self._mirror, self._names, self._fetch = namespace, mirror, names, fetch
        self._own = {"globals": self._globals, "locals": self._locals, "vars": self._vars, "dir": self._dir}
        self.fetched: set[str] = set()
        """The student's names that were fetched or replaced."""

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Have `globals`, `locals`, `vars` and `dir` show these names in a `with` block."""
        before = {name: self._namespace[name] for name in self._own.keys() & self._namespace.keys()}
        self._namespace.update(self._own | before)
        main, sys.modules["__main__"] = sys.modules["__main__"], _Main(self)
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            for name in self._own.keys() - before.keys() | self.fetched:
                self._namespace.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def __iter__(self) -> Iterator[str]:
        own = [name for name in self._namespace if name not in self._own]
        return iter(dict.fromkeys([*own, *self._names()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._namespace and (found := self._fetch(name)):
            self._namespace.update(found)
            self.fetched.add(name)
            self._mirror.watch(name)
        return self._namespace[name]

    def __setitem__(self, name: str, item: Any) -> None:
        if name not in self._namespace and name in self._names():
            self.fetched.add(name)
        self._mirror.watch(name)
        self._namespace[name] = item

    def __delitem__(self, name: str) -> None:
        self[name]
        del self._namespace[name]

    def _globals(self) -> "AllNames":
        return self

    def _locals(self) -> Any:
        return self._of(sys._getframe(1))

    def _vars(self, *item: Any) -> Any:
        return builtins.vars(*item) if item else self._of(sys._getframe(1))

    def _dir(self, *item: Any) -> list[str]:
        return builtins.dir(*item) if item else sorted(self._of(sys._getframe(1)))

    def _of(self, frame: FrameType) -> Any:
        """Return these names at the top level of a cell, and the local ones in a function."""
        return self if frame.f_locals is frame.f_globals else frame.f_locals


class _Main(ModuleType):
    """The module `__main__` in a test: its attributes are all names."""

    def __init__(self, names: AllNames) -> None:
        super().__init__("__main__")
        vars(self)["_names"] = names

    def __getattr__(self, name: str) -> Any:
        try:
            return vars(self)["_names"][name]
        except KeyError:
            raise AttributeError(f"module '__main__' has no attribute {name!r}") from None

    def __setattr__(self, name: str, item: Any) -> None:
        vars(self)["_names"][name] = item

    def __delattr__(self, name: str) -> None:
        del vars(self)["_names"][name]
