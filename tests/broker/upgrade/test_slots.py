"""Two slots: which version the real launcher starts, in its own process, and when it falls back."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from broker.protocol import SigningKey
from broker.upgrade.bundle import UpgradeError, import_bundle
from broker.upgrade.slots import SlotFolder, own_target
from broker.upgrade.start import (
    COMPLETE,
    FAILURES_ENV,
    MOST_FAILURES,
    MOST_STARTS,
    STATE,
    Slots,
    choose_slot,
    read_slots,
    write_slots,
)
from broker.version import program_version
from tests.broker.upgrade.packages import KEY, bundle_of

BASE: Final = program_version()
ROOT: Final = Path(__file__).parents[3]


class Table:
    """A table's machine in a folder; apt's version is the one that runs these tests."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.slots = SlotFolder(self.state / "upgrade", BASE)
        self.slots.folder.mkdir(parents=True)
        self._bundles = folder / "bundles"
        self._bundles.mkdir()

    def bring(self, version: str) -> str:
        """Unpack a version; return its bundle's hash."""
        bundle, manifest = bundle_of(self._bundles / version, version)
        there = self._bundles / version / "taken"
        signed = import_bundle(bundle, there, {KEY.public})
        debs = [there / f"{part.sha256}.deb" for part in manifest.for_table(own_target())]
        self.slots.unpack(debs, signed.hash, version, lambda: None)
        return signed.hash

    def upgrade(self, version: str) -> None:
        self.slots.switch(self.bring(version))

    def start(self) -> str:
        """Choose a slot as at a start; return its version."""
        chosen = choose_slot(self.slots.folder, BASE)
        return "apt's" if chosen is None else str(json.loads((chosen / COMPLETE).read_text())["version"])

    def run(self, failures: int = 0) -> str:
        """Start like the systemd unit; return the version that ran, as `--version` prints it."""
        command = [sys.executable, "-m", "broker.upgrade.start", "--version"]
        done = subprocess.run(
            command, env=os.environ | {"STATE_DIRECTORY": str(self.state), FAILURES_ENV: str(failures)}, cwd=ROOT,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return "apt's" if done.stdout.startswith("homologue ") else done.stdout.split()[0]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_without_slots_apts_version_is_started(table: Table) -> None:
    assert table.start() == "apt's"


def test_a_new_version_is_started_with_its_own_environment_and_the_same_arguments(table: Table) -> None:
    table.upgrade("0.3.0")
    done = subprocess.run(
        [sys.executable, "-m", "broker.upgrade.start", "kiosk", "/etc/homologue/table.toml"],
        env=os.environ | {"STATE_DIRECTORY": str(table.state)}, cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "0.3.0 kiosk /etc/homologue/table.toml a\n"


def test_a_confirmed_version_stays_and_the_next_uses_the_other_slot(table: Table) -> None:
    table.upgrade("0.3.0")
    assert table.start() == "0.3.0"
    table.slots.confirm()
    table.upgrade("0.4.0")
    assert table.start() == "0.4.0"
    table.slots.confirm()
    assert [table.start() for _ in range(MOST_STARTS + 2)] == ["0.4.0"] * (MOST_STARTS + 2)
    table.upgrade("0.3.9")  # an older version works the same way
    assert table.start() == "0.3.9"


def test_an_unconfirmed_version_is_abandoned_after_three_starts(table: Table) -> None:
    table.upgrade("0.3.0")
    table.start()
    table.slots.confirm()
    bundle = table.bring("0.4.0")
    table.slots.switch(bundle)
    assert [table.start() for _ in range(5)] == ["0.4.0"] * MOST_STARTS + ["0.3.0"] * 2
    assert table.slots.choice.failed == bundle
    table.slots.forget_failure()
    assert table.slots.choice == Slots("a", base=BASE)


def test_the_launcher_needs_only_the_standard_library() -> None:
    command = [sys.executable, "-S", "-c", "import broker.upgrade.start"]
    subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, check=True)


def test_an_unconfirmed_first_version_falls_back_to_apts(table: Table) -> None:
    table.upgrade("0.3.0")
    assert [table.start() for _ in range(4)] == ["0.3.0"] * MOST_STARTS + ["apt's"]


def test_a_version_that_gives_up_is_abandoned_at_once(table: Table) -> None:
    table.upgrade("0.3.0")
    assert table.start() == "0.3.0"
    table.slots.give_up()
    assert table.start() == "apt's"


def test_after_an_upgrade_by_apt_apts_version_is_started(table: Table) -> None:
    table.upgrade("0.3.0")
    table.slots.confirm()
    assert choose_slot(table.slots.folder, BASE) == table.slots.folder / "a"
    assert choose_slot(table.slots.folder, f"{BASE}1") is None
    assert SlotFolder(table.slots.folder, f"{BASE}1").choice == Slots(base=f"{BASE}1")


@pytest.mark.parametrize("said", ["", "{", "[]", '{"slot": "../a"}', '{"slot": "a", "starts": "1"}', '{"other": 1}'])
def test_unreadable_state_starts_apts_version(table: Table, said: str) -> None:
    table.upgrade("0.3.0")
    (table.slots.folder / STATE).write_text(said)
    assert table.start() == "apt's"


def test_a_damaged_slot_starts_apts_version(table: Table) -> None:
    table.upgrade("0.3.0")
    table.slots.confirm()
    (table.slots.folder / "a/bin/python3").unlink()
    assert table.run() == "apt's"
    (table.slots.folder / "a" / COMPLETE).write_text("[]")
    assert table.start() == "apt's"


def test_a_confirmed_version_that_keeps_failing_alternates_with_apts(table: Table) -> None:
    table.upgrade("0.3.0")
    table.slots.confirm()
    slot = table.slots.folder / "a"
    chosen = [choose_slot(table.slots.folder, BASE, failures) for failures in range(MOST_FAILURES + 3)]
    assert chosen == [slot] * MOST_FAILURES + [None, slot, None]
    (slot / "bin/homologue").write_text("import nothing_that_there_is")
    assert table.run(failures=MOST_FAILURES) == "apt's"


def test_a_version_on_trial_has_its_three_starts_despite_earlier_failures(table: Table) -> None:
    table.upgrade("0.3.0")
    assert choose_slot(table.slots.folder, BASE, MOST_FAILURES) == table.slots.folder / "a"


def test_a_trial_start_that_cannot_be_counted_starts_apts_version(table: Table) -> None:
    table.upgrade("0.3.0")

    def full(_folder: Path, _slots: Slots) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker.upgrade.start.write_slots", full)
        assert choose_slot(table.slots.folder, BASE) is None
    assert table.start() == "0.3.0"


def test_the_slot_in_use_is_never_overwritten(table: Table) -> None:
    table.upgrade("0.3.0")
    table.slots.confirm()
    table.bring("0.4.0")
    table.bring("0.5.0")
    assert table.start() == "0.3.0"
    assert json.loads((table.slots.folder / "b" / COMPLETE).read_text())["version"] == "0.5.0"


def test_switching_to_a_version_in_no_slot_is_refused(table: Table) -> None:
    with pytest.raises(UpgradeError) as caught:
        table.slots.switch("0" * 64)
    assert caught.value.code == "upgrade_damaged"
    assert read_slots(table.slots.folder) == Slots()


def test_a_slot_contains_only_the_environment(table: Table) -> None:
    table.bring("0.3.0")
    slot = table.slots.folder / "a"
    assert sorted(path.name for path in slot.iterdir()) == ["bin", COMPLETE, "lib", "pyvenv.cfg"]
    assert stat.S_IMODE((slot / "pyvenv.cfg").stat().st_mode) == 0o644


def test_a_process_finds_its_slots_in_its_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOMOLOGUE_SLOTS", raising=False)
    assert SlotFolder.of_process() is None
    monkeypatch.setenv("HOMOLOGUE_SLOTS", str(tmp_path))
    monkeypatch.setenv("HOMOLOGUE_BASE", "0.2.0")
    found = SlotFolder.of_process()
    assert found is not None
    assert (found.folder, found.choice) == (tmp_path, Slots(base="0.2.0"))


def test_this_machine_has_a_target(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_ID="13"\n')
    assert own_target(release).startswith("deb13-")


def test_a_bundle_trusted_by_another_key_only_is_refused(tmp_path: Path) -> None:
    bundle, _ = bundle_of(tmp_path)
    with pytest.raises(UpgradeError):
        import_bundle(bundle, tmp_path / "there", {SigningKey.new().public})


def test_written_state_is_read_back(tmp_path: Path) -> None:
    slots = Slots("b", "a", trial=True, starts=2, base="0.2.0", failed="f" * 64)
    write_slots(tmp_path, slots)
    assert read_slots(tmp_path) == slots
