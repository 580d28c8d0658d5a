"""A link to a scorer that checks arbiters' PINs as the real one does, and can be offline."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from broker.protocol import (
    ArbiterPin,
    Beat,
    LogMessage,
    Message,
    PinAnswer,
    PinGiven,
    ScorerState,
    SigningKey,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.link import Incoming, LinkChanged
from broker.scorer.access import ArbiterAccess, PinCheck
from kiosk.arbiter_pin import PIN_STATE_FILE
from tests.kiosk.standing import Standing, Time, standing
from tests.kiosk.tables import EVENT, TABLE
from tests.pins import HASHED, known_match

KEY: Final = SigningKey.from_bytes(b"9" * 32)
"""The event's key."""
THERE: Final = ScorerState(
    id="scorer-0001", event=EVENT, seq=1, run="scorer-0001", term=1, store="store-0001", lifecycle="active", version="1"
)
"""The scorer's message while it is online."""


class PinJudge:
    """Checks PINs as a scorer does, but at once. `now` is monotonic, in s."""

    def __init__(self, now: Callable[[], float] = lambda: 0.0, hashed: str = HASHED) -> None:
        self._checks: list[PinCheck] = []
        self.access = ArbiterAccess(EVENT, KEY, lambda: 0, now, self._checks.append)
        self.access.hashed = lambda: hashed

    def judge(self, given: PinGiven) -> PinAnswer | None:
        """Return the answer about a PIN."""
        self.access.ask(given)
        while self._checks:
            check = self._checks.pop()
            self.access.pin_checked(check, right=known_match(check.hashed, check.pin))
        return self.access.answer(given.table)


class JudgingLink:
    """Replaces the network. `up`: whether the scorer is online; `answers`: whether it answers in time."""

    def __init__(self, time: Time, tell: Callable[[Incoming | LinkChanged], None]) -> None:
        self.judge = PinJudge(lambda: time.now / 1e9)
        self.up, self.answers, self._tell = True, True, tell
        self.said: list[Message] = []

    def start(self) -> None:
        """Connect."""
        self._tell(LinkChanged(up=self.up))
        self.say()

    def stop(self) -> None:
        """Disconnect."""

    def flush(self, timeout_s: float) -> None:
        """Do nothing, as nothing is in flight."""

    def cut(self, *, up: bool = False) -> None:
        """Go offline, or come back."""
        self.up = up
        self._tell(LinkChanged(up=up))

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - a link has it
        """Receive a message of the table, and check a PIN."""
        message = decode_on_topic(topic, payload)[1]
        self.said.append(message)
        if isinstance(message, Beat):
            self._tell(Incoming(topics.SCORER.at(EVENT), encode(THERE), lambda: None))
        if isinstance(message, PinGiven) and self.answers:
            self.say(self.judge.judge(message))

    def facts(self) -> list[LogMessage]:
        """Return the facts that were sent."""
        return [one for one in self.said if isinstance(one, LogMessage)]

    def say(self, answer: PinAnswer | None = None) -> None:
        """Send the PIN's key and mark, and the answer about one."""
        self._tell(Incoming(topics.PIN.at(EVENT, table=TABLE), encode(said_of_pin(answer)), lambda: None))


def said_of_pin(answer: PinAnswer | None = None, mark: str | None = "0" * 16) -> ArbiterPin:
    """Return the scorer's message about the PIN."""
    key = PinJudge().access.pin_key.public
    said = ArbiterPin(id="pin-00000001", event=EVENT, seq=1, table=TABLE, key=key, mark=mark, answer=answer)
    return KEY.sign(said)


def tell_pin(folder: Path) -> None:
    """Store in a table's folder that a PIN is set, as if the scorer had said so before."""
    (folder / PIN_STATE_FILE).write_bytes(encode(said_of_pin()))


class Judged(Standing):
    """A table whose scorer is online."""

    link: JudgingLink

    def type(self, *keys: str) -> None:
        """Type keys, and deliver the answers to what they ask for."""
        for key in keys:
            self.program.key(key)
            self.program.step(timeout=0)


@contextmanager
def judged(folder: Path) -> Iterator[Judged]:
    """Open a table with a link to a scorer."""
    time, links = Time(), list[JudgingLink]()

    def link(tell: Callable[[Incoming | LinkChanged], None]) -> JudgingLink:
        links.append(JudgingLink(time, tell))
        return links[0]

    with standing(folder, time, link=link) as made:
        table = Judged(made.program, made.journal, time)
        table.link = links[0]
        table.program.start()
        table.program.step(timeout=0)
        yield table
