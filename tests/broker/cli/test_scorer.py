"""`homologue scorer` as a process: it reports what is wrong and does not start without what it needs."""

import gc
import json
import os
import re
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from broker.cli.encryption import Logins
from broker.cli.main import homologue
from broker.cli.scorer import CONNECTIONS
from broker.cli.scorer_process import UNFREEZE_EVERY, _freeze_survivors, _other_broker
from broker.cli.standby import reserve_port
from broker.event import open_event, read_devices
from broker.event.deals import sealing
from broker.event.deals.commitment import commit_folder
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.people.login import FIRST_LINK_FILE
from broker.protocol import SigningKey, topics
from broker.scorer import read_journal
from broker.scorer.access import Admissions
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from broker.store import open_journal, open_reader
from broker.web.server import ConnectionLimits
from broker.web.tables.event_pin import PIN_FILE
from tests.broker.mqtt.brokers import make_broker
from tests.broker.mqtt.client import Client
from tests.broker.scorer.small import sent, state
from tests.demo_event import MakeEvent, exchange_two_tiles
from tests.encryption import table_identity, trusting
from tests.patience import PATIENCE_S
from tests.refusals import codes

Start = Callable[..., DemoProcess]


@pytest.fixture
def folder(tmp_path: Path, demo_event: MakeEvent) -> Path:
    demo_event(tmp_path / "event", 1)
    return tmp_path / "event"


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start scorers, and stop them after the test."""
    children = []

    def begin(*options: str) -> DemoProcess:
        child = DemoProcess("scorer", ["scorer", str(folder), "--desk-port", "0", *options], lambda *_: None)
        children.append(child)
        return child

    yield begin
    for child in children:
        child.stop()


@pytest.fixture
def begin_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Start a scorer in this process, for tests in which it fails before it starts anything."""
    monkeypatch.setattr("broker.cli.scorer_process._set_up_process", lambda: None)  # keep our signals and limits
    monkeypatch.setattr("broker.cli.scorer_process.stop_on_signals", threading.Event)
    return lambda *options: CliRunner().invoke(homologue, ["scorer", str(folder), "--desk-port", "0", *options])


def test_a_scorer_does_not_start_with_a_deal_that_differs_from_its_commitment(
    folder: Path, begin_here: Callable[..., Result]
) -> None:
    commit_folder(folder, NAME)
    exchange_two_tiles(folder, 1)
    assert re.search(r"deal 1 is not what was committed to.* \[bad_event\]", begin_here().output)
    assert not (folder / "scorer.sqlite").exists()


def test_a_scorer_needs_the_key_of_sealed_deals(folder: Path, begin_here: Callable[..., Result]) -> None:
    commit_folder(folder, NAME)
    sealing.seal_folder(folder)
    (folder / sealing.DEALS_KEY).unlink()
    assert re.search(r"homologue deal recover.* \[bad_event\]", begin_here().output)
    assert not (folder / "scorer.sqlite").exists()


def children_of(pid: int) -> list[int]:
    children = list[int]()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended
            children += map(int, (task / "children").read_text(encoding="ascii").split())
    return children


def end(scorer: DemoProcess) -> None:
    """Stop a scorer and its broker properly, however long that takes."""
    os.kill(scorer.pid, signal.SIGTERM)
    assert scorer.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_scorer_whose_broker_has_died_ends_with_an_error(start: Start) -> None:
    scorer = start("--mqtt-port", "0")
    scorer.wait_for(r"^Desk: ", PATIENCE_S)
    (broker,) = children_of(scorer.pid)
    os.kill(broker, signal.SIGKILL)
    scorer.wait_for(r"broker_died", PATIENCE_S)
    assert scorer.wait(PATIENCE_S) == 1


def test_a_broker_elsewhere_needs_its_passwords(folder: Path, begin_here: Callable[..., Result]) -> None:
    (folder / "credentials.json").unlink()
    done = begin_here("--broker", "127.0.0.1:1883", "--plain")
    assert (done.exit_code, "broker_credentials_missing" in done.output) == (1, True)
    assert not (folder / "credentials.json").exists()


