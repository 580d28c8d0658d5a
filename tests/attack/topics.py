"""Use every user's password on every topic: nobody may write or read what is for others.

The topics are those of the protocol; `allowed` defines who may do what.
"""

from itertools import product
from typing import Final, cast

from paho.mqtt.client import topic_matches_sub

from broker.mqtt.certificates import Certificates
from broker.protocol import TOPICS, Role, SigningKey
from broker.protocol.tls import Identity
from broker.sim.demo_event import NAME
from tests.attack.allowed import may_read, writer_of
from tests.attack.ledger import Ledger
from tests.attack.target import HONEST, STOLEN, TABLES, USERS, Target
from tests.broker.mqtt.client import Client

PUBLISH: Final = "broker: publish"
SUBSCRIBE: Final = "broker: subscribe"
STRANGERS: Final = "broker: come in"

END: Final = b"the end of this attack"
DEAL: Final = 1
HALL: Final = "paris"

OF_THE_BROKER: Final = (
    "#",
    "+/#",
    "+/+/+",
    "+/+/+/+",
    "+/+/+/+/+",
    "hm/>",
    f"hm/{NAME}/assignment/*",
    "$SYS/#",
    "$MQTT/#",
    "$MQTT/sub/#",
    "$MQTT/msgs/#",
    "$MQTT/rmsgs/#",
    "$JS/#",
    "$share/all/#",
)
"""Filters for the brokers' internal topics, and for what nats-server makes of its own wildcards."""


def places() -> list[str]:
    """Return an exact topic of each kind, for each table if it is about one."""
    return [*dict.fromkeys(topic.at(NAME, table=table, deal=DEAL, hall=HALL) for topic in TOPICS for table in TABLES)]


def filters() -> list[str]:
    """Return filters made from all topics: the exact ones, each level as a wildcard, each prefix followed by `#`."""
    found = dict.fromkeys(OF_THE_BROKER)
    for topic in TOPICS:
        levels = topic.at(NAME, table=HONEST, deal=DEAL, hall=HALL).split("/")
        for choice in product(*(([level], [level, "+"])[at > 0] for at, level in enumerate(levels))):
            found["/".join(choice)] = None
        for length in range(1, len(levels)):
            found["/".join([*levels[:length], "#"])] = None
    return [*found, *(place for place in places() if place not in found)]


class Ears:
    """Clients of all users, each subscribed to everything that it may read."""

    def __init__(self, target: Target) -> None:
        self._of: dict[str, tuple[Client, list[str]]] = {}
        for user in (*USERS, f"table-{HONEST}"):
            readable = [place for place in places() if may_read(user, place)]
            client = target.client(user)
            if not client.connect() or not all(client.subscribe(*readable)):
                raise RuntimeError(f"{user} may not hear what is theirs")
            self._of[user] = client, readable

    def __enter__(self) -> "Ears":
        return self

    def __exit__(self, *_: object) -> None:
        for client, _readable in self._of.values():
            client.close()

    def until_end(self) -> set[bytes]:
        """Return all payloads that any user received before the end marker came on every topic."""
        return {heard.payload for client, readable in self._of.values() for heard in client.hear_until(END, *readable)}


def end(target: Target, users: dict[str, Client], payload: bytes = END) -> None:
    """Publish the end marker on every topic, each by the user that may write there."""
    for place in places():
        user = writer_of(place)
        if not user:
            continue  # unknown to `allowed`: nobody may receive anything on this topic
        if user not in users:
            users[user] = target.client(user)
            users[user].connect()
        users[user].say(place, payload)


def publish(target: Target, ledger: Ledger) -> None:
    """Publish, retained and not, on every topic that belongs to others; no subscriber may receive it, now or later."""
    said: dict[str, bytes] = {}
    writers: dict[str, Client] = {}
    with Ears(target) as ears:
        for user in USERS:
            with target.client(user) as intruder:
                intruder.connect()
                for place, retain in product(places(), (False, True)):
                    if writer_of(place) == user:
                        continue
                    what = f"{user} writes {place}{', retained' if retain else ''}"
                    said[what] = f"intruder: {what}".encode()
                    intruder.say(place, said[what], retain=retain)
        end(target, writers)
        heard = ears.until_end()
    with Ears(target) as late:
        end(target, writers)
        kept = late.until_end()
    for client in writers.values():
        client.close()
    fell = {what: "others hear it" for what, payload in said.items() if payload in heard}
    fell |= {what: "the broker keeps it for others" for what, payload in said.items() if payload in kept}
    ledger.tried_all(PUBLISH, said, fell)


def subscribe(target: Target, ledger: Ledger) -> None:
    """Subscribe to everything that is for others, while all topics are used; only own messages may arrive."""
    for user in USERS:
        own = [place for place in places() if may_read(user, place)]
        tried = [one for one in filters() if one not in own]
        writers: dict[str, Client] = {}
        with target.client(user) as intruder:
            intruder.connect()
            if not all(intruder.subscribe(*own)):
                raise RuntimeError(f"{user} may not hear what is theirs")
            for one in tried:
                intruder.subscribe(one)
            end(target, writers, b"for others")
            end(target, writers)
            heard = {one.topic for one in intruder.hear_until(END, *own)}
        for client in writers.values():
            client.close()
        leaked = {place for place in heard if not may_read(user, place)}
        fell = {
            f"{user} listens to {one}": f"hears {place}"
            for one in tried
            for place in sorted(leaked)
            if topic_matches_sub(one, place)
        }
        ledger.tried_all(SUBSCRIBE, [f"{user} listens to {one}" for one in tried], fell)


def strangers(target: Target, ledger: Ledger) -> None:
    """Connect without a password, with a wrong one or another user's; and with a right one but no certificate."""
    passwords = target.credentials
    users = (*USERS, f"table-{HONEST}", "table-9999", "admin", "homologue", "$SYS", "")
    own = passwords.password(f"table-{STOLEN}")
    for user, word in [
        (None, None),
        *product(users, ("", "wrong", own, own.lower(), own[:-1], "a" * 5000)),
    ]:
        if target.plain and user == f"table-{STOLEN}" and word == own:
            continue
        with target.stranger(user, word) as stranger:
            ledger.tried(STRANGERS, f"{user!r} with {_shown(word, own)}", held=not _let_in(stranger), why="is let in")
    for user in () if target.plain else (*USERS, f"table-{HONEST}"):
        password = passwords.password(user)
        with target.stranger(user, password) as stranger:
            ledger.tried(STRANGERS, f"{user!r} by the own password alone", held=not _let_in(stranger), why="is let in")
        with target.stranger(None, None, foreign_identity(target, user)) as stranger:
            ledger.tried(STRANGERS, f"{user!r} by another authority", held=not _let_in(stranger), why="is let in")


def foreign_identity(target: Target, user: str) -> Identity:
    """Return a certificate for a user name that a foreign authority has issued."""
    foreign = Certificates.ensure(target.folder.with_name("foreign"))
    if not user.startswith("table-"):
        return foreign.office(cast("Role", user))
    key = SigningKey.new()
    path = foreign.folder / f"{user}.crt"
    path.write_text(foreign.issue(int(user.removeprefix("table-")), key.public), "ascii")
    return Identity(path, key)


def _let_in(stranger: Client) -> bool:
    """Return whether the broker accepts a client; without a valid certificate, it closes the connection at once."""
    try:
        return stranger.connect()
    except OSError:
        return False


def _shown(word: str | None, own: str) -> str:
    return f"the password of table {STOLEN}" if word == own else repr(word)[:12]
