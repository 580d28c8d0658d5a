"""One scorer an event: who starts asks on the wire whether another one is there, and gives way where one answers.

The lock of the store keeps two scorers of one machine apart, but a folder may be copied to another. So each start has
a `run`, which the scorer says with its state (`hm/<event>/scorer`, kept by the broker) and keeps in its store, with a
`term` that grows with each start. A start on the same store of the same machine knows by the lock that the run before
is dead, and does not wait where the broker tells of that run. Any other asks, and waits for an answer. That the broker
tells of no scorer proves nothing: nats-server may have acknowledged a retained message, and not bring it to a
subscriber yet.

Where a scorer was away (frozen, cut off) while another took its place, the higher term stays and the lower one ends:
tables send again what the other one lacks.
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
"""For so long an answer is waited for, once the broker has brought our own question back."""

LONG_S: Final = 30.0
"""The same where the broker tells of a standby that has taken our place since."""

DEAF_S: Final = 30.0
"""For so long the broker may be slow to bring our own question back."""

AGAIN_S: Final = 1.0
"""Between two questions, as the broker may lose one."""

REPEAT_S: Final = 5.0
"""How often the active scorer asks at the other machine's broker, and says there that it is the one."""

TAKEOVER: Final = 1000
"""By so much the term of a standby that takes over is higher, so that no restart of the one before outranks it."""

KEY: Final = "lease"
"""Under which the store keeps it."""

MACHINE, BOOT = Path("/etc/machine-id"), Path("/proc/sys/kernel/random/boot_id")


class Lease(Struct, frozen=True):
    """One scorer's right to an event's wire: of which start, and of which store ("" where that is not known)."""

    run: str
    term: int = 0
    place: str = ""

    def yields_to(self, other: ScorerState) -> bool:
        """Return whether another scorer has taken over, as we were away."""
        return other.lifecycle == "active" and (other.term, other.run) > (self.term, self.run)


def new_lease() -> Lease:
    """Return one that nothing is known of yet."""
    return Lease(uuid.uuid4().hex)


def kept_lease(journal: Journal) -> Lease | None:
    """Return the lease of the scorer that worked on this store last."""
    return journal.kept(KEY, Lease).get("")


def keep_lease(journal: Journal, lease: Lease) -> None:
    """Keep it in the store, for the next start."""
    with journal.commit():
        journal.keep(KEY, lease)


def place_of(file: Path) -> str:
    """Name a file on a machine, until that is restarted: a copy of the file, or of the whole disk, has another."""
    try:
        known, machine, boot = file.stat(), MACHINE.read_text("ascii").strip(), BOOT.read_text("ascii").strip()
    except (OSError, UnicodeError):
        return ""
    return f"{machine} {boot} {known.st_dev}:{known.st_ino}"


Outcome = Literal["waiting", "asking", "taken", "elsewhere"]