def test_a_broker_that_does_not_answer_or_refuses_the_login_is_reported(
    folder: Path, start: Start, tmp_path: Path
) -> None:
    Credentials.create(4).save(tmp_path / "others.json")
    known = Credentials.load(folder / "credentials.json")
    where = f"127.0.0.1:{(port := reserve_port())}"
    scorer = start("--broker", where, "--plain", "--credentials", str(tmp_path / "others.json"))
    told = scorer.wait_for(r"broker_unreachable .*why='(.*);", PATIENCE_S)
    assert told == f"no broker answers at {where}"
    with make_broker("embedded", tmp_path / "broker", NAME, known, tables=4, port=port):
        assert "ot authorized" in scorer.wait_for(r"broker_refused .*why=(.*)", PATIENCE_S)


def test_an_invalid_broker_address_is_refused(begin_here: Callable[..., Result]) -> None:
    assert begin_here("--broker", "host:0").exit_code == 2


def test_the_default_limit_of_connections_per_address_is_the_desks() -> None:
    assert ConnectionLimits().of_address == CONNECTIONS


@pytest.mark.parametrize("broker", ["broker..local:1883", "-:x", "host", "host:0", "host:65536", "[1:2:1883"])
def test_an_address_is_a_host_and_a_port(folder: Path, broker: str) -> None:
    with pytest.raises(click.UsageError, match="HOST:PORT"):
        _other_broker(broker, Logins(folder / "credentials.json", None))


@pytest.mark.slow
def test_files_that_the_scorer_writes_are_accessible_to_its_user_only(folder: Path, start: Start) -> None:
    before = {*folder.rglob("*")}
    scorer = start("--mqtt-port", "0")
    scorer.wait_for(r"^Desk: ", PATIENCE_S)
    end(scorer)  # a running broker creates and removes files
    made = {*folder.rglob("*")} - before
    assert [path.name for path in made if path.stat().st_mode & 0o077] == []
    assert {"scorer.sqlite", "standings.csv", "kind"} <= {path.name for path in made}


@pytest.mark.slow
def test_an_event_keeps_using_the_kind_of_broker_it_has_used_before(start: Start) -> None:
    for options, told in (
        (("--broker", "embedded"), "embedded, port [0-9]+: asked for with --broker"),
        ((), "embedded, port [0-9]+: the event has used it before"),
        (("--broker", "mosquitto"), "mosquitto, port [0-9]+: asked for with --broker"),
        ((), "mosquitto, port [0-9]+: the event has used it before"),
    ):
        scorer = start("--mqtt-port", "0", *options)
        scorer.wait_for(f"^Broker: {told}$", PATIENCE_S)
        if options and "mosquitto" in options:
            scorer.wait_for("^Broker changed: the event used embedded before", PATIENCE_S)
        scorer.wait_for(r"^Desk: ", PATIENCE_S)
        end(scorer)


@pytest.mark.parametrize("option", ["--desk-port", "--mqtt-port"])
def test_an_invalid_port_is_refused(folder: Path, option: str) -> None:
    assert CliRunner().invoke(homologue, ["scorer", str(folder), option, "65536"]).exit_code == 2


