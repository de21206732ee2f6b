"""Runs tests, each in a conversation with the candidate, or learns that one went the same way before.

test --names, seed--> conversation --> finding
"""

import builtins
import copy
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from course.grading import seeds
from course.grading.cells import execute
from course.grading.client import Client
from course.grading.conversation import Conversation, Memory, Unrepeatable
from course.grading.finding import Finding, find
from course.grading.names import names_bound, names_used
from course.grading.plan import Role, Step, digests, places, talks
from course.grading.recorder import Recorder
from course.grading.report import Verdict
from course.grading.settings import settings_kept
from course.grading.wire import Channel


class Trials:
    """The tests of a notebook; `recorder`, if given, keeps what they said and heard."""

    def __init__(self, steps: list[Step], memory: Memory, recorder: Recorder | None) -> None:
        self._memory = memory
        self._recorder = recorder
        self._places = places(steps)
        self._talks = talks(steps)
        self._digests = digests(steps)
        self._ours = {name for step in steps if step.role is Role.BOTH for name in names_bound(step.source)}
        self._shared: dict[int, tuple[Channel, Conversation, Client]] = {}

    def run(self, step: Step, channel: Channel, namespace: dict[str, Any]) -> Finding:
        """What the test `step` comes to, with the names of `namespace`.

        Raises what breaks the wire, and Unrepeatable; then the test must run again, with another candidate.
        """
        conversation, client = self._conversation(step, channel)
        client.refused, client.wrote = step.refused, False
        begin = len(conversation.exchanges)
        try:
            finding = conversation.found_before()
            if finding is None:
                finding = find(step, lambda: self._execute(step, client, namespace))
                finding = replace(finding, wrote=client.wrote)
                if finding.verdict is not Verdict.OUT_OF_MEMORY:
                    # What memory there is depends on more than the answers.
                    conversation.came_to(finding)
                    self._memory.count(finding.nbytes)
            return finding
        except Unrepeatable:
            self._memory.distrust(self._digests[step.index])
            raise
        finally:
            self._memory.count(conversation.added)
            if self._recorder is not None:
                self._recorder.keep(step.exercise, self._talks[step.index], conversation.exchanges[begin:])

    def _conversation(self, step: Step, channel: Channel) -> tuple[Conversation, Client]:
        talk = self._talks[step.index]
        if not talk:
            conversation = Conversation(channel, self._memory.of(self._digests[step.index]))
            return conversation, Client(conversation)
        # What it finds depends on more than what it is answered itself.
        if talk not in self._shared or self._shared[talk][0] is not channel:
            conversation = Conversation(channel)
            self._shared[talk] = channel, conversation, Client(conversation, talk)
        return self._shared[talk][1:]

    def _execute(self, step: Step, client: Client, namespace: dict[str, Any]) -> Any:
        seeds.begin(step.name, step.source)
        wanted = [name for name in names_used(step.source) if name not in namespace and not hasattr(builtins, name)]
        said = client.look(wanted, self._places[step.index] if step.is_hidden else None) if wanted else {}
        # No more than was asked for: a torch or an abs of the student's would judge in place of ours.
        found = {name: said[name] for name in wanted if name in said}
        copies = _copies({name: namespace[name] for name in self._ours & namespace.keys()})
        originals = {name: namespace[name] for name in copies.keys() - names_bound(step.source)}
        namespace.update(found | copies)
        try:
            with settings_kept():
                return execute(step.source, step.name, namespace)
        finally:
            for name in found:
                namespace.pop(name, None)
            namespace.update(originals)


def _copies(ours: dict[str, Any]) -> dict[str, Any]:
    """Copies of what student code could write into: what a test finds there depends on no test before it."""
    copies = {}
    for name, item in ours.items():
        if isinstance(item, torch.Tensor | list | dict):
            # Of what has a gradient's history there is none.
            with suppress(RuntimeError):
                copies[name] = copy.deepcopy(item)
    return copies
