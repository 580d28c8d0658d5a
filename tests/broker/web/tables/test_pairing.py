"""Pairing at the desk: who may open codes, how long they are valid, and how devices without one are refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cv2
import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, expect

from broker.mqtt.access import Credentials
from broker.people import Actor, Authentication
from broker.protocol import LAST_PORT, SigningKey
from broker.protocol.pairing import (
    DIGITS,
    FINGERPRINT_SHOWN,
    PATH,
    Pairing,
    PairingAnswer,
    PairingKeys,
    PairingOffer,
    PairingRequest,
    derive_keys,
    new_salt,
    pairing_text,
    read_pairing,
    read_typed_pairing,
)
from broker.web import Access
from broker.web.errors import DeskError, NothingToPairWith, PairingDelayed, PairingOver, PairingSpent, PairingUnknown
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.tables import pairing_codes
from broker.web.tables.pairing import BrokerForTables, PairingPage, PairingService
from broker.web.tables.pairing_codes import LIFETIME_MS, OF_ALL, OF_FRESH_NETWORK, OF_NETWORK, PairingCodes
from tests.broker.people.conftest import PASSWORD, Hand, quick_hashes
from tests.broker.web import sample
from tests.broker.web.pages.visits import page_of
from tests.broker.web.test_auth import logged_in, token_of
from tests.patience import PATIENCE_S

EVENT: Final = "cup"
HERE: Final = "10.0.0.7"
SALT: Final = new_salt()
KEY, EVENT_KEY = SigningKey.new(), SigningKey.new().public
FREE: Final = 4
"""A table of the sample that has no device; table 1 has one."""
NOWHERE: Final = BrokerForTables(EVENT, Path("none.json"), 1883)


class Bench:
    """A desk on which tables are paired, with a manual clock."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.auth, self.passwords_folder = Hand(), Authentication(folder), folder
        for role in ("head_arbiter", "table_arbiter", "organiser", "display"):
            self.auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        self.passwords = Credentials.ensure(folder / "credentials.json", 8)
        self.told: list[bool] = []
        """For each time that a PIN was to be sent to the tables, whether one was stored."""
        self.admitted: list[tuple[int, str, str]] = []
        tables = BrokerForTables(
            EVENT,
            folder / "credentials.json",
            1883,
            tell_pin=self.tell,
            event_key=EVENT_KEY,
            admit=lambda *device: self.admitted.append(device),
        )
        self.begun = False
        pairing = PairingService(tables, PairingCodes(""), clock=self.clock, begun=lambda: self.begun)
        self.server = DeskServer(sample.feed(), port=0, auth=self.auth, services=Services(pairing=pairing))

    def tell(self) -> None:
        self.told.append((self.passwords_folder / "arbiter-pin").exists())

    def audited(self) -> list[tuple[str, str, str, str]]:
        return [(one.who, one.action, one.about, one.detail) for one in self.auth.audit.newest(3)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        made = Bench(tmp_path_factory.mktemp("desk"))
        with made.server:
            yield made
        made.auth.close()


@pytest.fixture
def organiser(bench: Bench) -> Iterator[httpx.Client]:
    with logged_in(bench.server, "organiser") as client:
        yield client


def opened(client: httpx.Client, **fields: str) -> httpx.Response:
    form = {"form": token_of(client, "/pairing?new=1"), **fields}
    return client.post("/pairing", data=form, follow_redirects=True)


def code_on(page: httpx.Response, table: int) -> str:
    """Return the code shown for a table on a page, without the space between its blocks."""
    card = page.text.partition(f'id="table-{table}"')[2]
    return card.partition('<p class="code">')[2].partition("<")[0].replace(" ", "")


def ask(bench: Bench, proof: str, **more: object) -> httpx.Response:
    said = {"proof": proof, "machine": "pi-4", "salt": SALT, **more}
    return httpx.post(f"{bench.server.url.rstrip('/')}{PATH}", json=said, timeout=PATIENCE_S)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_code_pairs_one_device_and_refuses_a_second(bench: Bench, organiser: httpx.Client) -> None:
    code = code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE)
    keys = derive_keys(code, "", SALT)
    answer = ask(bench, keys.proof)
    sealed = msgspec.json.decode(answer.content, type=PairingAnswer)
    paired = msgspec.json.decode(sealed.pairing, type=Pairing)
    assert keys.verifies(sealed)
    assert (paired.event, paired.table, paired.broker.port) == (EVENT, FREE, 1883)
    assert paired.broker.host == "127.0.0.1"  # the name under which the desk was requested
    assert paired.broker.password == bench.passwords.password(f"table-{FREE}")
    assert refusal(ask(bench, keys.proof, machine="another")) == (410, "pairing_spent")
    assert bench.audited() == [
        ("", "pairing_refused", "pairing_spent", "another"),
        ("", "pairing_taken", str(FREE), "pi-4"),
        ("organiser", "pairing_opened", str(FREE), ""),
    ]
    told = "".join(map(str, bench.auth.audit.entries())) + organiser.get("/pairing").text
    assert [secret for secret in (code, keys.proof, paired.broker.password) if secret in told] == []
    assert code not in organiser.get("/pairing").text