class LeaseRequest:
    """Decides whether a scorer may become the active one. `now` in s of a clock that counts on."""

    def __init__(self, before: Lease | None, place: str, *, alone: bool = False, starts: bool = True) -> None:
        """`before`: of the run before on this store; `place`: of our store. `alone`: no other can be the active one.

        The lock of the store is ours: where the place is the same, the run before is dead. `starts`: whether this one
        becomes the active one; else it only asks.
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
        """Return what is asked on the wire."""
        return ScorerAsked(id=uuid.uuid4().hex, event=event, run=self.run, term=self._term, starts=self._starts)

    @property
    def lease(self) -> Lease:
        """What was taken."""
        terms = [one.term for one in (self._before, self._last) if one is not None]
        return Lease(self.run, max(terms, default=0) + 1, self._place)

    def connected(self, now: float) -> None:
        """Begin to ask."""
        self._last = None  # the broker says again what it keeps
        self.again(now)

    def again(self, now: float) -> None:
        """Ask again, of what was heard so far."""
        self.outcome, self._came_back = "asking", False
        self._since, self._asked_at = now, now - AGAIN_S

    def disconnected(self) -> None:
        """Wait until there is a broker."""
        if self.outcome == "asking":
            self.outcome = "waiting"

    def may_ask(self, now: float) -> bool:
        """Return whether to ask now; if so, that is taken for done."""
        if self.outcome != "asking" or now - self._asked_at < AGAIN_S:
            return False
        self._asked_at = now
        return True

    @property
    def informed(self) -> bool:
        """Whether the broker has said what it keeps of a scorer."""
        return self._last is not None

    @property
    def replaced(self) -> bool:
        """Whether a standby has taken the place of the run before, alive or not: its store has what ours lacks."""
        before, last = self._before, self._last
        return bool(before and before.run and last and last.term >= before.term + TAKEOVER)

    def heard(self, message: Message, now: float) -> None:
        """Take in what was said by a scorer, or by one that starts."""
        if isinstance(message, ScorerState) and message.run != self.run:
            self._last = message
            stays = message.term >= self._term  # else it is the one that we replaced
            if self.outcome == "asking" and message.answers == self.run and stays:
                self.outcome = "elsewhere"
        elif isinstance(message, ScorerAsked) and self.outcome == "asking":
            self._asked(message, now)

    def _asked(self, question: ScorerAsked, now: float) -> None:
        """Hear our own question, before which the broker has said what it keeps, or that of another that starts too."""
        if question.run != self.run:
            if question.starts and self._outranked_by(question):
                self.outcome = "elsewhere"
            return
        if not self._came_back:
            self._came_back, self._since = True, now
        if self._nobody_else():
            self.outcome = "taken"

    def _outranked_by(self, question: ScorerAsked) -> bool:
        """Return whether another that starts may: its store knows as much as ours, and of two equal ones one starts."""
        if not self._starts:
            return question.term >= self._term
        return (question.term, question.run) > (self._term, self.run)

    def _nobody_else(self) -> bool:
        """Return whether it is known without an answer that no other scorer is active."""
        if self._last is None:
            return self._alone
        known_dead = self._dead_before and self._before is not None and self._last.run == self._before.run
        return known_dead or (self._last.lifecycle == "gone" and not self.replaced)

    def look(self, now: float) -> Outcome:
        """Return how it stands."""
        patience = LONG_S if self.replaced else ANSWER_S
        if self.outcome == "asking" and self._came_back and now - self._since >= patience:
            self.outcome = "taken"
        return self.outcome

    def deaf(self, now: float) -> bool:
        """Return whether the broker has long not brought our question back: it would bring no answer either."""
        return self.outcome == "asking" and not self._came_back and now - self._since >= DEAF_S


class ScorerChannel(Closing):
    """A connection of its own with a broker, over which scorers speak with each other. It leaves nothing behind."""

    def __init__(self, event: str, address: Address, name: str, *heard: Topic) -> None:
        """Begin to connect; most of the time nothing answers."""
        self._event, self._address = event, address
        self._news: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        where = [topic.at(event) for topic in heard]
        self._link = Link(
            address, transient_session_id(f"homologue-{event}-{name}"), where, self._news.put, persistent=False
        )
        self._link.start()

    def close(self) -> None:
        """Leave; may be called twice."""
        self._link.stop()

    def heard(self) -> Iterator[Message | LinkChanged]:
        """Return what has come. Of a scorer that we do not understand nothing is known."""
        while not self._news.empty():
            item = self._news.get()
            if isinstance(item, LinkChanged):
                yield item
                continue
            item.acknowledge()
            with suppress(Refused):
                yield decode_on_topic(item.topic, item.payload)[1]

    def say(self, topic: Topic, message: Message) -> None:
        """Say something to the other scorers."""
        self._link.publish(topic.at(self._event), encode(message), retain=topic.retain)


class LeaseLink(ScorerChannel):
    """Asks on the wire whether another scorer is active."""

    def __init__(self, event: str, address: Address, request: LeaseRequest) -> None:
        self.request, self.failure = request, ""
        """What we ask for, and why there is no connection."""
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
            self.say(topics.SCORER_ASKED, self.request.question(self._event))
        outcome = self.request.look(now)
        if self.request.deaf(now):
            self._fail(LinkRefused("the broker does not deliver what is published; trying again"))
        if outcome == "elsewhere":
            where = f"{self._address.host}:{self._address.port}"
            raise ScorerActive(f"another scorer is active on {self._event} at the broker {where}")
        return self.request.lease if outcome == "taken" else None

    def _fail(self, why: LinkDown) -> None:
        if str(why) != self.failure:
            self.failure = str(why)
            log.warning(why.code, why=str(why))


class OtherBroker(ScorerChannel):
    """The broker of the other machine of two, as the active scorer sees it: who else is active there gives way, or we.

    Tables that are still connected there are told where they find us.
    """

    def __init__(self, event: str, address: Address, lease: Lease, state: Callable[[], ScorerState]) -> None:
        """`state` returns what is said there."""
        self._lease, self._state = lease, state
        self._ask_at = self._say_at = inf
        super().__init__(event, address, "other", topics.SCORER)

    def look(self, now: float) -> None:
        """Take in what is said there, and say what is due. `now` in s of a clock that counts on. Raises ScorerReplaced.

        What the broker has kept says nothing: only who answers is active.
        """
        mine = self._lease
        for item in self.heard():
            if isinstance(item, LinkChanged):
                self._ask_at, self._say_at = (now, now + AGAIN_S) if item.up else (inf, inf)
            elif isinstance(item, ScorerState) and item.answers == mine.run and mine.yields_to(item):
                raise ScorerReplaced("the other machine's scorer has taken over: this one writes no more")
        if now >= self._ask_at:
            self._ask_at = now + REPEAT_S
            question = ScorerAsked(id=uuid.uuid4().hex, event=self._event, run=mine.run, term=mine.term, starts=False)
            self.say(topics.SCORER_ASKED, question)
        if now >= self._say_at:
            self._say_at = now + REPEAT_S
            self.say(topics.SCORER, self._state())
