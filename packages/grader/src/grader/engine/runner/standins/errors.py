"""Exceptions that student code raised, as a test catches them."""

from typing import Any

from grader.engine.rpc.exceptions import known_class
from grader.engine.rpc.objects.handles import Handle, ObjectRef
from grader.engine.rpc.protocol import ErrorInfo
from grader.engine.runner.standins.proxies import Caller, Operation, Verb, checked_attribute


class StudentError(Exception):
    """Student code raised while a test called it; `info` describes the exception. Other attributes are its own."""

    info: ErrorInfo
    _client: "Caller | None" = None
    _object_id = 0
    _was_raised = True
    """Whether student code raised it, rather than a test made it."""

    def __init_subclass__(cls) -> None:
        pass  # before that of a library's class

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "info" or self._client is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return checked_attribute(self._client.call(Verb.GET, (self, name), {}), name)

    @property
    def args(self) -> tuple[Any, ...]:  # type: ignore[override]  # nothing assigns it
        """The arguments of the student's exception."""
        return (self.info.message,) if self._client is None else self._client.call(Verb.GET, (self, "args"), {})

    def __str__(self) -> str:
        if self._was_raised or self._client is None:
            return self.info.message
        return self._client.call(Operation("__str__"), (self,), {})

    def __handle__(self) -> Handle | None:
        return None if self._client is None else ObjectRef(object_id=self._object_id)


def local_error(
    info: ErrorInfo, client: "Caller | None" = None, object_id: int = 0, of: type[StudentError] | None = None
) -> StudentError:
    """Return an exception that a test can catch as a StudentError, by its built-in class or by the student's class.

    Args:
        info: the description.
        client: makes calls for the attributes of the exception.
        object_id: its id in the session.
        of: the stand-in of its class, if student code defined it.
    """
    kind = known_class(info.kind)
    if kind is StopIteration:
        # It would end a loop of the test over calls (map, zip). A stand-in's __next__ checks `info`.
        kind = RuntimeError
    kinds = (kind,) if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception else ()
    if of is None:
        try:
            # Some built-in classes need more than a message.
            of = type("StudentError", (StudentError, *kinds), {"__init__": lambda self: None})
            error = of()
        except TypeError:
            error = StudentError(info.message)
    else:
        try:
            error = of.__new__(of)
        except TypeError:
            return local_error(info, client, object_id)
    error.info = info
    error._client, error._object_id = client, object_id
    return error
