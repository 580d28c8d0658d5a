"""Observers of public results, over MQTT and on the desk's pages, who note when each play was shown."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.protocol import parse_topic, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.sim.demo_event import NAME
from tests.chaos.ledger import Play
from tests.patience import PATIENCE_S

PAUSE_S: Final = 0.4
WHOLE_VIEW_EVERY: Final = 8
"""The view of the whole room is large, so pages of single deals are requested in between."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Something that was public."""

    at: int
    """Monotonic clock, ns."""
    where: str
    deal: int | None
    plays: tuple[Play, ...]
    """The plays it shows; None for standings."""
    counts: dict[str, int]
    """For standings: the number of plays that count, by player."""


class Display:
    """A client with a display's credentials."""

    def __init__(self, port: int, known: Credentials, certificates: Certificates | None) -> None:
        self.shown: list[Shown] = []
        address = Address("127.0.0.1", port, "display", known.password("display"))
        if certificates:
            address = replace(address, ca=certificates.ca, identity=certificates.office("display"))
        public = (topics.PUBLIC_TRAVELLER.at(NAME), topics.PUBLIC_STANDINGS.at(NAME))
        self._link = Link(address, "chaos-display", public, self._hear)

    def start(self) -> None:
        """Connect, and reconnect whenever the broker is lost."""
        self._link.start()

    def stop(self) -> None:
        """Disconnect."""
        self._link.stop()

    def _hear(self, heard: Incoming | LinkChanged) -> None:
        if isinstance(heard, LinkChanged):
            return
        at, place = time.monotonic_ns(), parse_topic(heard.topic)
        if heard.payload and place is not None:
            said = json.loads(heard.payload)
            if place.topic is topics.PUBLIC_TRAVELLER:
                plays = tuple((play["table"], play["round"]) for play in said["plays"])
                self.shown.append(Shown(at, heard.topic, said["deal"], plays, {}))
            else:
                self.shown.append(_standings(at, heard.topic, said["rows"]))
        heard.acknowledge()


class Pages:
    """A visitor without an account who requests the desk's public pages all the time."""

    def __init__(self, desk: Callable[[], str], deals: list[int], trust: ssl.SSLContext | None) -> None:
        """`desk` returns its address, "" if there is none."""
        self.shown: list[Shown] = []
        self._desk, self._deals, self._trust = desk, deals, trust
        self._seen = set[Play]()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="public pages")

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(PATIENCE_S)

    def _look(self) -> None:
        with httpx.Client(timeout=5, verify=self._trust or True) as client:
            for path in self._paths():
                if self._stop.wait(PAUSE_S):
                    return
                with suppress(httpx.HTTPError, OSError):
                    self._read(client, path)

    def _paths(self) -> Iterator[str]:
        at = 0
        while True:
            at += 1
            whole = "view.json", "standings.json"
            yield whole[at // WHOLE_VIEW_EVERY % 2] if at % WHOLE_VIEW_EVERY == 0 else f"deal/{self._deal(at)}.json"

    def _deal(self, at: int) -> int:
        return self._deals[at * 7 % len(self._deals)]

    def _read(self, client: httpx.Client, path: str) -> None:
        desk = self._desk()
        if not desk:
            return
        answer = client.get(f"{desk}{path}", headers={"Accept": "application/json"})
        at = time.monotonic_ns()
        if answer.status_code != httpx.codes.OK:
            return
        said = answer.json()
        if path == "view.json":
            for play in said["plays"]:
                key = play["table"], play["round"]
                if key not in self._seen:  # only its first appearance can be too early
                    self._seen.add(key)
                    self.shown.append(Shown(at, path, play["deal"], (key,), {}))
            self.shown.append(_standings(at, path, said["standings"]))
        elif path == "standings.json":
            self.shown.append(_standings(at, path, said["rungs"]))
        else:
            self.shown.append(Shown(at, path, int(path[5:-5]), tuple(_plays_of_sheet(said)), {}))


def _standings(at: int, where: str, rows: list[dict[str, Any]]) -> Shown:
    return Shown(at, where, None, (), {row["player"]: row["plays"] for row in rows})


def _plays_of_sheet(sheet: dict[str, Any]) -> Iterator[Play]:
    """Return the plays that a deal's page shows anywhere."""
    for group in sheet.get("groups", ()):
        for play in group["plays"]:
            yield play["table"], play["round"]