def test_the_qr_code_on_the_page_pairs_a_device(browser: Browser, bench: Bench, tmp_path: Path) -> None:
    page = page_of(browser, bench.server, "organiser", "pairing?new=1&lang=en")
    page.get_by_label(str(FREE), exact=True).check()
    page.get_by_role("button", name="Create codes").click()
    card = page.locator(f"#table-{FREE}")
    card.locator("svg").first.screenshot(path=tmp_path / "qr.png")
    picture = cv2.imread(str(tmp_path / "qr.png"))
    assert picture is not None
    drawn, _corners, _straight = cv2.QRCodeDetector().detectAndDecode(picture)
    offer = read_pairing(drawn)
    assert offer
    assert f"{offer.host}:{offer.port}" in page.locator("#open-title + p").inner_text()
    assert offer.code == card.locator(".code").inner_text().replace(" ", "")
    assert ask(bench, derive_keys(offer.code, offer.fingerprint, SALT).proof).status_code == 200
    page.reload()
    expect(card).to_contain_text("Paired: pi-4")
    expect(card.get_by_role("button")).to_have_count(0)


def test_a_paired_device_is_admitted_and_gets_the_events_key(bench: Bench, organiser: httpx.Client) -> None:
    bench.admitted.clear()
    keys = derive_keys(code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE), "", SALT)
    forged = ask(bench, keys.proof, key=KEY.public, key_seal="0" * 64)
    assert (refusal(forged), bench.admitted) == ((404, "pairing_unknown"), [])
    sealed = msgspec.json.decode(
        ask(bench, keys.proof, key=KEY.public, key_seal=keys.seal(KEY.public)).content, type=PairingAnswer
    )
    assert msgspec.json.decode(sealed.pairing, type=Pairing).event_key == EVENT_KEY
    assert bench.admitted == [(FREE, KEY.public, "pi-4")]


def test_an_older_device_is_paired_without_being_admitted(bench: Bench, organiser: httpx.Client) -> None:
    bench.admitted.clear()
    keys = derive_keys(code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE), "", SALT)
    sealed = msgspec.json.decode(ask(bench, keys.proof).content, type=PairingAnswer)
    assert ("event_key" in sealed.pairing, bench.admitted) == (False, [])


