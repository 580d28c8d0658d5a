"""The world outside the laboratory's machines: a real scorer with its broker and desk, and the staff."""

import re
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Self

import cv2
import httpx

from broker.cli.standby import reserve_port
from broker.event import BookedPlay, Plan, open_event, save_event
from broker.people import Actor, Authentication
from broker.protocol import SEATS, PlannedPlay, Player, Seat
from broker.protocol.signing import open_key
from broker.rules import DEFAULT_MCR
from broker.sim.demo_event import new_deals
from broker.sim.processes import COMMAND, DemoProcess
from broker.upgrade.bundle import RELEASE_KEYS
from tests.encryption import trusting
from vision.sim.camera import SimulatedCamera
from vision.sim.table import SimulatedTable, SimulatedTile

TABLE: Final = 3
ROUNDS: Final = 4
SEEN_FROM_INSIDE: Final = "10.0.2.2"
"""Address under which a machine reaches this machine's loopback."""

HEAD: Final = "head"
PASSWORD: Final = "tiles of the east wall 34"
CAMERA: Final = "sim://tray?width=1024&height=576&noise=0&blur=0&tilt=0"
TRUSTING: Final = 'mount --bind "$0" "$1" && shift && exec "$@"'
"""Makes the scorer's program trust this run's release keys instead of those in the checkout."""

START_S: Final = 900.0
SOON_S: Final = 1800.0


def make_lab_event(folder: Path, tables: int) -> None:
    """Write an event's folder in which each table plays another deal each round, with the same four players."""
    deals = max(tables, ROUNDS)
    plays = tuple(
        BookedPlay(round_, table, (table + round_) % deals + 1, {seat: f"p{table}-{seat}" for seat in SEATS})
        for round_ in range(1, ROUNDS + 1)
        for table in range(1, tables + 1)
    )
    people = tuple(
        Player(id=f"p{table}-{seat}", name=f"{seat.title()} of {table}")
        for table in range(1, tables + 1)
        for seat in SEATS
    )
    save_event(folder, Plan("lab", "Laboratory", DEFAULT_MCR, people, plays), *new_deals(range(1, deals + 1)))


class LabHall:
    """A scorer of an event in which nothing has been played yet, and an arbiter at its desk."""

    def __init__(self, folder: Path, tables: int = TABLE, seen: str = SEEN_FROM_INSIDE) -> None:
        """`folder`: for the event; `seen`: the address under which its tables reach this machine's loopback."""
        self.folder = folder
        self._seen = seen
        self.lines: list[str] = []
        make_lab_event(folder, tables)
        with closing(Authentication(folder)) as people:
            people.accounts.add(HEAD, "Head arbiter", "head_arbiter", PASSWORD, Actor("laboratory"))
        self.release_key_file = folder.with_name("release.key")
        self.release_key = open_key(self.release_key_file).public
        self.trusted_keys_file = folder.with_name("release.keys")
        self.trusted_keys_file.write_text(f"{self.release_key}\n", encoding="ascii")
        self._mqtt_port = reserve_port()
        self._desk_port = reserve_port()
        self._scorer: DemoProcess | None = None
        self._client: httpx.Client | None = None
        self._pairing = threading.Lock()

    def start(self) -> None:
        """Start the scorer, and log in at its desk."""
        ports = ["--mqtt-port", str(self._mqtt_port), "--desk-port", str(self._desk_port)]
        names = ["--broker-name", self._seen, "--desk-name", self._seen]
        said = lambda _who, line: self.lines.append(line)  # noqa: E731 - one use
        program = [
            "unshare",
            "--mount",
            "sh",
            "-c",
            TRUSTING,
            str(self.trusted_keys_file),
            str(RELEASE_KEYS),
            str(COMMAND),
        ]
        self._scorer = DemoProcess("scorer", ["scorer", str(self.folder), *ports, *names], said, program)
        url = self._scorer.wait_for(r"^Desk: (\S+)", START_S)
        self._client = httpx.Client(
            base_url=url, headers={"Origin": url.rstrip("/"), "Accept": "text/html"},
            timeout=60, verify=trusting(self.folder),
        )  # fmt: skip
        answer = self._client.post("/login", data={"name": HEAD, "password": PASSWORD})
        assert answer.status_code == httpx.codes.SEE_OTHER, answer.text[:500]

    @property
    def client(self) -> httpx.Client:
        """The head arbiter's browser."""
        assert self._client is not None
        return self._client

    @property
    def desk_address(self) -> str:
        """The desk's address, as it is typed at a table."""
        return f"{self._seen}:{self._desk_port}"

    def pairing_code(self, table: int) -> str:
        """Open a pairing code for a table, as the arbiter does."""
        token = self.client.get("/pairing?new=1").text.partition('name="form" value="')[2].partition('"')[0]
        form = {"form": token, f"table-{table}": "on", "again": "on"}
        page = self.client.post("/pairing", data=form, follow_redirects=True).text
        shown = page.partition(f'id="table-{table}"')[2].partition('<p class="code">')[2].partition("<")[0]
        code = re.sub(r"\D", "", shown)
        assert code, f"the desk gives no code: {page[:2000]}"
        return code

    def view(self) -> dict[str, Any]:
        """Return the desk's view."""
        answer = self.client.get("/view.json", headers={"Accept": "application/json"})
        view: dict[str, Any] = answer.json()
        return view

    def close(self) -> None:
        """Stop the scorer; may be called twice."""
        if self._client is not None:
            self._client.close()
        if self._scorer is not None:
            self._scorer.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Outside:
    """The outside of one machine: its table as the desk shows it, and the trays that are brought to it."""

    def __init__(self, hall: LabHall, number: int = TABLE) -> None:
        self.hall, self.number = hall, number
        self._plays = open_event(hall.folder).plays_of(number)

    def table(self) -> dict[str, Any]:
        """Return the machine's table in the desk's view."""
        return next(one for one in self.hall.view()["tables"] if one["table"] == self.number)

    def results(self) -> list[dict[str, Any]]:
        """Return the table's results in the desk's view, oldest first."""
        return [one for one in reversed(self.hall.view()["plays"]) if one["table"] == self.number]

    def play(self, number: int) -> PlannedPlay:
        """Return the plan of the table's play of a round."""
        return next(one for one in self._plays if one.round == number)

    def tray(self, number: int, seat: Seat) -> bytes:
        """Return a camera's picture of a tray that is laid as a round's plan says, as JPEG."""
        play, world = self.play(number), SimulatedTable()
        world.lay([[SimulatedTile(play.set, serial) for serial in row] for row in play.order[seat]])
        with closing(SimulatedCamera(CAMERA, world=world)) as camera:
            written, jpeg = cv2.imencode(".jpg", camera.frame(), [cv2.IMWRITE_JPEG_QUALITY, 92])
        assert written
        return jpeg.tobytes()

    def wait_for(self, what: str, holds: Callable[[dict[str, Any]], bool], limit_s: float = SOON_S) -> dict[str, Any]:
        """Wait until a condition on the desk's view of the table holds; return the table."""
        deadline, pause = time.monotonic() + limit_s, threading.Event()
        while not holds(shown := self.table()):
            if time.monotonic() > deadline:
                raise AssertionError(f"the desk does not show within {limit_s:.0f} s: {what}; but {shown}")
            pause.wait(0.5)
        return shown

    def wait_for_health(self, part: str, *, well: bool) -> None:
        """Wait until the desk reports a problem with a part of the table, or none any more."""
        self.wait_for(f"{part} {'well' if well else 'wrong'}", lambda shown: (part not in shown["health"]) is well)
