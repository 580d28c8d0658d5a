"""Pairing a device: with a real desk, with certificates, with impostors, and across power cuts."""

import queue
import socket
import ssl
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace as replaced
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final

import cv2
import msgspec
import numpy as np
import pytest
import zxingcpp
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.main import homologue
from broker.files import write_private
from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.people import Authentication
from broker.protocol import SigningKey
from broker.protocol.pairing import (
    FINGERPRINT_SHOWN,
    Pairing,
    PairingAnswer,
    PairingOffer,
    PairingRequest,
    TableBroker,
    derive_keys,
    pairing_text,
    read_pairing,
)
from broker.web.errors import PairingUnknown
from broker.web.server import Certificate, DeskServer
from broker.web.services import Services
from broker.web.tables.pairing import BrokerForTables, PairingService, monotonic_ms
from broker.web.tables.pairing_codes import PairingCodes
from firmware.reports import NotScanned
from kiosk import config
from kiosk.config import PAIRING_FILE, KioskSettings, store_pairing, unpaired_settings
from kiosk.errors import KioskError, PairingRefused
from kiosk.pairing import form as forms
from kiosk.pairing import session
from kiosk.pairing.exchange import request_pairing
from kiosk.pairing.form import PairingForm
from kiosk.pairing.session import OfferCamera, PairingDesk, find_offer
from kiosk.practice.session import SIMULATED
from tests.broker.web import sample
from tests.patience import PATIENCE_S
from vision.cameras.addresses import open_camera
from vision.cameras.camera import Camera
from vision.errors import CameraMissingError

EVENT: Final = "cup-2026"
CODE: Final = "12345678"
KEY: Final = SigningKey.new()
BROKER: Final = TableBroker(host="scorer.local", port=8883, password="p" * 32, ca="a certificate\n")
PLAIN: Final = TableBroker(host="scorer.local", port=1883, password="q" * 32)
PAIRING: Final = Pairing(event=EVENT, table=3, broker=BROKER)
OWN: Final = f"""
paired = "state"
desk = "scorer.local"
[devices]
buttons = "sim://buttons"
camera = "{SIMULATED}"
"""


class Desks:
    """A real desk, with and without TLS, whose codes the test opens."""

    def __init__(self, folder: Path) -> None:
        self.certificates, self.auth = Certificates.ensure(folder), Authentication(folder)
        self.passwords = Credentials.ensure(folder / "credentials.json", 9)
        certificate = Certificate(self.certificates.server, self.certificates.server_key, self.certificates.ca)
        self.plain, self.secured = PairingCodes(""), PairingCodes(self.certificates.fingerprint)
        self.servers = {
            self.plain: self._desk(BrokerForTables(EVENT, folder / "credentials.json", 1883), self.plain, None),
            self.secured: self._desk(
                BrokerForTables(
                    EVENT, folder / "credentials.json", 8883, "scorer.local", certificates=self.certificates
                ),
                self.secured,
                certificate,
            ),
        }

    def _desk(self, told: BrokerForTables, pairings: PairingCodes, tls: Certificate | None) -> DeskServer:
        pairing = PairingService(told, pairings, tls.anchor if tls else "")
        server = DeskServer(sample.feed(), port=0, auth=self.auth, tls=tls, services=Services(pairing=pairing))
        server.start()
        return server

    def offer(self, pairings: PairingCodes, table: int = 3, seen: str = "") -> PairingOffer:
        """Open a code."""
        port = int(self.servers[pairings].url.rsplit(":", 1)[1].strip("/"))
        return PairingOffer("127.0.0.1", port, pairings.open(table, monotonic_ms()).code, seen)

    def close(self) -> None:
        for server in self.servers.values():
            server.stop()
        self.auth.close()


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desks]:
    made = Desks(tmp_path_factory.mktemp("desks"))
    yield made
    made.close()


def code_of(work: Callable[[], object]) -> str:
    """Return the code of a refusal; if the desk refuses, the desk's own."""
    with pytest.raises(KioskError) as refused:
        work()
    return refused.value.why if isinstance(refused.value, PairingRefused) else refused.value.code


# ---- with a real desk -------------------------------------------------------------------------


def test_a_code_gives_the_device_its_table_and_works_once(desks: Desks) -> None:
    offer = desks.offer(desks.plain)
    paired = request_pairing(offer, KEY, "pi-3")
    password = desks.passwords.password("table-3")
    assert paired == Pairing(event=EVENT, table=3, broker=TableBroker(host="127.0.0.1", port=1883, password=password))
    assert code_of(lambda: request_pairing(offer, KEY)) == "pairing_spent"


