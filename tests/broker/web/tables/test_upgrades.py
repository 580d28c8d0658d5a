"""Upgrades of tables: the head arbiter offers a version and lets tables install it; only devices fetch it."""

import asyncio
import hashlib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import httpx
import pytest
from msgspec.structs import replace
from starlette.types import Message as ASGIMessage

from broker.protocol import SigningKey, UpgradeState
from broker.scorer.devices import OFFERED, Offered, Upgrades
from broker.upgrade.bundle import MANIFEST_PATH, authorization_header
from broker.web.forms import as_ranges
from broker.web.tables.devices import UPGRADE
from broker.web.tables.upgrades import STALLED_S, ThrottledFile
from tests.broker.people.conftest import PASSWORD
from tests.broker.scorer.small import NAME, state
from tests.broker.upgrade.desk import DEVICE, TABLE, UpgradeRoom, upgrade_room
from tests.broker.web.test_auth import token_of
from tests.event_loop import run
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpgradeRoom]:
    with upgrade_room(tmp_path_factory.mktemp("desk")) as made:
        yield made


@contextmanager
def client_of(room: UpgradeRoom, role: str | None = None) -> Iterator[httpx.Client]:
    trust = ssl.create_default_context(cadata=room.certificates.authority)
    headers = {"Origin": room.server.url.rstrip("/"), "Accept": "text/html"}
    with httpx.Client(base_url=room.server.url, headers=headers, verify=trust, timeout=PATIENCE_S) as client:
        if role:
            client.post("/login", data={"name": role, "password": PASSWORD})
        yield client


def asked(room: UpgradeRoom, role: str = "head_arbiter", **form: str) -> str:
    with client_of(room, role) as client:
        return client.post(
            "/devices/upgrade", data={"form": token_of(client, "/devices"), **form}, follow_redirects=True
        ).text


def told(room: UpgradeRoom, table: int) -> dict[str, object] | None:
    served = room.hall.scorer.ask(lambda: room.hall.ear.told(f"served/{table}"))
    return cast("dict[str, object] | None", served["upgrade"])


def test_without_a_bundle_there_is_nothing_to_offer(tmp_path: Path) -> None:
    with upgrade_room(tmp_path) as room:
        with client_of(room, "head_arbiter") as client:
            assert 'id="upgrade"' not in client.get("/devices").text
        assert "upgrade_missing" in asked(room, do="offer")


def test_a_version_is_offered_installed_by_table_and_withdrawn(room: UpgradeRoom, tmp_path: Path) -> None:
    room.lay(tmp_path)
    assert "0.3.0" in asked(room, do="offer")
    offered = told(room, 1)
    assert offered is not None
    assert (offered["version"], offered["port"], offered["install"]) == ("0.3.0", room.server.port, False)
    asked(room, do="install", tables="2")
    assert [one and one["install"] for one in (told(room, 1), told(room, 2))] == [False, True]
    asked(room, do="install", tables="")
    assert [one and one["install"] for one in (told(room, 1), told(room, 2))] == [True, True]
    asked(room, do="withdraw")
    assert (told(room, 1), told(room, 2)) == (None, None)
    notes = [(one.who, one.action, one.detail) for one in room.auth.audit.newest(9) if one.action == UPGRADE]
    everywhere = as_ranges(room.hall.scorer.rulings.room.event.tables)
    about = ("withdraw", f"install {everywhere}", "install 2", "offer 0.3.0")
    assert notes == [("head_arbiter", UPGRADE, one) for one in about]


@pytest.mark.parametrize("form", [{"do": "offer"}, {"do": "install"}, {"do": "withdraw"}])
def test_only_the_head_arbiter_decides(room: UpgradeRoom, tmp_path: Path, form: dict[str, str]) -> None:
    room.lay(tmp_path)
    before = len([*room.auth.audit.entries()])
    assert "head_arbiter_only" in asked(room, "table_arbiter", **form)
    assert UPGRADE not in [one.action for one in [*room.auth.audit.entries()][before:]]


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"do": "install", "tables": "77"}, "tables_unreadable"),
        ({"do": "install", "tables": "all"}, "tables_unreadable"),
        ({"do": "erase"}, "form_malformed"),
        ({}, "form_malformed"),
    ],
)
def test_an_invalid_form_is_refused(room: UpgradeRoom, form: dict[str, str], code: str) -> None:
    assert code in asked(room, **form)


def test_an_untrusted_bundle_cannot_be_offered(room: UpgradeRoom, tmp_path: Path) -> None:
    room.lay(tmp_path)
    keys = room.event / "upgrade.keys"
    known = keys.read_text()
    keys.write_text(SigningKey.new().public)
    assert "upgrade_unsigned" in asked(room, do="offer")
    keys.write_text(known)


def test_the_page_shows_each_tables_progress(room: UpgradeRoom, tmp_path: Path) -> None:
    room.offer(tmp_path)
    scorer = room.hall.scorer
    says = {
        "downloading: 40 %": UpgradeState(version="0.3.0", step="fetching", percent=40),
        "not possible (not enough space on its card)": UpgradeState(
            version="0.3.0", step="refused", code="upgrade_no_room"
        ),
        "did not work: back to the previous version": UpgradeState(version="0.3.0", step="returned"),
        "being tried": UpgradeState(version="0.3.0", step="trial"),
        "ready": UpgradeState(version="0.3.0", step="ready"),
    }
    with client_of(room, "head_arbiter") as client:
        for count, (text, upgrade) in enumerate(says.items(), 10):
            now = replace(state(2, count=count), version="0.2.0", upgrade=upgrade)
            scorer.ask(partial(scorer.live.devices.states.apply, now))
            assert text in " ".join(client.get("/devices").text.split())


