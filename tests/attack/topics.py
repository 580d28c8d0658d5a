"""Every user's password on every topic: what is for others to say does not arrive, what is for others to read neither.

The topics are those of the protocol; who may what is judged by `allowed`.
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
"""Filters for what brokers keep for themselves, and for what nats-server makes of its own wildcards."""


def places() -> list[str]:
    """Return an exact topic of each kind, of each table where it is about one."""
    return [*dict.fromkeys(topic.at(NAME, table=table, deal=DEAL, hall=HALL) for topic in TOPICS for table in TABLES)]


def filters() -> list[str]:
    """Return filters made from all topics: exact ones, each level as a wildcard, each beginning with `#`."""
    found = dict.fromkeys(OF_THE_BROKER)
    for topic in TOPICS:
        levels = topic.at(NAME, table=HONEST, deal=DEAL, hall=HALL).split("/")
        for choice in product(*(([level], [level, "+"])[at > 0] for at, level in enumerate(levels))):
            found["/".join(choice)] = None
        for length in range(1, len(levels)):
            found["/".join([*levels[:length], "#"])] = None
    return [*found, *(place for place in places() if place not in found)]


class Ears:
    """Everybody who may read, listening to all that they may."""

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
        """Return what was heard by anybody until the end came on every topic."""
        return {heard.payload for client, readable in self._of.values() for heard in client.hear_until(END, *readable)}


def end(target: Target, users: dict[str, Client], payload: bytes = END) -> None:
    """Let the one who may write a topic say the end there."""
    for place in places():
        user = writer_of(place)
        if not user:
            continue  # a topic that is not in the table of who may what: nobody is to hear anything there
        if user not in users:
            users[user] = target.client(user)
            users[user].connect()
        users[user].say(place, payload)


def publish(target: Target, ledger: Ledger) -> None:
    """Say on every topic what is for others to say, kept by the broker and not; nobody hears it, at once or later."""
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
    """Listen where others may; nothing is heard that is not one's own, though everybody says something everywhere."""
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
    """Come without a password, with a wrong one, or with another's; where there are certificates, by any password."""
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
    """Return a certificate that somebody has made by an authority of their own, under a user's name."""
    foreign = Certificates.ensure(target.folder.with_name("foreign"))
    if not user.startswith("table-"):
        return foreign.office(cast("Role", user))
    key = SigningKey.new()
    path = foreign.folder / f"{user}.crt"
    path.write_text(foreign.issue(int(user.removeprefix("table-")), key.public), "ascii")
    return Identity(path, key)


def _let_in(stranger: Client) -> bool:
    """Return whether the broker lets somebody in: one who shows no good certificate is refused before any answer."""
    try:
        return stranger.connect()
    except OSError:
        return False


def _shown(word: str | None, own: str) -> str:
    return f"the password of table {STOLEN}" if word == own else repr(word)[:12]
