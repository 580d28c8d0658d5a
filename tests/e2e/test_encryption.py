"""An event with TLS: pairing, revoking while it runs, and plain connections only if requested."""

import base64
import queue
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256, Hash
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from httpx import codes
from playwright.sync_api import Error

from broker.cli.main import homologue
from broker.mqtt.certificates import Certificates
from broker.mqtt.process import probe_broker
from broker.people import Actor, Authentication
from broker.protocol import Receipt, TableState, decode, encode, topics
from broker.protocol.link import Address, Incoming, Link, LinkChanged
from broker.protocol.pairing import PairingOffer
from broker.protocol.tls import event_context
from broker.sim.demo_event import NAME
from broker.sim.processes import DemoProcess
from kiosk.config import KEY_FILE, KioskSettings, open_device_key, store_pairing
from kiosk.pairing import exchange
from kiosk.pairing.exchange import request_pairing
from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.small import state
from tests.chromium import chromium
from tests.demo_event import MakeEvent
from tests.encryption import trusting
from tests.patience import PATIENCE_S

# A device gives up after ten seconds, which may be too soon on a busy machine.
pytest.MonkeyPatch().setattr(exchange, "TIMEOUT_S", PATIENCE_S)

pytestmark = pytest.mark.slow  # whole scorers, tables and browsers

OWN = """
paired = "state"
[devices]
buttons = "sim://buttons"
camera = "sim://tray"
"""


class Running:
    """A scorer with broker and desk, and an arbiter who pairs tables."""

    def __init__(self, folder: Path, leaving: ExitStack, *options: str) -> None:
        self.folder, self._leaving, self.said = folder, leaving, list[str]()
        command = ["scorer", str(folder), "--mqtt-port", "0", "--desk-port", "0", *options]
        self.process = DemoProcess("scorer", command, lambda _who, line: self.said.append(line))
        leaving.callback(self.process.stop)
        self.desk = self.process.wait_for(r"^Desk: (\S+)", PATIENCE_S)

    def arbiter(self) -> httpx.Client:
        """Return a client logged in as a head arbiter."""
        origin = {"Origin": self.desk.rstrip("/")}
        client = httpx.Client(base_url=self.desk, headers=origin, timeout=PATIENCE_S, verify=trusting(self.folder))
        self._leaving.enter_context(client)
        assert client.post("/login", data={"name": "anne", "password": PASSWORD}).status_code == 303
        return client

    def offer(self, client: httpx.Client, table: int) -> PairingOffer:
        """Open pairing for a table; return the content of its QR code."""
        page = client.get("/pairing?new=1").text
        form = page.partition('name="form" value="')[2].partition('"')[0]
        fields = {"form": form, f"table-{table}": "on", "anyway": "on"}
        shown = posted(client, "/pairing", fields).text
        code = shown.partition(f'id="table-{table}"')[2].partition('<p class="code">')[2].partition("<")[0]
        fingerprint = Certificates.of_event(self.folder).fingerprint
        return PairingOffer("127.0.0.1", urlsplit(self.desk).port or 0, code.replace(" ", ""), fingerprint)

    def device(self, own: Path, client: httpx.Client, table: int) -> "Device":
        """Pair a device with a table; return the connected device."""
        made = Device(own, self.offer(client, table), table)
        self._leaving.callback(made.link.stop)
        return made


def posted(client: httpx.Client, path: str, fields: dict[str, str]) -> httpx.Response:
    """Send a form until the desk accepts it, since the scorer may be busy at first."""
    ends = time.monotonic() + PATIENCE_S
    while (answer := client.post(path, data=fields, follow_redirects=True)).status_code == codes.SERVICE_UNAVAILABLE:
        assert time.monotonic() < ends
    assert answer.status_code == codes.OK, answer.text
    return answer


class Device:
    """A table's device: the desk's answer to its pairing, and its connection."""

    def __init__(self, own: Path, offer: PairingOffer, table: int) -> None:
        own.mkdir()
        (own / "kiosk.toml").write_text(OWN, encoding="utf-8")
        self.key = open_device_key(own / "state" / KEY_FILE)
        store_pairing(own / "state", request_pairing(offer, self.key, f"pi-{table}"))
        self.settings, self.table = KioskSettings(own / "kiosk.toml"), table
        self.heard: queue.SimpleQueue[Incoming | LinkChanged] = queue.SimpleQueue()
        self.link = self._open(self.settings)

    def _open(self, settings: KioskSettings) -> Link:
        receipt = topics.RECEIPT.at(NAME, table=self.table)
        link = Link(settings.address(), f"test-{self.key.device}", (receipt,), self.heard.put, persistent=False)
        link.start()
        return link

    def until(self, up: bool) -> None:  # noqa: FBT001 - the awaited state
        """Wait until the device is connected or disconnected."""
        while (one := self.heard.get(timeout=PATIENCE_S)) != LinkChanged(up=up):
            if isinstance(one, LinkChanged) and one.up is up:
                return

    def greet(self) -> Receipt:
        """Send hello; return the scorer's answer."""
        hello: TableState = state(self.table, device=self.key.device)
        payload = encode(hello).replace(b'"cup"', f'"{NAME}"'.encode())
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            self.link.publish(topics.STATE.at(NAME, table=self.table), payload, retain=True)
            with suppress(queue.Empty):
                while not isinstance(one := self.heard.get(timeout=2), Incoming):
                    pass
                return decode(Receipt, one.payload)
        raise AssertionError(f"table {self.table} has heard no receipt; its link is {'up' if self.link.up else 'down'}")


