"""A standby holds its ports until it takes over, with real sockets."""

import socket
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import cast

import pytest

from broker.cli import scorer_process
from broker.cli.scorer import ScorerOptions
from broker.cli.server_ports import PAUSE_S, PORT_HINT, DeskOpening, HeldPort, hold_port
from broker.cli.standby import reserve_port
from broker.errors import StoreInUse
from broker.scorer.alerts import ALERT_CODES, Concern
from broker.store.following import EventCopy
from broker.web import errors, server
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME

ELSEWHERE = "192.0.2.1"
"""An address that no machine has (RFC 5737)."""


class StopOnWait(Event):
    """An event that is set as soon as something waits for it."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return super().wait(timeout)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_no_other_program_gets_a_held_port_until_it_is_lent(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    port = reserve_port()
    with closing(HeldPort(host, port)) as held:
        with pytest.raises(OSError, match="in use"):
            socket.create_server((host, port), family=family)
        with held.lent():
            socket.create_server((host, port), family=family).close()


@pytest.mark.parametrize(
    ("host", "code", "why", "hint"),
    [
        ("127.0.0.1", "desk_port_taken", "Address already in use", f" ({PORT_HINT})"),
        (ELSEWHERE, "desk_address_refused", "Cannot assign requested address", ""),
    ],
)
def test_the_reason_why_a_port_cannot_be_held_is_printed(
    capsys: pytest.CaptureFixture[str], host: str, code: str, why: str, hint: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, ExitStack() as running:
        port = other.getsockname()[1]
        assert hold_port(host, port, ("desk_port_taken", "desk_address_refused"), StopOnWait(), running) is None
    said = f"Standby: {code}: {host} port {port}: {why}: this machine stands by only when it has the port{hint}\n"
    assert capsys.readouterr().out == said


def test_a_standby_on_another_scorers_folder_ends_without_waiting_for_ports(tmp_path: Path) -> None:
    folder, stop = event_folder(tmp_path / "cup", []), Event()
    stop.set()
    asked = cast("ScorerOptions", SimpleNamespace(event=folder, host="127.0.0.1", desk_host="127.0.0.1"))
    place = scorer_process._Place(None, "https://127.0.0.1:1", None, 0, 0)
    with closing(EventCopy(folder, NAME)), ExitStack() as running, pytest.raises(StoreInUse):
        scorer_process._hold_ports(asked, place, stop, running)


class Opened:
    """Opens a desk whose address is first missing, then in use, then available; with a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told = list[Concern]()
        self._hosts = [ELSEWHERE, ELSEWHERE, "taken", "127.0.0.1"]

    def start(self) -> None:
        host = self._hosts.pop(0)
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1] if host == "taken" else 0
            server._listen("127.0.0.1" if host == "taken" else host, port).close()


def test_a_scorer_that_has_taken_over_retries_to_open_its_desk_and_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Opened()
    monkeypatch.setattr("broker.cli.server_ports.time", SimpleNamespace(monotonic=lambda: one.now))
    opening = DeskOpening(one.start, one.told.append, patient=True)
    for _ in range(6):
        opening.try_open()
        one.now += PAUSE_S
    assert [concern.code for concern in one.told] == ["desk_address_refused", "desk_port_taken"]
    assert {concern.code for concern in one.told} < ALERT_CODES.keys()
    gone, taken = capsys.readouterr().out.splitlines()
    assert gone.startswith(f"No desk yet: desk_address_refused: cannot listen on {ELSEWHERE} port 0: ")
    assert (gone.endswith("stored nevertheless"), taken.endswith(f"({PORT_HINT})")) == (True, True)


def test_a_scorer_that_has_not_taken_over_ends_if_its_desk_cannot_be_opened() -> None:
    one = Opened()
    with pytest.raises(errors.AddressRefused):
        DeskOpening(one.start, one.told.append, patient=False).try_open()
    assert one.told == []
