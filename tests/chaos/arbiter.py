"""An arbiter at the desk who makes rulings all the time over HTTP, and remembers those that the desk confirmed."""

import random
import re
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import httpx

from broker.protocol import SEATS
from tests.chaos.event import ARBITER, PASSWORD, ChaosEvent
from tests.chaos.ledger import Play

HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
LOOKED_AT: Final = re.compile(r'name="looked_at" value="([0-9a-f]+)"')
UNKNOWN_DEVICE: Final = re.compile(r'id="unknown-\d+">(.*?)</form>', re.DOTALL)
REASON: Final = "seen by the arbiter"
PATIENCE_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class DoneRuling:
    """A ruling that the desk has confirmed."""

    id: str
    kind: str
    fields: dict[str, str]


class ChaosArbiter:
    """Makes and undoes rulings on recorded plays until it is stopped."""

    def __init__(
        self,
        event: ChaosEvent,
        desk: Callable[[], str],
        recorded: Callable[[], list[Play]],
        chance: random.Random,
        devices: Mapping[int, str],
        pause_s: float,
        trust: ssl.SSLContext | None,
    ) -> None:
        """`desk` returns its address, "" if there is none; `recorded` returns the plays with results.

        `devices` returns the device that the arbiter finds at each table.
        """
        self.done: list[DoneRuling] = []
        self.tried = 0
        self._event, self._desk, self._recorded, self._chance = event, desk, recorded, chance
        self._devices, self._pause_s = devices, pause_s
        self._stop, self._turn = threading.Event(), threading.Lock()
        self._rules = True
        self._thread = threading.Thread(target=self._rule_on, daemon=True, name="arbiter")
        self._client = httpx.Client(timeout=PATIENCE_S, headers={"Accept": "text/html"}, verify=trust or True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def finish(self) -> None:
        """Stop making rulings; return when pending ones are answered. Devices are still accepted."""
        with self._turn:
            self._rules = False

    def stop(self) -> None:
        """End the thread; may be called twice."""
        self._stop.set()
        self._thread.join()
        self._client.close()

    def view(self) -> dict[str, Any]:
        """Return the view of the whole room as an arbiter sees it. Raises httpx.HTTPError."""
        with self._turn:
            view: dict[str, Any] = self._get(f"{self._desk()}view.json").json()
        return view

    def _rule_on(self) -> None:
        while not self._stop.wait(self._pause_s * self._chance.uniform(0.5, 1.5)):
            with self._turn, suppress(httpx.HTTPError, OSError):
                self._accept_devices()
                if self._rules:
                    self._rule()

    def _accept_devices(self) -> None:
        """Accept each unknown device that is the one which the arbiter finds at the table."""
        desk = self._desk()
        if not desk:
            return
        for form in UNKNOWN_DEVICE.findall(self._get(f"{desk}devices").text):
            fields = dict(HIDDEN.findall(form))
            said = {(int(name[7:]), value) for name, value in fields.items() if name.startswith("device-")}
            if said and said <= set(self._devices.items()):
                self._post(desk, fields, "devices/accept")

    def _rule(self) -> None:
        desk, plays = self._desk(), self._recorded()
        if not desk or not plays:
            return
        address, kind, said = self._drawn(plays)
        page = self._get(f"{desk}rulings/new?{address}").text
        if 'id="ruling"' not in page:
            return  # the desk does not have the result yet
        fields = dict(HIDDEN.findall(page[page.index('id="ruling"') :])) | said | {"reason": REASON}
        looked = LOOKED_AT.search(self._post(desk, fields | {"action": "look"}).text)
        if looked is None:
            return  # refused: somebody has made a ruling meanwhile, or the scorer is busy
        self.tried += 1
        answer = self._post(desk, fields | {"looked_at": looked[1], "action": "publish"})
        if answer.status_code == httpx.codes.SEE_OTHER and f"done={fields['id']}" in answer.headers["location"]:
            self.done.append(DoneRuling(fields["id"], kind, fields))

    def _drawn(self, plays: list[Play]) -> tuple[str, str, dict[str, str]]:
        """Draw a ruling: the form's address, the kind, and the fields."""
        chance, (table, round_) = self._chance, self._chance.choice(plays)
        kind = chance.choices(
            ("fine", "award", "correct", "void", "fine of nobody's play", "undo"), (5, 3, 4, 1, 3, 2)
        )[0]
        if kind == "undo" and self.done:
            return f"undo={chance.choice(self.done).id}", kind, {}
        of_play, seat = f"play={table}-{round_}&kind=", chance.choice(SEATS)
        match kind:
            case "fine":
                return f"{of_play}fine", kind, {f"fine-{seat}": str(chance.randint(1, 20)), "exception": "1"}
            case "award":
                return f"{of_play}award", kind, {f"imp-{seat}": str(chance.randint(-20, 20) or 1)}
            case "void":
                return f"{of_play}void", kind, {}
            case "correct":
                said = {f"hv-{one}": "" for one in SEATS} | {f"hv-{seat}": str(chance.randint(8, 64))}
                return f"{of_play}correct", kind, said | {"win": "self_drawn", "discarder": ""}
        player = self._event.players(table)[seat]
        return "kind=fine", kind, {"player": player, "fine-player": str(chance.randint(1, 20)), "exception": "1"}

    def _get(self, address: str) -> httpx.Response:
        answer = self._client.get(address)
        if answer.status_code == httpx.codes.SEE_OTHER:
            self._log_in(address)
            answer = self._client.get(address)
        return answer

    def _post(self, desk: str, fields: dict[str, str], path: str = "rulings/new") -> httpx.Response:
        return self._client.post(f"{desk}{path}", data=fields, headers={"Origin": desk.rstrip("/")})

    def _log_in(self, address: str) -> None:
        desk = str(httpx.URL(address).join("/"))
        said = {"name": ARBITER, "password": PASSWORD}
        self._client.post(f"{desk}login", data=said, headers={"Origin": desk.rstrip("/")})