@pytest.mark.slow
def test_the_first_link_makes_a_head_arbiter_whose_orders_go_to_the_broker(
    folder: Path, start: Start, tmp_path: Path
) -> None:
    known = Credentials.load(folder / "credentials.json")
    identity, certificates = table_identity(folder, 1), Certificates.of_event(folder)
    device = identity.key.device if identity.key else ""
    with make_broker("embedded", tmp_path / "broker", NAME, known, tables=1, certificates=certificates) as broker:
        scorer = start("--broker", f"127.0.0.1:{broker.port}")
        url = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
        assert scorer.wait_for(r"Create the first head arbiter within an hour: the link in (\S+)", PATIENCE_S) == str(
            folder / FIRST_LINK_FILE
        )
        token = (folder / FIRST_LINK_FILE).read_text(encoding="utf-8").strip().partition("token=")[2]
        with (
            httpx.Client(
                base_url=url, headers={"Origin": url.rstrip("/")}, timeout=PATIENCE_S, verify=trusting(folder)
            ) as client,
            Client(broker, session="table-1") as table,
        ):
            table.trust(certificates.authority, identity)
            welcome = {"token": token, "name": "anne", "full": "Anne", "password": "four winds and a dragon"}
            assert client.post("/welcome", data=welcome).status_code == 303
            page = client.get("/orders").text
            form, id_ = (page.partition(f'name="{name}" value="')[2].partition('"')[0] for name in ("form", "id"))
            assert table.connect()
            table.subscribe(topics.ORDER.at(NAME, table=1))
            table.say(*sent(replace(state(1, device=device), event=NAME)), retain=True)
            order = {"form": form, "id": id_, "command": "pause", "table-1": "on", "reason": "fire alarm"}
            ends = time.monotonic() + PATIENCE_S
            while (answer := client.post("/orders", data=order)).status_code == HTTPStatus.SERVICE_UNAVAILABLE:
                assert time.monotonic() < ends
            assert b"pause" in table.hear().payload
            assert (answer.status_code, "fire alarm" in client.get("/orders").text) == (303, True)
    assert (folder / FIRST_LINK_FILE).exists() is False


@pytest.mark.slow
def test_a_missing_backup_stick_is_an_alert_at_the_desk(folder: Path, start: Start, tmp_path: Path) -> None:
    scorer = start("--mqtt-port", "0", "--backup", str(tmp_path / "stick"), "--backup-every", "0.01")
    url = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
    assert alerts(folder, url, 1) == ["backup_failed"]
    (tmp_path / "stick").mkdir()
    assert alerts(folder, url, 2) == ["backup_resumed", "backup_failed"]
    end(scorer)
    (copy,) = (tmp_path / "stick").iterdir()
    assert {"scorer.sqlite", "people.sqlite", "event.toml", "credentials.json"} <= {
        path.name for path in copy.iterdir()
    }


def alerts(folder: Path, url: str, count: int) -> list[str]:
    """Wait for alerts on the desk; return their codes, newest first."""
    trust = trusting(folder)
    with urllib.request.urlopen(f"{url}events", timeout=PATIENCE_S, context=trust) as lines:
        for line in lines:
            if line.startswith(b"data:"):
                with urllib.request.urlopen(f"{url}view.json", timeout=PATIENCE_S, context=trust) as answer:
                    codes = [one["code"] for one in json.load(answer)["alerts"]]
                if len(codes) >= count:
                    return codes
    raise AssertionError("the desk has ended")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--store-password", "x"), 1),
        (("--store", "postgresql://me:secret@host/db"), 1),
        (("--store", "postgresql://me@127.0.0.1:1/db"), 1),
    ],
)
def test_an_unusable_store_is_refused_before_anything_is_started(
    begin_here: Callable[..., Result], folder: Path, options: tuple[str, ...], code: int
) -> None:
    assert begin_here("--mqtt-port", "0", *options).exit_code == code
    assert not (folder / "broker").exists()
    assert not (folder / "store.toml").exists()


def ask(*words: object, said: str = "") -> None:
    """Run a command that must succeed."""
    done = CliRunner().invoke(homologue, [*map(str, words)], input=said)
    assert done.exit_code == 0, done.output


def wait_for_alert(client: httpx.Client, code: str) -> dict[str, Any]:
    """Follow the desk's stream until it has an alert of this code; return the alert."""
    with client.stream("GET", "/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: {"):
                alerts = json.loads(line.removeprefix("data: "))["alerts"]
                if found := [one for one in alerts if one["code"] == code]:
                    return dict(found[0])
    raise AssertionError(f"the stream has ended without {code}")


