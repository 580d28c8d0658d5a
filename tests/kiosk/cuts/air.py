"""Stands where the wire would: what the table says leaves the process at once, what the broker retains outlives it."""

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

    Each retained message has a number: of those that were not taken in before a cut, the next start hears again.
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
        """Connect, and get what is retained."""
        self.up = True
        self._tell(LinkChanged(up=True))
        for topic in RETAINED:
            kept = {int(one.suffix[1:]): one for one in self._folder.glob(f"retained-{_name(topic)}.*")}
            if numbers := [number for number in kept if number < self._done]:
                self._bring(topic, kept[max(numbers)].read_bytes())

    def stop(self) -> None:
        """Be gone."""
        self.up = False

    def publish(self, topic: str, payload: bytes, *, retain: bool) -> None:  # noqa: ARG002 - a link has it
        """Let the room hear; be there and judge a PIN as a scorer does."""
        self._room(topic, payload)
        message = decode_on_topic(topic, payload)[1]
        if isinstance(message, Beat):
            self._bring(topics.SCORER, encode(THERE))
        if isinstance(message, PinGiven):
            self._bring(topics.PIN, encode(said_of_pin(PinJudge(hashed=known_hash(HOUSE_PIN)).judge(message))))

    def flush(self, timeout_s: float) -> None:
        """Have nothing on its way."""

    def say(self, number: int, topic: topics.Topic, message: Any) -> None:  # noqa: ANN401 - any of the scorer's messages
        """Be the scorer, or the desk."""
        payload = encode(message)
        if topic in RETAINED:
            (self._folder / f"retained-{_name(topic)}.{number}").write_bytes(payload)
        self._bring(topic, payload)

    def _bring(self, topic: topics.Topic, payload: bytes) -> None:
        self._tell(Incoming(topic.at(EVENT, table=TABLE), payload, lambda: None))


def _name(topic: topics.Topic) -> str:
    return topic.at(EVENT, table=TABLE).replace("/", "-")
