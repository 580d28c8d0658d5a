"""A broker with its users, for tests: makes connected clients by role and closes them at the end."""

import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.protocol import TOPICS, Role, Topic
from tests.broker.mqtt.client import Client
from tests.patience import PATIENCE_S

EVENT = "cup-2026"
TABLES = 5


@dataclass(frozen=True)
class Hall:
    """One broker and who may come in."""

    broker: Broker
    credentials: Credentials
    folder: Path
    leaving: ExitStack
    clients: list[Client] = field(default_factory=list)
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def client(
        self, user: str, *, session: str | None = None, will: str | None = None, acknowledges: bool = True
    ) -> Client:
        """Return a connected client. A session's name is this hall's own."""
        password = self.credentials.password(user)
        own = session and f"{session}-{self.name}"
        made = Client(self.broker, user, password, session=own, will=will, acknowledges=acknowledges)
        self.leaving.enter_context(made)
        self.clients.append(made)
        assert made.connect()
        return made

    def clear(self) -> None:
        """Take back what may be retained of what was said here."""
        retained = {topic for client in self.clients for topic in client.retained}
        for table in range(1, TABLES + 1):
            for topic in retained & {*places(table)}:
                writer = user_of(places(table)[topic].writer, table)
                self.client(writer).say(topic, b"", retain=True)
                self.await_retained(topic, table, None)
                retained.discard(topic)

    def await_retained(self, topic: str, table: int, payload: bytes | None) -> None:
        """Wait until whoever subscribes gets this; None: nothing. `table`: the topic's, or any.

        nats-server acknowledges what is retained as soon as it is stored, and another of its threads reads it there for
        who subscribes.
        """
        reader = self.client(user_of(places(table)[topic].readers[0], table))
        deadline, found = time.monotonic() + PATIENCE_S, {b"not asked"}
        assert reader.subscribe(topic) == [True]
        while found != ({payload} - {None}):
            assert time.monotonic() < deadline, f"{topic}: {found}, not {payload!r}"
            assert reader.subscribe(topic) == [True]  # when this is answered, the answer to the one before has come
            found = {reader.hear().payload for _ in range(reader.heard.qsize())}

    def listener(self, user: str, *, table: int | None = None) -> Client:
        """Return a client subscribed to all that its role may read."""
        made = self.client(user)
        assert all(made.subscribe(*readable(role_of(user), table=table)))
        return made


def role_of(user: str) -> Role:
    """Return a user's role."""
    roles: dict[str, Role] = {"scorer": "scorer", "desk": "desk", "arbiter": "arbiter", "display": "display"}
    return roles.get(user, "table")


def readable(role: Role, *, table: int | None = None) -> list[str]:
    """Return what a role may read."""
    return [topic.at(EVENT, table=table) for topic in TOPICS if role in topic.readers]


def user_of(role: Role, table: int) -> str:
    """Return the user name that a role has at a table."""
    return f"table-{table}" if role == "table" else role


def places(table: int, deal: int = 1) -> dict[str, Topic]:
    """Return one exact topic of each kind, around one table; none between halls and centre, who have a broker apart."""
    here = (topic for topic in TOPICS if "hall" not in (topic.writer, *topic.readers))
    return {topic.at(EVENT, table=table, deal=deal): topic for topic in here}
