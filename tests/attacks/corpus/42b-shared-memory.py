"""Fills /dev/shm, shared memory, queues and anonymous files, which outlive a process or are not counted.

None of them can be made.
"""

from nbformat import NotebookNode

from tests.attacks.build import calling, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "open('/dev/shm/fill', 'wb').write(bytes(2**20))",
            "from multiprocessing.shared_memory import SharedMemory; SharedMemory(create=True, size=2**20)",
            "from multiprocessing import Lock; Lock()",
            "torch.zeros(9).share_memory_()",
            "import os; os.memfd_create('fill')",
        )
        + calling(
            ("shmget", 0x5EC2E7, 2**20, 0o1666),
            ("semget", 0x5EC2E7, 9, 0o1666),
            ("msgget", 0x5EC2E7, 0o1666),
            ("mq_open", b"/fill", 0o102, 0o666, 0),
            (447, 0),
        ),
    )
