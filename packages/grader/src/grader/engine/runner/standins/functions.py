"""Functions, methods and generators of the student's, as a test sees them."""

from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any

from grader.engine.rpc.objects.handles import Kind
from grader.engine.runner.standins.errors import StudentError
from grader.engine.runner.standins.proxies import Caller, RemoteObject, Verb, shown_name


class RemoteFunction(RemoteObject):
    """A function, method or generator of the student's.

    Args:
        client: makes its calls.
        object_id: its id in the session.
        name: its name. A test may show it to the student, so only an identifier is kept.
    """

    __slots__ = ("__name__",)

    def __init__(self, client: Caller, object_id: int, name: str) -> None:
        super().__init__(client, object_id)
        object.__setattr__(self, "__name__", shown_name(name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._client.call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<{self.__name__} of the submission>"


def next_item(client: Caller, iterator: RemoteObject) -> Any:
    """Return the next item of a student's iterator; raise StopIteration at its end."""
    try:
        return client.call(Verb.NEXT, (iterator,), {})
    except StudentError as error:
        if error.info.kind == StopIteration.__name__:
            raise StopIteration from None
        raise


def _claim(name: str) -> Any:
    return property(lambda self: self._client.call(Verb.GET, (self, name), {}))


def _stand_in(kind: Kind, cls: type, **methods: Any) -> type[RemoteFunction]:
    """Return the class of stand-ins for objects of one kind. Only type() tells that they are none."""
    looks = {"__class__": property(lambda self: cls), "__doc__": _claim("__doc__"), "__module__": _claim("__module__")}
    return type(kind.value, (RemoteFunction,), {"__slots__": (), **looks, **methods})


STAND_INS: dict[Kind, type[RemoteFunction]] = {
    Kind.FUNCTION: _stand_in(Kind.FUNCTION, FunctionType),
    Kind.BUILTIN: _stand_in(Kind.BUILTIN, BuiltinFunctionType),
    Kind.METHOD: _stand_in(Kind.METHOD, MethodType),
    Kind.GENERATOR: _stand_in(
        Kind.GENERATOR,
        GeneratorType,
        __iter__=lambda self: self,
        __next__=lambda self: next_item(self._client, self),
        __call__=None,
    ),
}