def test_a_pin_is_neither_sent_when_pairing_nor_shown(bench: Bench, organiser: httpx.Client) -> None:
    with logged_in(bench.server, "head_arbiter") as head:
        form = {"form": token_of(head, "/pairing?new=1"), "pin": "2468", "pin_again": "2468"}
        refused = head.post("/pairing/pin", data={**form, "pin_again": "2469"})
        assert (refused.status_code, "pin_unusable" in refused.text, "2468" in refused.text) == (400, True, False)
        page = head.post("/pairing/pin", data=form, follow_redirects=True).text
        assert ('id="done"' in page, 'id="pin"' in page) == (True, True)
    assert bench.audited()[0][:3] == ("head_arbiter", "arbiters_pin_set", "")
    keys = derive_keys(code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE), "", SALT)
    sealed = msgspec.json.decode(ask(bench, keys.proof).content, type=PairingAnswer)
    assert ("argon2" in sealed.pairing, "pin" in msgspec.json.decode(sealed.pairing)) == (False, False)
    page = organiser.get("/pairing?new=1").text
    assert (page.count("Tables without a PIN: 1"), bench.told) == (1, [True])


def test_an_organiser_may_not_set_the_pin(bench: Bench, organiser: httpx.Client) -> None:
    page, before = organiser.get("/pairing?new=1").text, bench.audited()
    form = {"form": token_of(organiser, "/pairing?new=1"), "pin": "1357", "pin_again": "1357"}
    refused = organiser.post("/pairing/pin", data=form)
    assert (refused.status_code, "head_arbiter_only" in refused.text, 'name="pin"' in page) == (400, True, False)
    assert bench.audited() == before


def test_only_the_head_arbiter_pairs_once_the_event_has_begun(bench: Bench, organiser: httpx.Client) -> None:
    bench.begun = True
    try:
        refused = opened(organiser, **{f"table-{FREE}": "on"})
        assert (refused.status_code, "head_arbiter_only" in refused.text) == (400, True)
        assert "Create codes" not in organiser.get("/pairing?new=1").text
        with logged_in(bench.server, "head_arbiter") as head:
            assert len(code_on(opened(head, **{f"table-{FREE}": "on"}), FREE)) == DIGITS
            opened(head, withdraw=str(FREE))
    finally:
        bench.begun = False
    bench.clock.now += 100 * LIFETIME_MS


def test_a_code_expires_with_time_or_a_newer_code(bench: Bench, organiser: httpx.Client) -> None:
    first = code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE)
    second = code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE)
    assert refusal(ask(bench, derive_keys(first, "", SALT).proof)) == (410, "pairing_over")
    bench.clock.now += LIFETIME_MS
    assert refusal(ask(bench, derive_keys(second, "", SALT).proof)) == (410, "pairing_over")
    bench.clock.now += 100 * LIFETIME_MS


def test_pairing_a_table_with_a_device_needs_confirmation(organiser: httpx.Client) -> None:
    page = opened(organiser, **{"table-1": "on"})
    assert (page.status_code, "table_has_device" in page.text) == (409, True)
    assert 'name="anyway"' in page.text
    assert len(code_on(opened(organiser, **{"table-1": "on", "anyway": "on"}), 1)) == DIGITS
    opened(organiser, withdraw="1")
    assert code_on(organiser.get("/pairing"), 1) == ""


def test_the_next_tables_are_those_without_device_and_code(bench: Bench, organiser: httpx.Client) -> None:
    free = [table.table for table in sample.tables() if table.lifecycle in (None, "lost", "disconnected")]
    page = opened(organiser, next=str(len(free)))
    assert [table for table in range(1, 20) if code_on(page, table)] == free
    assert opened(organiser, next="1").status_code == 400  # all of them already have a code
    bench.clock.now += 100 * LIFETIME_MS


@pytest.mark.parametrize("role", ["table_arbiter", "display"])
def test_only_those_who_may_set_up_may_pair_tables(bench: Bench, role: str) -> None:
    with logged_in(bench.server, role) as client:
        assert [client.get("/pairing").status_code, client.post("/pairing").status_code] == [403, 403]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"\xff", 400),
        (b"[" * 900, 400),
        (b'{"proof": "12345678", "machine": "pi"}', 400),
        (b'{"proof": "' + b"0" * 64 + b'", "machine": "<b>"}', 400),
        (b"x" * 2000, 413),
    ],
)
def test_an_invalid_request_is_refused_with_its_code(bench: Bench, body: bytes, status: int) -> None:
    answer = httpx.post(f"{bench.server.url.rstrip('/')}{PATH}", content=body, timeout=PATIENCE_S)
    assert (answer.status_code, answer.json()["error"]["code"]) == (
        status,
        "form_too_large" if status == 413 else "form_malformed",
    )


