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


@settings(max_examples=120)
@given(events)
def test_every_ticket_is_taken_once_or_superseded(steps: list[tuple[str, ...]]) -> None:
    """In any order of events; a student never has two jobs, and only the newest of a notebook is ever taken.

    A job is found unless all who wait have one that runs. A place is the number of the job that takes it if nothing
    else arrives; a ticket that is not in the queue has none.
    """
    queue, tickets, running, superseded, taken = FairQueue(), list[Ticket](), set(), set(), []
    waiting: dict[tuple[str, str], str] = {}
    for number, (kind, *names) in enumerate(steps):
        if kind == "add":
            tickets.append(ticket(number, *names))
            older = queue.add(tickets[-1])
            assert (older.id if older else None) == waiting.get((names[0], names[1]))
            superseded |= {older.id} if older else set()
            waiting[names[0], names[1]] = str(number)
        elif kind == "take":
            job = queue.take()
            if job is None:
                assert {student for student, _ in waiting} <= running
                continue
            assert job.student not in running and waiting.pop((job.student, job.notebook)) == job.id
            running.add(job.student)
            taken.append(job.id)
        elif kind == "done" and names[0] in running:
            queue.done(names[0])
            running.remove(names[0])
        assert [queue.waiting(each) for each in STUDENTS] == [[student for student, _ in waiting].count(each)
                                                              for each in STUDENTS]  # fmt: skip
    for student in running:
        queue.done(student)
    places = {each.id: queue.place(each) for each in tickets}
    order = emptied(queue)
    assert places == {each.id: order.index(each.id) + 1 if each.id in order else None for each in tickets}
    taken += order
    assert len(taken) == len(set(taken)) and set(taken) == places.keys() - superseded and len(queue) == 0


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
