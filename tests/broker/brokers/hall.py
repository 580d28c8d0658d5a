"""A broker with its users, for tests: makes connected clients by role and closes them at the end."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from broker.brokers import Broker
from broker.contract.topics import TOPICS, Role, Topic
from broker.credentials import Credentials
from tests.broker.brokers.client import Client

EVENT = "cup-2026"
TABLES = 5


@dataclass(frozen=True)
class Hall:
    """One broker and who may come in."""

    broker: Broker
    credentials: Credentials
    folder: Path
    leaving: ExitStack

    def client(
        self, user: str, *, session: str | None = None, will: str | None = None, acknowledges: bool = True
    ) -> Client:
        """Give a connected client."""
        password = self.credentials.password(user)
        made = Client(self.broker, user, password, session=session, will=will, acknowledges=acknowledges)
        self.leaving.enter_context(made)
        assert made.connect()
        return made

    def listener(self, user: str, *, table: int | None = None) -> Client:
        """Give a client subscribed to all that its role may read."""
        made = self.client(user)
        assert all(made.subscribe(*readable(role_of(user), table=table)))
        return made


def role_of(user: str) -> Role:
    """Give a user's role."""
    roles: dict[str, Role] = {"scorer": "scorer", "desk": "desk", "arbiter": "arbiter", "display": "display"}
    return roles.get(user, "table")


def readable(role: Role, *, table: int | None = None) -> list[str]:
    """Give what a role may read."""
    return [topic.at(EVENT, table=table) for topic in TOPICS if role in topic.readers]


def user_of(role: Role, table: int) -> str:
    """Give the user name that a role has at a table."""
    return f"table-{table}" if role == "table" else role


def places(table: int, deal: int = 1) -> dict[str, Topic]:
    """Give one exact topic of each kind, around one table."""
    return {topic.at(EVENT, table=table, deal=deal): topic for topic in TOPICS}