@pytest.mark.slow
def test_changes_of_accounts_and_devices_by_command_are_alerts_at_the_running_desk(folder: Path, start: Start) -> None:
    password, key = "correct horse battery staple", SigningKey.new()
    ask("people", "add", folder, "anne", "--full=Anne", "--role=head_arbiter", "--password-stdin", said=password)
    scorer = start("--mqtt-port", "0")
    desk = scorer.wait_for(r"^Desk: (\S+)", PATIENCE_S)
    origin = {"Origin": desk.rstrip("/")}
    with httpx.Client(base_url=desk, headers=origin, timeout=PATIENCE_S, verify=False) as client:  # noqa: S501 - on loopback
        assert client.post("/login", data={"name": "anne", "password": password}).status_code == HTTPStatus.SEE_OTHER
        assert wait_for_alert(client, "account_added")["values"]["about"] == "anne"
        ask("people", "add", folder, "crony", "--full=C", "--role=display", "--password-stdin", said=password)
        ask("people", "disable", folder, "crony")
        told = wait_for_alert(client, "account_disabled")
        assert told["values"] == {"who": "(command)", "about": "crony", "detail": ""}
        ask("event", "device", folder, "--table", 3, "--key", key.public)
        told = wait_for_alert(client, "device_listed")
        assert (told["table"], told["values"]["detail"]) == (3, key.device)


def test_a_running_event_cannot_be_closed(folder: Path) -> None:
    passwords = (folder / "credentials.json").read_bytes()
    with closing(open_journal(folder, NAME)):  # as a running scorer does
        refused = CliRunner().invoke(homologue, ["event", "close", str(folder), "--yes"])
    assert codes(refused.stderr) == ["store_in_use"]
    assert (refused.exit_code, (folder / "credentials.json").read_bytes()) == (1, passwords)


@pytest.mark.slow
def test_after_an_event_is_closed_its_tables_logins_are_worthless(folder: Path, start: Start) -> None:
    key, old = SigningKey.new(), Credentials.load(folder / "credentials.json")
    ask("event", "device", folder, "--table", 1, "--key", key.public)
    scorer = start("--mqtt-port", "0")
    scorer.wait_for(r"^Desk: ", PATIENCE_S)
    end(scorer)
    (folder / PIN_FILE).write_text("0", encoding="ascii")
    ask("event", "close", folder, "--yes")
    new = Credentials.load(folder / "credentials.json")
    kept = {user for user, password in new.passwords.items() if old.passwords[user] == password}
    assert kept == {user for user in old.passwords if not user.startswith("table-")}
    assert (read_devices(folder), (folder / PIN_FILE).exists()) == ((), False)
    event = open_event(folder)
    with closing(open_reader(folder, event.name)) as journal:
        admissions = Admissions(read_journal(journal, event).devices())
    assert (admissions.all(), admissions.knew(1, key.device)) == ([], True)
    # Starting the scorer again for a correction must not admit any of them.
    scorer = start("--mqtt-port", "0")
    scorer.wait_for(r"^Desk: ", PATIENCE_S)
    end(scorer)
    with closing(open_reader(folder, event.name)) as journal:
        assert Admissions(read_journal(journal, event).devices()).all() == []


def test_objects_that_survive_a_full_collection_are_frozen() -> None:
    outlived = [[object()] for _ in range(1000)]
    before = gc.get_freeze_count()
    for phase, generation in (("start", 2), ("stop", 1)):
        _freeze_survivors(phase, {"generation": generation})
    assert gc.get_freeze_count() <= before
    _freeze_survivors("stop", {"generation": 2})
    assert gc.get_freeze_count() >= before + len(outlived)


def test_from_time_to_time_frozen_objects_are_unfrozen_for_a_full_collection() -> None:
    _freeze_survivors("stop", {"generation": 2})
    for _ in range(UNFREEZE_EVERY):
        _freeze_survivors("start", {"generation": 2})
    assert gc.get_freeze_count() == 0
