"""A scorer in the same process: it has the plan, gives a receipt for every fact, and counts hands of the practice set.

It stands where the wire would.
"""

from collections.abc import Callable
from typing import Any, Final

from broker.contract import topics
from broker.contract.counting import Counted, CountRequest
from broker.contract.facts import Restored
from broker.contract.link import Incoming, LinkChanged
from broker.contract.messages import Assignment, LogMessage, Receipt, Taken
from broker.contract.wire import decode_at, encode
from broker.rules.counted_hand import Tiles, answered
from kiosk.practice.winning import FACES
from kiosk.table.state import profile_of

MOST_TAKEN: Final = 100
"""As many as a receipt may name."""


class PracticeScorer:
    """Behaves like a link to a scorer that is always there. `tell` only queues."""

    def __init__(self, assignment: Assignment, tell: Callable[[Incoming | LinkChanged], None]) -> None:
        self._assignment, self._tell = assignment, tell
        self._taken: list[Taken] = []
        event, table = assignment.event, assignment.table
        self._heard = {topic.at(event, table=table) for topic in (topics.LOG, topics.COUNT)}
        self._read: dict[int, bool] = {}
        """Of which rounds the walls were read, or only ticked."""
        self.up = False

    def start(self) -> None:
        """Be there, and send what a scorer sends to a table that has connected."""
        self.up = True
        self._tell(LinkChanged(up=True))
        self._receipt()
        self._say(topics.ASSIGNMENT, self._assignment)

    def stop(self) -> None:
        """Be gone; may be called twice."""
        self.up = False

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - a link has it
        """Take what the table says; a fact is taken for good."""
        if not self.up or topic not in self._heard:
            return
        _, message = decode_at(topic, payload)
        if isinstance(message, CountRequest):
            self._count(message)
            return
        if isinstance(message, LogMessage) and isinstance(message.fact, Restored):
            self._read[message.fact.round] = message.fact.verified
        if isinstance(message, LogMessage) and (taken := Taken(seq=message.seq, id=message.id)) not in self._taken:
            self._taken.append(taken)
        self._receipt()

    def flush(self, timeout_s: float) -> None:
        """Have nothing on its way."""

    def _count(self, request: CountRequest) -> None:
        """Say what a hand is worth, as a scorer does."""
        play = next(one for one in self._assignment.plays if one.round == request.round)
        order = play.order if self._read.get(request.round) else None
        tiles = Tiles(FACES, order, play.prevalent_wind, play.dealer)
        answer = answered(request, tiles, profile_of(self._assignment))
        counted = Counted(
            id="practice-counted",
            event=self._assignment.event,
            seq=len(self._taken),
            table=self._assignment.table,
            asked=request.id,
            answer=answer,
        )
        self._say(topics.COUNTED, counted)

    def _receipt(self) -> None:
        receipt = Receipt(
            id="practice-receipt",
            event=self._assignment.event,
            seq=len(self._taken),
            table=self._assignment.table,
            store=self._assignment.store,
            upto=max((one.seq for one in self._taken), default=0),
            gaps=(),
            taken=tuple(self._taken[-MOST_TAKEN:]),
            refused=(),
        )
        self._say(topics.RECEIPT, receipt)

    def _say(self, topic: topics.Topic, message: Any) -> None:  # noqa: ANN401 - any of the scorer's messages
        at = topic.at(self._assignment.event, table=self._assignment.table)
        self._tell(Incoming(at, encode(message), lambda: None))
