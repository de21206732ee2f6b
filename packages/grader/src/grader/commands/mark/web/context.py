"""Holds what all handlers share: the assignments, the thread that marks, and the windows that hold answers or wait.

handlers (event loop) --call--> one thread: Marking, gradebook, record
       ^                                    |
       +--- changed() <--- watch() ---------+   what the formgrader or a class run changed
"""

import asyncio
import logging
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import msgspec

from grader.classroom.course_dir import CourseDir
from grader.classroom.web.refusal import Refusal
from grader.commands.mark.answers import Rendered
from grader.commands.mark.groups import GroupState
from grader.commands.mark.leases import Leases, Window
from grader.commands.mark.marking import Marking
from grader.commands.mark.questions import Question
from grader.commands.mark.web.access import Access
from grader.errors import GraderError
from grader.text import one_line

log = logging.getLogger("grader.commands.mark")
LOOK_SECONDS = 1.0
"""How often the gradebook is read for changes of other programs, while a page is open."""
RENDER_SECONDS = 0.03
"""Seconds for which answers are rendered before the thread takes the next request; known ones take no time."""
Value = TypeVar("Value")


class Place(NamedTuple):
    """A question of an assignment."""

    assignment: str
    notebook: str
    cell: str


class MarkingContext:
    """The context that the handlers share."""

    def __init__(self, course_dir: CourseDir, assignments: Sequence[str], access: Access, lease_seconds: float) -> None:
        """Begin without reading anything.

        Args:
            course_dir: the course folder.
            assignments: the names of the assignments.
            access: identifies markers.
            lease_seconds: how long an answer is held.
        """
        self.assignments, self.access = list(assignments), access
        self.leases = Leases(lease_seconds)
        self._course_dir = course_dir
        # One thread: answers, rows and the order of marks belong together.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="marking")
        self._markings: dict[str, Marking] = {}
        self._news: defaultdict[Place, asyncio.Event] = defaultdict(asyncio.Event)
        self._watched: Counter[Place] = Counter()

    async def call(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """Call a function in the thread that marks, and return its result; raise Refusal for a GraderError."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        except GraderError as error:
            raise Refusal(400, str(error)) from None

    async def marking(self, assignment: str) -> Marking:
        """Return the marking of an assignment, which begins with the first request."""
        if assignment not in self.assignments:
            raise Refusal(404, f"there is no assignment {one_line(assignment, 100)!r} to mark")
        return await self.call(self._marking, assignment)

    async def question(self, place: Place) -> tuple[Marking, Question]:
        """Return the marking of a question, and the question."""
        marking = await self.marking(place.assignment)
        question = marking.questions.get((place.notebook, place.cell))
        if question is None:
            raise Refusal(404, "there is no such question: its cell may have been renamed")
        return marking, question

    def shown(self, place: Place, state: GroupState) -> dict[str, Any]:
        """Return the state of a group for a page: who holds it, too."""
        holder = self.leases.holder((place, state.group))
        form: dict[str, Any] = msgspec.to_builtins(state)
        return form | {"holder": holder.marker if holder else "", "tab": holder.tab if holder else ""}

    async def held_changed(self, answers: Sequence[Any]) -> None:
        """Tell all windows that the holder of some answers changed."""
        for place, group in answers:
            marking, question = await self.question(place)
            await self.call(marking.touch, question, [group])
            self.tell(place)

    def tell(self, place: Place) -> None:
        """Wake all windows that wait for news of a question."""
        self._news.pop(place, asyncio.Event()).set()

    async def news(self, place: Place, marking: Marking, question: Question, after: int, seconds: float) -> None:
        """Wait until something of a question changed, or some seconds."""
        with self._watching(place):
            end = asyncio.get_running_loop().time() + seconds
            while marking.revision(question) <= after:
                left = end - asyncio.get_running_loop().time()
                if left <= 0:
                    return
                try:
                    await asyncio.wait_for(self._news[place].wait(), left)
                except TimeoutError:
                    return

    async def release(self, window: Window) -> None:
        """Let go of what a window holds."""
        await self.held_changed(self.leases.release(window))

    async def watch(self) -> None:
        """Look for changes of other programs, and for windows that no longer answer, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.held_changed(self.leases.expired())
                for place in list(self._watched):
                    marking, question = await self.question(place)
                    before = marking.revision(question)
                    if await self.call(marking.refresh, question) > before:
                        self.tell(place)
            except Refusal as refusal:
                log.warning("the gradebook was not read: %s", refusal.why)

    async def render_ahead(self) -> None:
        """Render the answers of all questions, so that pages open at once; other requests go before.

        On a hub, which may offer all assignments of a course, each page does it when it is opened.
        """
        for assignment in self.assignments if len(self.assignments) == 1 else ():
            try:
                marking = await self.marking(assignment)
                for progress in await self.call(marking.progress):
                    await self.call(marking.refresh, progress.question)
                    await self.html(marking, progress.question)
            except Refusal as refusal:
                log.warning("%s: %s", assignment, refusal.why)

    async def html(self, marking: Marking, question: Question) -> dict[str, Rendered]:
        """Return the rendered answers of all groups of a question."""
        groups = deque(state.group for state in marking.states(question) if state.students)
        found: dict[str, Rendered] = {}

        def some() -> None:
            end = time.monotonic() + RENDER_SECONDS
            while groups and time.monotonic() < end:
                found[groups[0]] = marking.rendered(question, groups[0])
                groups.popleft()

        while groups:
            await self.call(some)
        return found

    def close(self) -> None:
        """Finish what is being written, and close the gradebooks."""
        self._thread.shutdown(wait=True)
        for marking in self._markings.values():
            marking.close()

    def _marking(self, assignment: str) -> Marking:
        if assignment not in self._markings:
            self._markings[assignment] = Marking(self._course_dir, assignment)
        return self._markings[assignment]

    @contextmanager
    def _watching(self, place: Place) -> Iterator[None]:
        self._watched[place] += 1
        try:
            yield
        finally:
            self._watched[place] -= 1
            if not self._watched[place]:
                del self._watched[place]