@pytest.mark.usefixtures("cheap")
def test_a_blocked_address_adds_nothing_to_the_audit_log(bench: Bench) -> None:
    for _ in range(OF_NETWORK):
        ask(bench, "f" * 64)
    before = len(list(bench.auth.audit.entries()))
    assert refusal(ask(bench, "f" * 64)) == (429, "pairing_delayed")
    assert len(list(bench.auth.audit.entries())) == before
    bench.clock.now += 100 * LIFETIME_MS


def test_an_unreadable_password_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(DeskError) as refused:
        BrokerForTables(EVENT, tmp_path / "none.json", 1883).pairing(1, "localhost")
    assert refused.value.code == "nothing_to_pair_with"


# ---- codes, without a server ------------------------------------------------------------------


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derive keys without cost; their real cost is tested elsewhere."""
    monkeypatch.setattr(pairing_codes, "derive_keys", cheap_keys)


def cheap_keys(code: str, seen: str, _salt: str) -> PairingKeys:
    return PairingKeys((code + seen).encode().hex().ljust(64, "0")[:64], code.encode())


def asking(code: str, machine: str = "pi") -> PairingRequest:
    """Return the request of a device that has this code."""
    return PairingRequest(proof=cheap_keys(code, "", SALT).proof, machine=machine, salt=SALT)


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize(
    ("first", "other"),
    [("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8:0:1::1")],
    ids=["IPv4", "IPv6"],
)
def test_guessing_blocks_a_network_but_no_other(first: str, other: str) -> None:
    codes = PairingCodes("")
    for at in range(OF_NETWORK):
        miss(codes, first, at)
    right = codes.open(1, 0)
    with pytest.raises(PairingDelayed) as refused:
        codes.take(asking(right.code), first, OF_NETWORK, str)
    assert refused.value.wait_s > 0
    assert codes.take(asking(right.code), other, OF_NETWORK, str)[2] == "1"


@pytest.mark.usefixtures("cheap")
def test_addresses_of_an_ipv6_network_share_one_count() -> None:
    codes = PairingCodes("")
    for at in range(OF_NETWORK):
        miss(codes, f"2001:db8::{at + 1:x}", at)
    with pytest.raises(PairingDelayed):
        codes.check_blocked("2001:db8::ffff", OF_NETWORK)


@pytest.mark.usefixtures("cheap")
def test_after_many_wrong_codes_each_network_gets_fewer_tries() -> None:
    codes = PairingCodes("")
    for at in range(OF_ALL):  # below the limit of each network
        miss(codes, f"10.0.0.{at // OF_NETWORK}", at)
    right = codes.open(1, 0)
    for at in range(OF_FRESH_NETWORK):
        miss(codes, "10.9.9.9", OF_ALL + at)
    with pytest.raises(PairingDelayed):
        codes.check_blocked("10.9.9.9", OF_ALL + OF_FRESH_NETWORK)
    assert codes.take(asking(right.code), "10.9.9.8", OF_ALL + OF_FRESH_NETWORK, str)[2] == "1"


def miss(codes: PairingCodes, address: str, now: int) -> None:
    """Send a wrong proof."""
    with pytest.raises(PairingUnknown):
        codes.take(PairingRequest(proof="f" * 64, machine="pi", salt=SALT), address, now, str)


@pytest.mark.usefixtures("cheap")
def test_a_failed_pairing_does_not_use_up_the_code() -> None:
    codes = PairingCodes("")
    opened = codes.open(1, 0)

    def nothing(_table: int) -> str:
        raise NothingToPairWith("no password")

    with pytest.raises(NothingToPairWith):
        codes.take(asking(opened.code), HERE, 0, nothing)
    taken, _, given = codes.take(asking(opened.code), HERE, 0, str)
    assert (taken.taken_at, given) == (0, "1")


def test_a_codes_keys_depend_on_the_certificate() -> None:
    plain, ours = derive_keys("12345678", "", SALT), derive_keys("12345678", "a" * 64, SALT)
    assert len({plain.proof, ours.proof, plain.sealing, ours.sealing, plain.sealing.hex()}) == 5
    assert not ours.verifies(PairingAnswer(pairing="{}", seal=plain.seal("{}")))
    assert [
        text
        for text in (repr(ours), repr(PairingOffer("h", 1, "12345678")))
        if "12345678" in text or ours.proof in text
    ] == []


def test_keys_cannot_be_precomputed() -> None:
    """The device draws a new salt for each request, so the same code has a different proof each time."""
    assert len({derive_keys("12345678", "", new_salt()).proof for _ in range(3)}) == 3


def test_a_device_without_a_salt_is_refused_and_keeps_the_code_open(bench: Bench, organiser: httpx.Client) -> None:
    code = code_on(opened(organiser, **{f"table-{FREE}": "on"}), FREE)
    assert refusal(ask(bench, derive_keys(code, "", SALT).proof, salt=None)) == (400, "pairing_outdated")
    assert ask(bench, derive_keys(code, "", SALT).proof).status_code == 200
    bench.clock.now += 100 * LIFETIME_MS


@pytest.mark.usefixtures("cheap")
def test_repeated_use_of_a_spent_code_does_not_fill_the_log(bench: Bench) -> None:
    codes = PairingCodes("")
    pairing = PairingService(NOWHERE, codes, clock=bench.clock)
    page = PairingPage(Access(bench.auth, sample.view, open_room=False), sample.feed(), bench.auth, pairing)
    spent = codes.open(FREE, bench.clock.now)
    codes.take(asking(spent.code), HERE, bench.clock.now, str)
    before = bench.auth.audit.newest(1)[0].number
    for at in range(1000):  # below the limit of each address
        with pytest.raises(PairingSpent):
            page._take(asking(spent.code), "desk", f"10.0.0.{at // OF_NETWORK}")
    written = [one.detail for one in bench.auth.audit.newest(50) if one.number > before][::-1]
    assert written == ["pi"] * 8 + [f"pi: {count} times within an hour" for count in (16, 32, 64, 128, 256, 512)]


@pytest.mark.usefixtures("cheap")
def test_a_code_withdrawn_during_its_check_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = PairingCodes("")
    opened = codes.open(1, 0)

    def slow(code: str, seen: str, salt: str) -> PairingKeys:
        codes.withdraw(1)
        return cheap_keys(code, seen, salt)

    monkeypatch.setattr(pairing_codes, "derive_keys", slow)
    with pytest.raises(PairingOver):
        codes.take(asking(opened.code), HERE, 1, str)


@given(
    host=st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z0-9]{1,5}){0,3}|[0-9a-f:]{2,30}:", fullmatch=True),
    port=st.integers(1, LAST_PORT),
    code=st.from_regex(r"[0-9]{8}", fullmatch=True),
    seen=st.sampled_from(["", "0123456789ab" * 5]),
)
def test_a_qr_text_round_trips(host: str, port: int, code: str, seen: str) -> None:
    assert read_pairing(pairing_text(PairingOffer(host, port, code, seen))) == PairingOffer(
        host, port, code, seen[:FINGERPRINT_SHOWN]
    )


@given(st.text(max_size=80))
def test_any_other_text_is_not_a_pairing_offer(text: str) -> None:
    assert read_pairing(text) is None


def test_typed_offers_may_omit_the_port_and_contain_spaces() -> None:
    assert read_typed_pairing(" 10.0.0.4 ", "1234 5678") == PairingOffer("10.0.0.4", 8136, "12345678")
    assert [
        read_typed_pairing("10.0.0.4:0", "12345678"),
        read_typed_pairing("", "12345678"),
        read_typed_pairing("a b\nc!", "12345678"),
    ] == [
        None,
        None,
        None,
    ]