def test_with_tls_the_device_learns_the_brokers_authority_and_the_fingerprint_matches(desks: Desks) -> None:
    paired = request_pairing(desks.offer(desks.secured, seen=desks.secured.fingerprint[:FINGERPRINT_SHOWN]), KEY)
    assert (paired.broker.host, paired.broker.ca) == ("scorer.local", desks.certificates.authority)
    assert paired.certificate == desks.certificates.issue(3, KEY.public)


def test_a_desk_with_another_certificate_than_in_the_code_gets_no_request(desks: Desks) -> None:
    offer = desks.offer(desks.secured, seen="0" * 12)
    assert code_of(lambda: request_pairing(offer, KEY)) == "desk_unproven"
    assert request_pairing(replaced(offer, fingerprint=""), KEY).table == 3  # the code is still valid


def test_an_impostor_with_its_own_certificate_learns_nothing_usable(desks: Desks, tmp_path: Path) -> None:
    """The proof that it receives is bound to its own certificate, so the desk does not accept it as a code."""
    with Between(Certificates.ensure(tmp_path)) as between:
        offer = desks.offer(desks.secured)
        assert code_of(lambda: request_pairing(replaced(offer, port=between.port), KEY)) == "desk_unproven"
        (asked,) = between.asked
    with pytest.raises(PairingUnknown):
        desks.secured.take(asked, "10.6.6.6", monotonic_ms(), str)
    assert asked.salt is not None
    assert derive_keys(offer.code, desks.secured.fingerprint, asked.salt).proof != asked.proof


def test_an_impostor_naming_the_events_authority_gets_no_request(desks: Desks, tmp_path: Path) -> None:
    with Between(Certificates.ensure(tmp_path), anchor=desks.certificates.authority) as between:
        offer = replaced(desks.offer(desks.secured, seen=desks.secured.fingerprint), port=between.port)
        assert code_of(lambda: request_pairing(offer, KEY)) == "desk_unproven"
        assert between.asked == []


def test_a_qr_code_of_a_desk_with_tls_is_not_used_without_tls(desks: Desks) -> None:
    with Between() as between:
        offer = PairingOffer("127.0.0.1", between.port, CODE, desks.secured.fingerprint)
        assert code_of(lambda: request_pairing(offer, KEY)) == "desk_unproven"
        assert between.asked == []


class Between:
    """An impostor that answers in the desk's place with whatever it can make up."""

    def __init__(
        self, tls: Certificates | None = None, body: bytes | None = None, status: int = 200, anchor: str = ""
    ) -> None:
        self.asked: list[PairingRequest] = []
        made_up = PairingAnswer(pairing=msgspec.json.encode(PAIRING).decode(), seal="0" * 64)
        answer, heard = msgspec.json.encode(made_up) if body is None else body, self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write((anchor or (tls.authority if tls else "")).encode())

            def do_POST(self) -> None:
                asked = self.rfile.read(int(self.headers["Content-Length"]))
                heard.append(msgspec.json.decode(asked, type=PairingRequest))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls.server, tls.server_key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> "Between":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 200, "desk_unproven"),
        (b"[" * 2000, 200, "desk_unproven"),
        (b"\xff" * 100_000, 200, "desk_unproven"),
        (b"<html>", 404, "no_answer"),
        (b'{"error": {"code": "<b>"}}', 403, "no_answer"),
        (b'{"error": {"code": "pairing_over", "message": "late"}}', 410, "pairing_over"),
    ],
)
def test_any_answer_is_proven_or_refused(body: bytes, status: int, code: str) -> None:
    with Between(body=body, status=status) as between:
        assert code_of(lambda: request_pairing(PairingOffer("127.0.0.1", between.port, CODE), KEY)) == code


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid", "a..b", "-"])
def test_an_unreachable_desk_is_reported(host: str, closed_port: int) -> None:
    assert code_of(lambda: request_pairing(PairingOffer(host, closed_port, CODE), KEY)) == "desk_unreachable"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a port at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield int(one.getsockname()[1])  # while it is bound, nobody else gets it


def test_a_busy_desk_is_asked_again() -> None:
    busy = PairingRefused("pairing_busy")
    answers: Iterator[Pairing | PairingRefused] = iter([busy, busy, PAIRING])
    paused: list[float] = []

    def ask(_offer: PairingOffer, _key: SigningKey) -> Pairing:
        answer = next(answers)
        if isinstance(answer, PairingRefused):
            raise answer
        return answer

    desk = PairingDesk(Path(), "", ask, pause=paused.append)
    assert (desk._answer(PairingOffer("h", 1, CODE), KEY), len(paused)) == (PAIRING, 2)


