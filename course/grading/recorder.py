"""Keeps what tests said and were answered, for whoever wants to know afterwards how a student's code behaves."""

Exchanges = list[tuple[bytes, bytes]]
"""Messages and the answers to them, as they crossed."""

MAX_EXCHANGES = 40
"""Exchanges of one test that are kept: enough to tell mistakes apart, few enough for a test that trains."""
MAX_BYTES = 32 * 2**20
"""What all that is kept may hold: a candidate may answer with as much as can cross."""


class Recorder:
    """The first exchanges of each test of a notebook, by exercise."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchanges] = {}
        self._room = MAX_BYTES
        self._broken: set[int] = set()

    def keep(self, exercise: str, talk: int, exchanges: Exchanges) -> None:
        """A test of `exercise` said and heard this, in a conversation that has the number `talk` if others share it."""
        kept = self.exchanges.setdefault(exercise, [])
        for said, heard in exchanges[:MAX_EXCHANGES]:
            self._room -= len(said) + len(heard)
            if self._room < 0 or talk in self._broken:
                break
            kept.append((said, heard))
        else:
            if len(exchanges) <= MAX_EXCHANGES:
                return
        if talk:
            # What becomes of its objects from here on is not kept, so nothing can be said of them any more.
            self._broken.add(talk)

    def forget(self, exercises: set[str]) -> None:
        """Another candidate comes; of these exercises only what it answers counts."""
        self._broken.clear()
        for exercise in exercises:
            self.exchanges.pop(exercise, None)
