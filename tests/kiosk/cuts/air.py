"""Replaces the network: what the table says leaves the process at once, and retained messages outlive it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from broker.protocol import Beat, PinGiven, decode_on_topic, encode, topics
from broker.protocol.arbiter_session import hash_pin
from broker.protocol.link import Incoming, LinkChanged
from tests.kiosk.cuts.actions import HOUSE_PIN
from tests.kiosk.judging import THERE, PinJudge, said_of_pin
from tests.kiosk.tables import EVENT, TABLE

RETAINED = (topics.RECEIPT, topics.ASSIGNMENT)

known_hash = cache(hash_pin)


class Air:
    """A link to a broker whose retained messages are files in a folder, and whose other client is `room`.

    Retained messages are numbered: those not handled before a cut are delivered again at the next start.
    """

    def __init__(
        self,
        folder: Path,
        done: int,
        room: Callable[[str, bytes], None],
        tell: Callable[[Incoming | LinkChanged], None],
    ) -> None:
        self._folder, self._done, self._room, self._tell = folder, done, room, tell
        self.up = False

    def start(self) -> None:
        """Connect, and receive the retained messages."""
        self.up = True
        self._tell(LinkChanged(up=True))
        for topic in RETAINED:
            kept = {int(one.suffix[1:]): one for one in self._folder.glob(f"retained-{_name(topic)}.*")}
            if numbers := [number for number in kept if number < self._done]:
                self._bring(topic, kept[max(numbers)].read_bytes())

    def stop(self) -> None:
        """Disconnect."""
        self.up = False

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - a link has it
        """Pass a message to the room; be online, and check a PIN as a scorer does."""
        self._room(topic, payload)
        message = decode_on_topic(topic, payload)[1]
        if isinstance(message, Beat):
            self._bring(topics.SCORER, encode(THERE))
        if isinstance(message, PinGiven):
            self._bring(topics.PIN, encode(said_of_pin(PinJudge(hashed=known_hash(HOUSE_PIN)).judge(message))))

    def flush(self, timeout_s: float) -> None:
        """Do nothing, as nothing is in flight."""

    def say(self, number: int, topic: topics.Topic, message: Any) -> None:  # noqa: ANN401 - any of the scorer's messages
        """Send a message of the scorer or the desk."""
        payload = encode(message)
        if topic in RETAINED:
            (self._folder / f"retained-{_name(topic)}.{number}").write_bytes(payload)
        self._bring(topic, payload)

    def _bring(self, topic: topics.Topic, payload: bytes) -> None:
        self._tell(Incoming(topic.at(EVENT, table=TABLE), payload, lambda: None))


def _name(topic: topics.Topic) -> str:
    return topic.at(EVENT, table=TABLE).replace("/", "-")
