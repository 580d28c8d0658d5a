"""A table fetches an offered version, restarts when it may, and keeps it only if it works. The desk is real."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.mqtt.certificates import Certificates
from broker.protocol import Served, SigningKey, UpgradeOffer, UpgradeState
from broker.upgrade.bundle import hash_of
from broker.upgrade.slots import SlotFolder
from broker.upgrade.start import COMPLETE, Slots, bundle_in, choose_slot
from broker.version import program_version
from kiosk.table import Phase
from kiosk.upgrade import CONFIRM_NS, GIVE_UP_NS, MAY_RESTART, DeskClient, TableUpgrade
from tests.broker.scorer.small import NAME
from tests.broker.upgrade.desk import DEVICE, TABLE, UpgradeRoom, upgrade_room
from tests.broker.upgrade.packages import KEY, formats
from tests.kiosk.journals import OURS
from tests.kiosk.standing import standing
from tests.kiosk.tables import EVENT
from tests.patience import PATIENCE_S

BASE: Final = "0.2.0"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpgradeRoom]:
    with upgrade_room(tmp_path_factory.mktemp("desk")) as made:
        yield made


@pytest.fixture
def slots(tmp_path: Path) -> SlotFolder:
    folder = tmp_path / "upgrade"
    folder.mkdir()
    return SlotFolder(folder, BASE, folder / "a")


def at_table(slots: SlotFolder, door: DeskClient, keys: set[str] | None = None) -> TableUpgrade:
    return TableUpgrade(slots, door, lambda: {KEY.public} if keys is None else keys, 0)


def following(table: TableUpgrade, offer: UpgradeOffer, done: Callable[[], bool]) -> None:
    """Offer a version, and run the loop until a condition holds."""
    table.take(offer)
    turns = threading.Event()
    last = time.monotonic() + PATIENCE_S
    table.due(Phase.WAITING, 0, well=True)
    while not done():
        assert time.monotonic() < last, table.state
        turns.wait(0.01)
        table.due(Phase.WAITING, 0, well=True)


def step(table: TableUpgrade) -> tuple[str, str | None]:
    assert table.state is not None
    return table.state.step, table.state.code


def test_a_version_is_fetched_unpacked_and_tried_when_the_arbiter_says_so(
    room: UpgradeRoom, slots: SlotFolder, tmp_path: Path
) -> None:
    offer = room.offer(tmp_path)
    table = at_table(slots, room.door())
    following(table, offer, lambda: step(table)[0] == "ready")
    assert not table.leaves
    assert choose_slot(slots.folder, BASE) is None
    assert not (slots.folder / "fetched").exists()
    following(table, replace(offer, install=True), lambda: table.leaves)
    assert choose_slot(slots.folder, BASE) == slots.folder / "a"
    assert bundle_in(slots.folder / "a") == offer.manifest


def test_an_interrupted_download_is_resumed(room: UpgradeRoom, slots: SlotFolder, tmp_path: Path) -> None:
    offer = room.offer(tmp_path)
    fetched = slots.folder / "fetched"
    fetched.mkdir()
    for deb in (room.event / "upgrade").glob("*.deb"):
        (fetched / deb.stem).write_bytes(deb.read_bytes()[:700])
    (fetched / "of another version").write_bytes(b"x")
    asked: list[int] = []

    class Counting(DeskClient):
        def read(self, offer: UpgradeOffer, path: str, start: int = 0) -> Iterator[tuple[int, bytes]]:
            asked.append(start)
            return super().read(offer, path, start)

    door = Counting(NAME, TABLE, "127.0.0.1", room.certificates.ca, DEVICE)
    table = at_table(slots, door)
    following(table, offer, lambda: step(table)[0] == "ready")
    assert asked == [0, 700, 700]


def test_a_download_damaged_on_the_way_is_thrown_away_and_refused(
    room: UpgradeRoom, slots: SlotFolder, tmp_path: Path
) -> None:
    offer = room.offer(tmp_path)
    (slots.folder / "fetched").mkdir()
    for deb in (room.event / "upgrade").glob("*.deb"):
        (slots.folder / "fetched" / deb.stem).write_bytes(b"?" * 700)
    table = at_table(slots, room.door())
    following(table, offer, lambda: step(table)[0] == "refused")
    assert step(table) == ("refused", "upgrade_damaged")
    assert choose_slot(slots.folder, BASE) is None


@pytest.mark.parametrize(
    ("keys", "told", "code"),
    [
        (set(), None, "upgrade_unsigned"),
        (None, formats(journal=(["5"], "5")), "upgrade_no_return"),
        (None, formats(journal=(["4", "5"], "5")), "upgrade_no_return"),
        (None, formats(journal=(["5"], "4")), "upgrade_no_return"),
    ],
)
def test_a_version_that_is_not_trusted_or_has_no_way_back_is_refused(
    room: UpgradeRoom, slots: SlotFolder, tmp_path: Path, keys: set[str] | None, told: str | None, code: str
) -> None:
    offer = room.offer(tmp_path, "0.3.0", told)
    table = at_table(slots, room.door(), keys)
    following(table, offer, lambda: step(table)[0] == "refused")
    assert step(table) == ("refused", code)


def test_without_room_on_the_card_nothing_is_fetched(
    room: UpgradeRoom, slots: SlotFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=100 * 1024 * 1024)
    monkeypatch.setattr("kiosk.upgrade.shutil.disk_usage", lambda _: usage)
    offer = room.offer(tmp_path)
    table = at_table(slots, room.door())
    following(table, offer, lambda: step(table)[0] == "refused")
    assert step(table) == ("refused", "upgrade_no_room")
    assert [*(slots.folder / "fetched").iterdir()] == []


@pytest.mark.parametrize("who", ["stranger", "other authority", "no desk"])
def test_a_desk_that_does_not_know_the_table_or_is_not_the_events_is_asked_again(
    room: UpgradeRoom, slots: SlotFolder, tmp_path: Path, who: str
) -> None:
    offer = room.offer(tmp_path)
    door = room.door(SigningKey.new() if who == "stranger" else DEVICE)
    if who == "other authority":
        door = DeskClient(NAME, TABLE, "127.0.0.1", Certificates.ensure(tmp_path / "other").ca, DEVICE)
    if who == "no desk":
        offer = replace(offer, port=1)
    table = at_table(slots, door)
    following(table, offer, lambda: step(table)[1] is not None)
    assert step(table) == ("fetching", "upgrade_unreachable")
    table.take(None)


def test_nothing_is_fetched_during_a_play(room: UpgradeRoom, slots: SlotFolder, tmp_path: Path) -> None:
    offer = room.offer(tmp_path)
    table = at_table(slots, room.door())
    table.due(Phase.PLAYING, 0, well=True)
    table.take(offer)
    assert not (slots.folder / "fetched").exists()
    assert step(table) == ("fetching", None)
    following(table, offer, lambda: step(table)[0] == "ready")


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in MAY_RESTART])
def test_a_play_is_never_interrupted(slots: SlotFolder, phase: Phase) -> None:
    ready = _ready(slots)
    ready.due(phase, 0, well=True)
    assert not ready.leaves
    ready.due(Phase.RECORDED, 0, well=True)
    assert ready.leaves


def _ready(slots: SlotFolder, name: str = "a") -> TableUpgrade:
    """Return a table that has a version ready, and may switch to it."""
    _hold(slots, name)
    table = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    table.take(UpgradeOffer(version="9.9.9", manifest=name * 64, port=1, install=True))
    return table


def _hold(slots: SlotFolder, name: str) -> None:
    (slots.folder / name).mkdir()
    (slots.folder / name / COMPLETE).write_text(f'{{"bundle": "{name * 64}"}}')


def test_a_version_that_has_screen_and_scorer_is_kept(slots: SlotFolder) -> None:
    _ready(slots).due(Phase.WAITING, 0, well=True)
    table = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    assert step(table) == ("trial", None)
    table.due(Phase.WAITING, CONFIRM_NS - 1, well=True)
    table.due(Phase.PLAYING, CONFIRM_NS, well=False)
    assert slots.choice.trial
    table.due(Phase.PLAYING, CONFIRM_NS, well=True)
    assert slots.choice == Slots("a", None, base=BASE)
    assert table.state is None
    table.take(UpgradeOffer(version="9.9.9", manifest="a" * 64, port=1, install=True))
    assert step(table) == ("done", None)
    table.due(Phase.WAITING, CONFIRM_NS, well=True)
    assert not table.leaves


def test_a_version_that_could_not_be_started_is_not_kept_by_the_previous_one(slots: SlotFolder) -> None:
    _ready(slots).due(Phase.WAITING, 0, well=True)
    apts = at_table(SlotFolder(slots.folder, BASE), DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    apts.due(Phase.PLAYING, CONFIRM_NS, well=True)
    assert slots.choice == Slots(failed="a" * 64, base=BASE)
    assert not apts.leaves
    apts.take(UpgradeOffer(version="9.9.9", manifest="a" * 64, port=1, install=True))
    assert step(apts) == ("returned", "upgrade_failed")


def test_an_offer_during_a_trial_is_fetched_after_it(room: UpgradeRoom, slots: SlotFolder, tmp_path: Path) -> None:
    _ready(slots).due(Phase.WAITING, 0, well=True)
    table = at_table(slots, room.door())
    offer = room.offer(tmp_path)
    table.take(offer)
    assert step(table) == ("trial", None)
    table.due(Phase.WAITING, CONFIRM_NS, well=True)
    following(table, offer, lambda: step(table)[0] == "ready")


def test_a_version_without_screen_or_scorer_is_left_after_ten_minutes_until_offered_again(
    slots: SlotFolder,
) -> None:
    _ready(slots).due(Phase.WAITING, 0, well=True)
    table = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    table.due(Phase.WAITING, GIVE_UP_NS - 1, well=False)
    table.due(Phase.PLAYING, GIVE_UP_NS, well=False)
    assert not table.leaves
    table.due(Phase.RESTORING, GIVE_UP_NS, well=False)
    leaves: bool = table.leaves
    assert leaves
    assert choose_slot(slots.folder, BASE) is None
    former = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    offer = UpgradeOffer(version="9.9.9", manifest="a" * 64, port=1, install=True)
    former.take(offer)
    former.due(Phase.WAITING, 0, well=True)
    assert (step(former), former.leaves) == (("returned", "upgrade_failed"), False)
    former.take(None)
    former.take(offer)
    assert step(former) == ("ready", None)


def test_the_running_version_is_already_done(slots: SlotFolder) -> None:
    table = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    table.take(UpgradeOffer(version=program_version(), manifest="b" * 64, port=1, install=True))
    table.due(Phase.WAITING, 0, well=True)
    assert (step(table), table.leaves) == (("done", None), False)


def test_a_program_started_by_hand_says_so_and_stays(tmp_path: Path) -> None:
    offer = UpgradeOffer(version="9.9.9", manifest="b" * 64, port=1, install=True)
    with standing(tmp_path) as table:
        server = table.program._server
        assert server.state_message().upgrade is None
        server.take_served(
            Served(id="served-00000001", event=EVENT, seq=1, table=OURS.table, device=None, upgrade=offer), 0
        )
        table.pass_time(GIVE_UP_NS)
        refused = UpgradeState(version="9.9.9", step="refused", percent=0, code="upgrade_by_hand")
        assert (server.state_message().upgrade, table.program.leaves) == (refused, False)


def test_a_card_that_takes_no_writes_leaves_the_table_on_its_version(
    slots: SlotFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _ready(slots)

    def full(_path: Path, _content: bytes, _mode: int) -> None:
        raise OSError(os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr("broker.upgrade.start.write_file", full)
        table.due(Phase.WAITING, 0, well=True)
        assert not table.leaves
    table.due(Phase.WAITING, 0, well=True)
    assert table.leaves


def test_on_a_card_that_takes_no_writes_a_failure_stays_marked_and_the_table_goes_on(
    slots: SlotFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ready(slots).due(Phase.WAITING, 0, well=True)
    slots.give_up()
    table = at_table(slots, DeskClient(NAME, TABLE, "localhost", None, DEVICE))
    offer = UpgradeOffer(version="9.9.9", manifest="a" * 64, port=1, install=True)
    table.take(offer)

    def read_only(_path: Path, _content: bytes, _mode: int) -> None:
        raise OSError(os.strerror(30))

    monkeypatch.setattr("broker.upgrade.start.write_file", read_only)
    table.take(None)
    table.take(offer)
    assert step(table) == ("returned", "upgrade_failed")


def test_the_desk_serves_what_the_manifest_names(room: UpgradeRoom, tmp_path: Path) -> None:
    offer = room.offer(tmp_path)
    for deb in (room.event / "upgrade").glob("*.deb"):
        content = b"".join(chunk for _, chunk in room.door().read(offer, f"/upgrade/part/{deb.stem}"))
        (tmp_path / "got").write_bytes(content)
        assert hash_of(tmp_path / "got") == deb.stem
