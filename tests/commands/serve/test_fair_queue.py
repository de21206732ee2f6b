"""One job of a student at a time, and a flood by one student delays no other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.commands.serve.fair_queue import FairQueue, Ticket

STUDENTS, NOTEBOOKS = "abc", "xyz"
events = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(STUDENTS), st.sampled_from(NOTEBOOKS)),
        st.tuples(st.just("take")),
        st.tuples(st.just("done"), st.sampled_from(STUDENTS)),
    ),
    max_size=60,
)


def ticket(key: object, student: str, notebook: str = "x") -> Ticket:
    """A ticket for a notebook of the one assignment."""
    return Ticket(str(key), student, "01", notebook)


def emptied(queue: FairQueue) -> list[str]:
    """Take all hand-ins, one job at a time, and return their ids."""
    order = []
    while (taken := queue.take()) is not None:
        order.append(taken.id)
        queue.done(taken.student)
    return order


@settings(max_examples=60)
@given(events)
def test_every_ticket_is_taken_once_or_superseded(steps: list[tuple[str, ...]]) -> None:
    """In any order of events; a student never has two jobs, and only the newest of a notebook is ever taken."""
    queue, running, superseded, taken = FairQueue(), set(), set(), []
    newest: dict[tuple[str, str], str] = {}
    for number, (kind, *names) in enumerate(steps):
        if kind == "add":
            older = queue.add(ticket(number, *names))
            if older is not None:
                assert newest[older.student, older.notebook] == older.id
                superseded.add(older.id)
            newest[names[0], names[1]] = str(number)
        elif kind == "take" and (job := queue.take()) is not None:
            assert job.student not in running and newest[job.student, job.notebook] == job.id
            running.add(job.student)
            taken.append(job.id)
        elif kind == "done" and names[0] in running:
            queue.done(names[0])
            running.remove(names[0])
    for student in running:
        queue.done(student)
    taken += emptied(queue)
    added = {str(number) for number, (kind, *_) in enumerate(steps) if kind == "add"}
    assert len(taken) == len(set(taken)) and set(taken) == added - superseded and len(queue) == 0


@settings(max_examples=60)
@given(events)
def test_the_place_is_the_number_of_the_job_that_takes_it(steps: list[tuple[str, ...]]) -> None:
    """If nothing else arrives; a ticket that is not in the queue has none."""
    queue, tickets, running = FairQueue(), [], set()
    for number, (kind, *names) in enumerate(steps):
        if kind == "add":
            tickets.append(ticket(number, *names))
            queue.add(tickets[-1])
        elif kind == "take" and (job := queue.take()) is not None:
            running.add(job.student)
        elif kind == "done" and names[0] in running:
            queue.done(names[0])
            running.remove(names[0])
    for student in running:
        queue.done(student)
    places = {each.id: queue.place(each) for each in tickets}
    order = emptied(queue)
    assert places == {each.id: order.index(each.id) + 1 if each.id in order else None for each in tickets}


@settings(max_examples=30)
@given(st.integers(0, 50), st.integers(0, 3))
def test_a_flood_delays_another_student_by_one_job(flood: int, before: int) -> None:
    """However many hand-ins one student has waiting, and however many of them were graded before."""
    queue = FairQueue()
    for number in range(flood):
        queue.add(ticket(number, "flood", f"notebook {number}"))
    for _ in range(min(before, flood)):
        assert queue.take() is not None
        queue.done("flood")
    queue.add(ticket("other", "other"))
    assert emptied(queue).index("other") <= 1


def test_a_newer_hand_in_takes_the_place_of_the_older_one() -> None:
    """So correcting a mistake while waiting costs no time; a second notebook is another hand-in."""
    queue = FairQueue()
    assert queue.add(ticket(1, "a")) is None and queue.add(ticket(2, "b")) is None
    assert queue.add(ticket(3, "a")) == ticket(1, "a") and queue.add(ticket(4, "a", "y")) is None
    assert emptied(queue) == ["3", "2", "4"]


def test_the_second_notebook_waits_for_the_first() -> None:
    """While a student's job runs, others are taken, and then none."""
    queue = FairQueue()
    for each in (ticket(1, "a"), ticket(2, "a", "y"), ticket(3, "b")):
        queue.add(each)
    assert [queue.take(), queue.take(), queue.take()] == [ticket(1, "a"), ticket(3, "b"), None]
    assert queue.waiting("a") == 1 and queue.waiting("b") == 0
    queue.done("a")
    assert queue.take() == ticket(2, "a", "y")
