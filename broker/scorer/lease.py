"""One scorer per event: a starting scorer asks through the broker whether another one is active, and gives way if so.

The store's lock keeps apart two scorers on one machine, but a folder may be copied to another machine. So each start
has a `run`, which the scorer publishes with its state (`hm/<event>/scorer`, retained by the broker) and stores, with a
`term` that increases with each start. A scorer that starts on the same store of the same machine knows from the lock
that the previous run is dead, so it does not wait if the broker reports that run. Any other scorer asks, and waits for
an answer. If the broker reports no scorer, that proves nothing: nats-server may have acknowledged a retained message
without delivering it to a subscriber yet.

If a scorer was away (frozen, disconnected) while another took its place, the one with the higher term stays and the
other ends. Tables resend what the remaining one lacks.
"""

import queue
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from broker.closing import Closing
from broker.errors import ScorerActive, ScorerReplaced
from broker.logs import get_logger
from broker.protocol import Message, Refused, ScorerAsked, ScorerState, Topic, decode_on_topic, encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, LinkDown, LinkRefused, transient_session_id
from broker.store import Journal

log = get_logger("homologue.scorer")

ANSWER_S: Final = 3.0
"""How long to wait for an answer, once the broker has delivered our own question to us."""

LONG_S: Final = 30.0
"""How long to wait instead if the broker reports a standby that has taken our place meanwhile."""

DEAF_S: Final = 30.0
"""How long the broker may take to deliver our own question to us."""

AGAIN_S: Final = 1.0
"""Interval between two questions, since the broker may lose one."""

REPEAT_S: Final = 5.0
"""How often the active scorer asks at the other machine's broker, and publishes its state there."""

TAKEOVER: Final = 1000
"""Amount by which a standby that takes over raises the term, so that no restart of its predecessor outranks it."""

KEY: Final = "lease"
"""Key under which the store has the lease."""

MACHINE, BOOT = Path("/etc/machine-id"), Path("/proc/sys/kernel/random/boot_id")


class Lease(Struct, frozen=True):
    """One scorer's right to an event: its start (`run`, `term`), and the place of its store ("" if unknown)."""

    run: str
    term: int = 0
    place: str = ""

    def yields_to(self, other: ScorerState) -> bool:
        """Return whether another scorer has taken over while we were away."""
        return other.lifecycle == "active" and (other.term, other.run) > (self.term, self.run)


def new_lease() -> Lease:
    """Return a lease with a new run, and no known term or place."""
    return Lease(uuid.uuid4().hex)


def stored_lease(journal: Journal) -> Lease | None:
    """Return the lease of the last scorer that used this store."""
    return journal.stored_structs(KEY, Lease).get("")


def store_lease(journal: Journal, lease: Lease) -> None:
    """Store the lease for the next start."""
    with journal.commit():
        journal.set_struct(KEY, lease)


def place_of(file: Path) -> str:
    """Return an id of a file on this machine until its next boot. Copies of the file or the disk have others."""
    try:
        known, machine, boot = file.stat(), MACHINE.read_text("ascii").strip(), BOOT.read_text("ascii").strip()
    except (OSError, UnicodeError):
        return ""
    return f"{machine} {boot} {known.st_dev}:{known.st_ino}"


Outcome = Literal["waiting", "asking", "taken", "elsewhere"]


class LeaseRequest:
    """Decides whether a scorer may become the active one. `now` in s of a monotonic clock."""

    def __init__(self, before: Lease | None, place: str, *, alone: bool = False, starts: bool = True) -> None:
        """`before`: lease of the previous run on this store; `place`: of our store; `alone`: no other scorer exists.

        We hold the store's lock, so if the place is the same, the previous run is dead. `starts`: whether this scorer
        wants to become the active one, or only asks.
        """
        self._before, self._place, self._alone = before, place, alone
        self._dead_before = alone or bool(before and place and before.place == place)
        self._term, self._starts = before.term if before else 0, starts
        self.run = uuid.uuid4().hex
        self.outcome: Outcome = "waiting"
        self._last: ScorerState | None = None
        self._since = 0.0
        self._asked_at = 0.0
        self._came_back = False

    def question(self, event: str) -> ScorerAsked:
        """Return the question to publish."""
        return ScorerAsked(id=uuid.uuid4().hex, event=event, run=self.run, term=self._term, starts=self._starts)

    @property
    def lease(self) -> Lease:
        """The lease to take."""
        terms = [one.term for one in (self._before, self._last) if one is not None]
        return Lease(self.run, max(terms, default=0) + 1, self._place)

    def connected(self, now: float) -> None:
        """Start asking."""
        self._last = None  # the broker delivers its retained state again
        self.again(now)

    def again(self, now: float) -> None:
        """Ask again, without forgetting what was heard."""
        self.outcome, self._came_back = "asking", False
        self._since, self._asked_at = now, now - AGAIN_S

    def disconnected(self) -> None:
        """Wait until the broker is connected."""
        if self.outcome == "asking":
            self.outcome = "waiting"

    def may_ask(self, now: float) -> bool:
        """Return whether to ask now, and if so, assume that it is done."""
        if self.outcome != "asking" or now - self._asked_at < AGAIN_S:
            return False
        self._asked_at = now
        return True

    @property
    def informed(self) -> bool:
        """Whether the broker has delivered the retained state of a scorer."""
        return self._last is not None

    @property
    def replaced(self) -> bool:
        """Whether a standby has taken the previous run's place, even if it is gone: its store has what ours lacks."""
        before, last = self._before, self._last
        return bool(before and before.run and last and last.term >= before.term + TAKEOVER)

    def heard(self, message: Message, now: float) -> None:
        """Handle a message from an active or a starting scorer."""
        if isinstance(message, ScorerState) and message.run != self.run:
            self._last = message
            stays = message.term >= self._term  # otherwise it is the one that we replaced
            if self.outcome == "asking" and message.answers == self.run and stays:
                self.outcome = "elsewhere"
        elif isinstance(message, ScorerAsked) and self.outcome == "asking":
            self._handle_question(message, now)

    def _handle_question(self, question: ScorerAsked, now: float) -> None:
        """Handle a question: our own, which comes after the retained messages, or that of another starting scorer."""
        if question.run != self.run:
            if question.starts and self._outranked_by(question):
                self.outcome = "elsewhere"
            return
        if not self._came_back:
            self._came_back, self._since = True, now
        if self._nobody_else():
            self.outcome = "taken"

    def _outranked_by(self, question: ScorerAsked) -> bool:
        """Return whether another starting scorer goes first: its store knows more, or as much and its run is higher."""
        if not self._starts:
            return question.term >= self._term
        return (question.term, question.run) > (self._term, self.run)

    def _nobody_else(self) -> bool:
        """Return whether it is certain without an answer that no other scorer is active."""
        if self._last is None:
            return self._alone
        known_dead = self._dead_before and self._before is not None and self._last.run == self._before.run
        return known_dead or (self._last.lifecycle == "gone" and not self.replaced)

    def look(self, now: float) -> Outcome:
        """Return the current outcome."""
        patience = LONG_S if self.replaced else ANSWER_S
        if self.outcome == "asking" and self._came_back and now - self._since >= patience:
            self.outcome = "taken"
        return self.outcome

    def deaf(self, now: float) -> bool:
        """Return whether our question has not come back for long; an answer would not be delivered either."""
        return self.outcome == "asking" and not self._came_back and now - self._since >= DEAF_S