# ---- what devices fetch -------------------------------------------------------------------------


def test_a_device_fetches_manifest_packages_and_ranges(room: UpgradeRoom, tmp_path: Path) -> None:
    room.offer(tmp_path)
    with client_of(room) as client:

        def get(path: str, **headers: str) -> httpx.Response:
            return client.get(
                path, headers={"Authorization": authorization_header(DEVICE, NAME, TABLE, path), **headers}
            )

        assert get(MANIFEST_PATH).content == (room.event / "upgrade" / "manifest.json").read_bytes()
        for deb in (room.event / "upgrade").glob("*.deb"):
            path = f"/upgrade/part/{deb.stem}"
            assert hashlib.sha256(get(path).content).hexdigest() == deb.stem
            rest = get(path, Range="bytes=100-")
            assert (rest.status_code, rest.content) == (206, deb.read_bytes()[100:])
        assert get(f"/upgrade/part/{'0' * 64}").status_code == 404
        assert get("/upgrade/part/manifest.json").status_code == 404


def test_requests_without_a_devices_signature_are_refused(room: UpgradeRoom, tmp_path: Path) -> None:
    room.offer(tmp_path)
    stranger = SigningKey.new()
    good = authorization_header(DEVICE, NAME, TABLE, MANIFEST_PATH)
    headers = [
        "",
        "Basic x",
        authorization_header(stranger, NAME, TABLE, MANIFEST_PATH),
        authorization_header(DEVICE, NAME, 2, MANIFEST_PATH),
        authorization_header(DEVICE, "another-cup", TABLE, MANIFEST_PATH),
        authorization_header(DEVICE, NAME, TABLE, "/upgrade/part/x"),
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        f"Homologue 99999 {DEVICE.device} x",
    ]
    with client_of(room) as client:
        assert [client.get(MANIFEST_PATH, headers={"Authorization": one}).status_code for one in headers] == [403] * 8
    with client_of(room, "head_arbiter") as client:
        assert client.get(MANIFEST_PATH).status_code == 403


def test_a_revoked_device_or_withdrawn_offer_fetches_nothing(room: UpgradeRoom, tmp_path: Path) -> None:
    room.offer(tmp_path)
    devices, ask = room.hall.scorer.live.devices, room.hall.scorer.ask
    header = {"Authorization": authorization_header(DEVICE, NAME, TABLE, MANIFEST_PATH)}
    with client_of(room) as client:
        ask(devices.upgrades.withdraw)
        assert client.get(MANIFEST_PATH, headers=header).status_code == 403
        room.offer(tmp_path)
        assert client.get(MANIFEST_PATH, headers=header).status_code == 200
        ask(lambda: devices.revoke(TABLE, DEVICE.device, "lost", "Anne", "anne"))
        assert client.get(MANIFEST_PATH, headers=header).status_code == 403
        ask(lambda: devices.admit(TABLE, DEVICE.public, "pi"))


def test_a_stalled_download_gives_up_its_turn_and_continues_later(
    tmp_path: Path,
) -> None:
    (tmp_path / "part").write_bytes(b"x" * (ThrottledFile.chunk_size + 1))
    alarms: list[Callable[[], None]] = []

    def later(seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        assert seconds == STALLED_S
        alarms.append(call)
        return asyncio.get_running_loop().call_later(3600, call)

    async def steps() -> None:
        turns, goes_on = asyncio.Semaphore(1), asyncio.Event()
        stalls = asyncio.Event()

        async def nothing() -> ASGIMessage:
            return await asyncio.Future()

        async def fetched(*, playing: bool) -> int:
            got = 0

            async def take(message: ASGIMessage) -> None:
                nonlocal got
                got += len(message.get("body", b""))
                if playing and got:
                    stalls.set()
                    await goes_on.wait()

            await ThrottledFile(tmp_path / "part", turns, later)(
                {"type": "http", "method": "GET", "headers": []}, nothing, take
            )
            return got

        first = asyncio.ensure_future(fetched(playing=True))
        await stalls.wait()
        second = asyncio.ensure_future(fetched(playing=False))
        assert turns.locked()
        alarms[-1]()
        assert await second == ThrottledFile.chunk_size + 1
        goes_on.set()
        assert await first == ThrottledFile.chunk_size + 1
        assert not turns.locked()

    run(steps())


def test_an_offer_is_kept_in_the_store(room: UpgradeRoom, tmp_path: Path) -> None:
    offer = room.offer(tmp_path)
    room.hall.scorer.ask(lambda: room.hall.scorer.live.devices.upgrades.install([2]))
    (kept,) = room.hall.scorer.ask(lambda: room.hall.journal.stored_values(OFFERED)).values()
    assert kept == f'{{"version":"0.3.0","manifest":"{offer.manifest}","install":[2]}}'
    assert room.hall.scorer.ask(lambda: Upgrades(room.hall.journal, lambda: None).offered) == Offered(
        "0.3.0", offer.manifest, (2,)
    )