# ---- what is stored ---------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A device's own configuration, which names no event."""
    (tmp_path / "kiosk.toml").write_text(OWN, encoding="utf-8")
    return tmp_path / "kiosk.toml"


def test_the_pairing_is_stored_for_the_kiosk_only_and_becomes_its_configuration(own: Path) -> None:
    assert code_of(lambda: KioskSettings(own)) == "not_paired"
    store_pairing(Path(unpaired_settings(own).paired), PAIRING)
    files = [*(own.parent / "state").iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((own.parent / "state").stat().st_mode) == 0o700
    read, address = KioskSettings(own), KioskSettings(own).address()
    assert (read.config.event, read.config.table) == (EVENT, 3)
    assert read.folder == own.parent / "state" / EVENT / "table-3"
    assert (address.host, address.port, address.user, address.password) == ("scorer.local", 8883, "table-3", "p" * 32)
    assert address.ca is not None
    assert address.ca.read_text(encoding="ascii") == BROKER.ca


def test_another_event_gets_another_journal_and_the_old_one_stays(own: Path) -> None:
    store_pairing(Path(unpaired_settings(own).paired), PAIRING)
    before = KioskSettings(own).folder
    store_pairing(Path(unpaired_settings(own).paired), msgspec.structs.replace(PAIRING, event="next", broker=PLAIN))
    after = KioskSettings(own)
    assert (after.folder != before, after.address().ca) == (True, None)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_power_cut_while_storing_leaves_the_old_or_the_new_pairing(
    own: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    store_pairing(Path(unpaired_settings(own).paired), PAIRING)
    writes = 0

    def cutting(path: Path, content: bytes) -> None:
        nonlocal writes
        writes += 1
        if writes == cut:
            raise KeyboardInterrupt
        write_private(path, content)

    monkeypatch.setattr(config, "write_private", cutting)
    with pytest.raises(KeyboardInterrupt):
        store_pairing(Path(unpaired_settings(own).paired), msgspec.structs.replace(PAIRING, table=4))
    read = KioskSettings(own)
    assert (read.config.table, read.address().user) == (3, "table-3")


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"event": "UP", "table": 0}'])
def test_an_unreadable_pairing_is_a_bad_configuration(own: Path, content: bytes) -> None:
    (own.parent / "state").mkdir()
    (own.parent / "state" / PAIRING_FILE).write_bytes(content)
    assert code_of(lambda: KioskSettings(own)) == "bad_configuration"


def test_a_folder_that_takes_no_writes_is_reported(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    assert code_of(lambda: store_pairing(tmp_path / "state", PAIRING)) == "bad_configuration"


def test_a_device_without_a_screen_is_paired_from_its_command_line(desks: Desks, own: Path) -> None:
    offer = desks.offer(desks.plain, table=5)
    line = ["pair", str(own), f"127.0.0.1:{offer.port}"]
    told = CliRunner().invoke(homologue, ["table", *line], input=f"{offer.code}\n")
    assert (told.exit_code, offer.code in told.output, KioskSettings(own).config.table) == (0, False, 5)
    again = CliRunner().invoke(homologue, ["table", *line], input=f"{offer.code}\n")
    assert (again.exit_code, KioskSettings(own).config.table) == (1, 5)
    assert "homologue: the desk has refused the code: pairing_spent [pairing_refused]\n" in again.output


# ---- at the screen ----------------------------------------------------------------------------


def typed(form: PairingForm, keys: str) -> PairingForm | PairingOffer:
    for key in keys.split():
        after = forms.press_pairing_key(form, key)
        if isinstance(after, PairingOffer):
            return after
        form = after
    return form


def test_address_and_code_are_typed_and_a_slip_can_be_corrected() -> None:
    offer = typed(forms.new_pairing_form(""), "1 0 . 0 . 0 . 5 back 4 enter 1 2 3 4 5 6 9 back 7 8 9 enter")
    assert offer == PairingOffer("10.0.0.4", 8136, CODE)


def test_incomplete_input_is_reported_and_stays() -> None:
    assert typed(forms.new_pairing_form(""), ": enter") == PairingForm("address", ":", problem="address_unreadable")
    assert typed(forms.new_pairing_form("desk"), "1 2 enter") == PairingForm("code", "desk", "12", "code_unreadable")
    assert typed(forms.new_pairing_form("desk"), "back back") == PairingForm("address", "des")


@given(st.lists(st.sampled_from([*"09az.:-", "enter", "back", "clear", "f1", "c"]), max_size=60))
def test_no_input_breaks_the_form(keys: list[str]) -> None:
    form = typed(forms.new_pairing_form(""), " ".join(keys))
    assert isinstance(form, PairingOffer) or (len(form.code) <= 8 and len(form.address) <= forms.LONGEST_ADDRESS)


def test_a_code_that_stays_in_view_is_sent_once_and_a_refusal_is_shown(own: Path) -> None:
    asked: queue.SimpleQueue[PairingOffer] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Pairing | KioskError] = queue.SimpleQueue()

    def ask(offer: PairingOffer, _key: SigningKey) -> Pairing:
        asked.put(offer)
        answer = answers.get(timeout=PATIENCE_S)
        if isinstance(answer, KioskError):
            raise answer
        return answer

    desk, offer = PairingDesk(Path(unpaired_settings(own).paired), "", ask), PairingOffer("desk", 8136, CODE)
    desk.scanned(NotScanned("scan_unknown", pairing_text(offer), 0))
    desk.scanned(NotScanned("scan_unknown", "4006381333931", 0))
    desk.step(PATIENCE_S)
    assert (desk.form.step, asked.get(timeout=PATIENCE_S)) == ("asking", offer)
    answers.put(PairingRefused("pairing_over"))
    desk.step(PATIENCE_S)
    assert (desk.form.step, desk.form.problem, desk.form.address) == ("code", "pairing_over", "desk:8136")
    desk.put(offer)  # still in view
    desk.step(PATIENCE_S)
    assert (desk.form.step, asked.empty()) == ("code", True)
    for key in "87654321":
        desk.key(key)
    desk.key("enter")
    answers.put(PAIRING)
    desk.step(PATIENCE_S)
    assert (desk.done, desk.form.step, desk.form.table) == (True, "paired", 3)
    assert KioskSettings(own).config.table == 3


def test_the_camera_reads_the_desks_qr_code(tmp_path: Path) -> None:
    offer = PairingOffer("scorer.local", 8136, CODE, "0123456789abcdef" * 2)
    square = zxingcpp.create_barcode(pairing_text(offer), zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    shown = np.asarray(zxingcpp.write_barcode_to_image(square, scale=8))
    wide = np.full((shown.shape[0] + 200, shown.shape[1] + 400, 3), 200, dtype=np.uint8)
    wide[100:-100, 200:-200] = shown[:, :, None]
    cv2.imwrite(str(tmp_path / "1.png"), wide)
    told: queue.SimpleQueue[PairingOffer] = queue.SimpleQueue()
    seeing = OfferCamera(partial(open_camera, f"pictures:{tmp_path}"), told.put)
    seeing.start()
    try:
        assert told.get(timeout=PATIENCE_S) == offer
    finally:
        seeing.stop()


def test_a_missing_camera_is_reported_once_and_tried_again_and_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, enough = iter(range(5)), threading.Event()

    def missing() -> Camera:
        if next(tries, None) is None:
            enough.set()
        raise CameraMissingError("no camera")

    monkeypatch.setattr(session, "RETRY_S", 0.001)
    seeing = OfferCamera(missing, lambda _: None)
    with caplog.at_level("INFO", "homologue.kiosk"):
        seeing.start()
        assert enough.wait(PATIENCE_S)
        seeing.stop()
    assert [one.msg for one in caplog.records] == [{"event": "camera", "code": "camera_missing"}]


SQUARES: Final = (
    "https://example.org/HMP1 desk:8136 12345678",
    "HMP1 desk:8136 12345678\nHMP1 evil:8136 12345678",
    "HMP1 desk:8136 12345678 0123456789ab; reboot",
    "HMP1 desk/../x:8136 12345678",
    "HMP1 desk:99999 12345678",
    "HMP1 desk:8136 1234567",
    "HMP1 desk\x1b[2J:8136 12345678",
    "'; DROP TABLE about; --",
    "A" * 2000,
    "\x00\x01\x02",
)
"""Contents of QR codes that somebody may show to a table."""


@pytest.mark.parametrize("text", SQUARES)
def test_a_qr_code_with_other_content_is_no_offer(text: str) -> None:
    square = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="L")
    shown = np.asarray(zxingcpp.write_barcode_to_image(square, scale=4))
    picture = np.repeat(shown[:, :, None], 3, axis=2)
    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    assert (len(found), find_offer(picture)) == (1, None)


@given(st.text() | st.from_regex(r"HMP1 .{0,30} [0-9]{8}.{0,20}"))
def test_a_scan_is_an_offer_only_as_the_desk_writes_it(text: str) -> None:
    offer = read_pairing(text)
    if offer is not None:
        assert read_pairing(pairing_text(offer)) == offer
        assert text.isascii()
        assert text.isprintable()
