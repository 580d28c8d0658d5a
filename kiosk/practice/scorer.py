"""The simulated scorer of a practice table, in place of a link to a real one."""

from collections.abc import Callable
from functools import partial
from typing import Final

from broker.protocol import (
    AT_THE_TABLE,
    ArbiterPin,
    Assignment,
    Beat,
    Counted,
    CountRequest,
    LogMessage,
    Message,
    PinAnswer,
    PinGiven,
    Receipt,
    Restored,
    ScorerState,
    Taken,
    decode_on_topic,
    encode,
    link,
    signing,
    topics,
)
from broker.protocol.arbiter_session import BY_PIN, PinKey, PinPlace, SessionKey
from broker.rules.hand_value import KnownTiles, answer_count
from broker.version import program_version
from kiosk.practice.deals import FACES
from kiosk.table import profile_of

PIN: Final = "0000"
"""The arbiter's PIN, as arbiters practise too."""

MARK: Final = "0" * 16
"""The mark of the PIN, which never changes here."""

MOST_TAKEN: Final = 100
"""The most facts that a receipt may name."""


class PracticeScorer:
    """Behaves like a link to a scorer that is always there. `tell` only queues."""

    def __init__(self, assignment: Assignment, tell: Callable[[link.Incoming | link.LinkChanged], None]) -> None:
        self._assignment, self._tell = assignment, tell
        self._taken: list[Taken] = []
        event, table = assignment.event, assignment.table
        read = topics.LOG, topics.COUNT, topics.PIN_GIVEN, topics.BEAT
        self._topics = {topic.at(event, table=table) for topic in read}
        key = signing.SigningKey.new()
        self._pins, self._sessions = PinKey.of_event(key), SessionKey.of_event(event, key)
        self._walls_read: dict[int, bool] = {}
        """By round, whether the walls were read, or only ticked."""
        self.up = False

    def start(self) -> None:
        """Connect, and send what a scorer sends to a table that has connected."""
        self.up = True
        self._tell(link.LinkChanged(up=True))
        self._receipt()
        self._send_pin()
        self._deliver(topics.ASSIGNMENT, self._assignment)

    def stop(self) -> None:
        """Disconnect; may be called twice."""
        self.up = False

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - a link has it
        """Handle a message of the table; every fact is accepted."""
        if not self.up or topic not in self._topics:
            return
        _, message = decode_on_topic(topic, payload)
        if isinstance(message, Beat):
            self._beat()
            return
        if isinstance(message, CountRequest):
            self._count(message)
            return
        if isinstance(message, PinGiven):
            self._check_pin(message)
            return
        if isinstance(message, LogMessage) and isinstance(message.fact, Restored):
            self._walls_read[message.fact.round] = message.fact.verified
        if isinstance(message, LogMessage) and (taken := Taken(seq=message.seq, id=message.id)) not in self._taken:
            self._taken.append(taken)
        self._receipt()

    def flush(self, timeout_s: float) -> None:
        """Return at once: nothing is on its way."""

    def _beat(self) -> None:
        """Answer each beat of the table that the scorer is there."""
        run, store = "practice-scorer", self._assignment.store
        state = partial(ScorerState, run=run, term=1, store=store, lifecycle="active", version=program_version())
        self._send(topics.SCORER, state)

    def _check_pin(self, given: PinGiven) -> None:
        """Check a PIN, as a scorer does."""
        pin = self._pins.open(given.sealed, PinPlace(given.event, given.table, given.device, given.session))
        session = self._sessions.open(given.table, BY_PIN, AT_THE_TABLE, given.session, 0) if pin == PIN else None
        self._send_pin(PinAnswer(asked=given.session, session=session, code=None if session else "pin_wrong"))

    def _send_pin(self, answer: PinAnswer | None = None) -> None:
        table = self._assignment.table
        self._send(topics.PIN, partial(ArbiterPin, table=table, key=self._pins.public, mark=MARK, answer=answer))

    def _count(self, request: CountRequest) -> None:
        """Answer what a hand is worth, as a scorer does."""
        tiles = KnownTiles(FACES)  # in a session, the request contains everything else
        for play in self._assignment.plays:
            if play.round == request.round:
                order = play.order if self._walls_read.get(request.round) else None
                tiles = KnownTiles(FACES, order, play.prevalent_wind, play.dealer)
        answer = answer_count(request, tiles, profile_of(self._assignment))
        self._send(topics.COUNTED, partial(Counted, table=self._assignment.table, asked=request.id, answer=answer))

    def _receipt(self) -> None:
        upto, taken = max((one.seq for one in self._taken), default=0), tuple(self._taken[-MOST_TAKEN:])
        table, store = self._assignment.table, self._assignment.store
        receipt = partial(Receipt, table=table, store=store, upto=upto, gaps=(), taken=taken, refused=())
        self._send(topics.RECEIPT, receipt)

    def _send(self, topic: topics.Topic, message: Callable[..., Message]) -> None:
        """Send a message, with the fields that all messages have."""
        self._deliver(topic, message(id="practice-scorer", event=self._assignment.event, seq=len(self._taken)))

    def _deliver(self, topic: topics.Topic, message: Message) -> None:
        at = topic.at(self._assignment.event, table=self._assignment.table)
        self._tell(link.Incoming(at, encode(message), lambda: None))