@pytest.fixture
def folder(tmp_path: Path, demo_event: MakeEvent) -> Path:
    """Return the folder of an event with an arbiter and no devices."""
    event = tmp_path / "event"
    demo_event(event, 1)
    (event / "devices.json").unlink()
    shutil.rmtree(event / "tls")
    auth = Authentication(event)
    auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, Actor("test"))
    auth.close()
    return event


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Running]:
    with ExitStack() as leaving:
        yield Running(folder, leaving, *options)


@pytest.fixture(params=["embedded", "mosquitto"])
def running(request: pytest.FixtureRequest, folder: Path) -> Iterator[Running]:
    with started(folder, "--broker", request.param) as made:
        yield made


def test_tables_are_paired_over_tls_and_revoking_one_does_not_disturb_the_others(
    running: Running, tmp_path: Path
) -> None:
    assert any(line.startswith("Certificates: created in ") for line in running.said)
    client = running.arbiter()
    lost, other = (running.device(tmp_path / f"pi-{table}", client, table) for table in (1, 2))
    for one in (lost, other):
        one.until(up=True)
        assert one.greet().table == one.table
    assert lost.settings.address().password == ""
    revoked = CliRunner().invoke(homologue, ["certs", "revoke", str(running.folder), "1"])
    assert lost.key.device in revoked.output
    until_refused(lost.settings.address())
    assert other.greet().table == 2
    assert other.link.up
    fresh = running.device(tmp_path / "pi-9", client, 1)
    fresh.until(up=True)


def until_refused(address: Address) -> None:
    """Wait until the broker rejects a device."""
    assert address.ca is not None
    context = event_context(address.ca.read_text("ascii"), address.identity)
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        if probe_broker(address.host, address.port, context=context):
            return
    raise AssertionError("still let in")


def test_a_device_revoked_by_the_desk_cannot_connect_until_it_is_accepted_again(
    running: Running, tmp_path: Path
) -> None:
    client, known = running.arbiter(), Certificates.of_event(running.folder)
    device = running.device(tmp_path / "pi", client, 1)
    device.until(up=True)
    pause = threading.Event()

    def decide(what: str, until: str | None) -> None:
        form = client.get("/devices").text.partition('name="form" value="')[2].partition('"')[0]
        fields = {"form": form, "table": "1", "device": device.key.device, "reason": "lost"}
        fields |= {"device-1": device.key.device}
        posted(client, f"/devices/{what}", fields)
        while known.tables()[0].revoked != until:
            assert not pause.wait(0.05)

    decide("revoke", "desk")
    decide("accept", None)


def test_desk_and_broker_reject_connections_without_tls(running: Running) -> None:
    port = urlsplit(running.desk).port
    assert running.desk.startswith("https://")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://127.0.0.1:{port}/health", timeout=PATIENCE_S)
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{running.desk}health", timeout=PATIENCE_S)


def test_plain_mode_requires_an_option_and_is_shown_at_start_and_on_every_page(folder: Path) -> None:
    with started(folder, "--plain") as made:
        assert made.desk.startswith("http://")
        assert len([line for line in made.said if line.startswith("connection_plain: ")]) == 1
        origin = {"Origin": made.desk.rstrip("/")}
        with httpx.Client(base_url=made.desk, headers=origin, timeout=PATIENCE_S) as client:
            html = {"Accept": "text/html"}
            pages = [client.get("/login", headers=html).text]
            client.post("/login", data={"name": "anne", "password": PASSWORD})
            pages += [client.get(path, headers=html).text for path in ("/", "/people", "/pairing")]
        assert ['<p class="bar problem" role="alert" id="plain-connections">' in page for page in pages] == [True] * 4
    assert not (folder / "tls").exists()


def test_an_event_begun_without_certificates_continues_and_explains_how_to_change(folder: Path) -> None:
    with started(folder, "--plain"):
        pass  # starting it creates the store
    with started(folder) as made:
        assert made.desk.startswith("http://")
        (said,) = (line for line in made.said if line.startswith("connection_plain: "))
        assert f"homologue certs new {folder}" in said
    assert CliRunner().invoke(homologue, ["certs", "new", str(folder)]).exit_code == 0
    with started(folder) as made:
        assert made.desk.startswith("https://")
        assert [line for line in made.said if line.startswith("connection_plain")] == []


def test_only_a_browser_that_trusts_the_events_authority_opens_the_desk(folder: Path) -> None:
    # In its own thread, because earlier tests may have left an event loop in the main thread.
    with started(folder) as made, ThreadPoolExecutor(1) as thread:
        trusted = f"--ignore-certificate-errors-spki-list={key_hash(Certificates.of_event(folder))}"
        address = f"{made.desk}login"
        titles = {knows: thread.submit(title, address, [trusted] * knows).result() for knows in (True, False)}
    assert "Homologue" in titles[True] or "desk" in titles[True]
    assert "ERR_CERT_AUTHORITY_INVALID" in titles[False]


def title(address: str, arguments: list[str]) -> str:
    """Return the title of a page in Chromium, or why it cannot be opened."""
    with chromium(*arguments) as browser:
        page = browser.new_page()
        try:
            page.goto(address)
            return page.title()
        except Error as error:
            return str(error)


def key_hash(certificates: Certificates) -> str:
    """Return the hash by which Chromium identifies the authority's key."""
    key = x509.load_pem_x509_certificate(certificates.authority.encode()).public_key()
    digest = Hash(SHA256())
    digest.update(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    return base64.b64encode(digest.finalize()).decode()


def test_a_device_with_a_damaged_key_starts_and_is_rejected(running: Running, tmp_path: Path) -> None:
    device = running.device(tmp_path / "pi", running.arbiter(), 1)
    device.until(up=True)
    (tmp_path / "pi" / "state" / KEY_FILE).write_text("rubbish")
    until_refused(KioskSettings(tmp_path / "pi" / "kiosk.toml").address())
    assert device.greet().table == 1