class ScorerChannel(Closing):
    """A separate connection to a broker, over which scorers talk to each other. It leaves no session behind."""

    def __init__(self, event: str, address: Address, name: str, *subscribed: Topic) -> None:
        """Begin to connect. Most of the time nothing answers."""
        self._event, self._address = event, address
        self._inbox: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        topics = [topic.at(event) for topic in subscribed]
        self._link = Link(
            address, transient_session_id(f"homologue-{event}-{name}"), topics, self._inbox.put, persistent=False
        )
        self._link.start()

    def close(self) -> None:
        """Disconnect. May be called twice."""
        self._link.stop()

    def heard(self) -> Iterator[Message | LinkChanged]:
        """Yield the received messages, except those of scorers that we cannot decode."""
        while not self._inbox.empty():
            item = self._inbox.get()
            if isinstance(item, LinkChanged):
                yield item
                continue
            item.acknowledge()
            with suppress(Refused):
                yield decode_on_topic(item.topic, item.payload)[1]

    def publish(self, topic: Topic, message: Message) -> None:
        """Publish a message to the other scorers."""
        self._link.publish(topic.at(self._event), encode(message), retain=topic.retain)


class LeaseLink(ScorerChannel):
    """Asks through the broker whether another scorer is active."""

    def __init__(self, event: str, address: Address, request: LeaseRequest) -> None:
        self.request, self.failure = request, ""
        """The request, and the reason why there is no connection."""
        super().__init__(event, address, "asks", topics.SCORER, topics.SCORER_ASKED)

    def look(self, now: float) -> Lease | None:
        """Return the lease once it is ours. Raises ScorerActive if another scorer is active."""
        for item in self.heard():
            if not isinstance(item, LinkChanged):
                self.request.heard(item, now)
            elif item.up:
                self.request.connected(now)
            else:
                self.request.disconnected()
                if item.why:
                    self._fail(item.why)
        if self.request.may_ask(now):
            self.publish(topics.SCORER_ASKED, self.request.question(self._event))
        outcome = self.request.look(now)
        if self.request.deaf(now):
            self._fail(LinkRefused("the broker does not deliver what is published; trying again"))
        if outcome == "elsewhere":
            where = f"{self._address.host}:{self._address.port}"
            raise ScorerActive(f"another scorer is active on {self._event} at the broker {where}")
        return self.request.lease if outcome == "taken" else None

    def _fail(self, reason: LinkDown) -> None:
        if str(reason) != self.failure:
            self.failure = str(reason)
            log.warning(reason.code, why=str(reason))


class OtherBroker(ScorerChannel):
    """The other machine's broker, seen from the active scorer. If another scorer is active there, one of us gives way.

    Tables that are still connected there are told where to find us.
    """

    def __init__(self, event: str, address: Address, lease: Lease, state: Callable[[], ScorerState]) -> None:
        """`state` returns the state to publish there."""
        self._lease, self._state = lease, state
        self._ask_at = self._publish_at = inf
        super().__init__(event, address, "other", topics.SCORER)

    def look(self, now: float) -> None:
        """Handle messages, and publish what is due. `now` in s of a monotonic clock. Raises ScorerReplaced.

        Retained states prove nothing: only a scorer that answers is active.
        """
        mine = self._lease
        for item in self.heard():
            if isinstance(item, LinkChanged):
                self._ask_at, self._publish_at = (now, now + AGAIN_S) if item.up else (inf, inf)
            elif isinstance(item, ScorerState) and item.answers == mine.run and mine.yields_to(item):
                raise ScorerReplaced("the other machine's scorer has taken over: this one has stopped writing")
        if now >= self._ask_at:
            self._ask_at = now + REPEAT_S
            question = ScorerAsked(id=uuid.uuid4().hex, event=self._event, run=mine.run, term=mine.term, starts=False)
            self.publish(topics.SCORER_ASKED, question)
        if now >= self._publish_at:
            self._publish_at = now + REPEAT_S
            self.publish(topics.SCORER, self._state())
