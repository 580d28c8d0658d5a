"""A table's user who repeatedly tries to take over the scorer's session does not disturb the scorer."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from broker.protocol import topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged, session_id
from tests.broker.mqtt.client import Client
from tests.broker.mqtt.hall import EVENT, Hall
from tests.patience import PATIENCE_S

TIMES: Final = 25
NAME: Final = f"homologue-{EVENT}-scorer"


class Scorer:
    """The scorer's link and what it receives."""

    def __init__(self, hall: Hall, client_id: str) -> None:
        self._news: queue.Queue[Incoming | LinkChanged] = queue.Queue()
        address = Address(hall.broker.host, hall.broker.port, "scorer", hall.credentials.password("scorer"))
        self.link = Link(address, client_id, [topics.LOG.at(EVENT)], self._news.put)

    def next(self) -> Incoming | LinkChanged:
        """Wait for a message or a change of the connection."""
        item = self._news.get(timeout=PATIENCE_S)
        if isinstance(item, Incoming):
            item.acknowledge()
        return item


@contextmanager
def scorer(hall: Hall, client_id: str) -> Iterator[Scorer]:
    """Yield a connected scorer, which disconnects at the end."""
    made = Scorer(hall, client_id)
    made.link.start()
    try:
        first = made.next()
        assert isinstance(first, LinkChanged)
        assert first.up
        yield made
    finally:
        made.link.stop()


def claim(hall: Hall, client_id: str) -> None:
    """Connect as a table's user with this client id."""
    thief = Client(hall.broker, "table-1", hall.credentials.password("table-1"), session=client_id)
    with thief:
        thief.connect()


def test_attempts_to_take_over_the_scorers_session_do_not_disconnect_it(hall: Hall, tmp_path: Path) -> None:
    table = hall.client("table-2")
    place = topics.LOG.at(EVENT, table=2)
    with scorer(hall, session_id(NAME, tmp_path)) as ours:
        for number in range(TIMES):
            claim(hall, NAME)
            table.say(place, b"%d" % number)
            heard = ours.next()
            assert isinstance(heard, Incoming), f"cut off at claim {number}"
            assert heard.payload == b"%d" % number
        assert ours.link.up


def test_a_session_id_known_to_a_table_could_be_taken_over(hall: Hall) -> None:
    """This shows that the test above would detect it: brokers do not check the owner of a session."""
    known = f"{NAME}-{hall.name}"
    with scorer(hall, known) as ours:
        claim(hall, known)
        assert ours.next() == LinkChanged(up=False)
