"""The two slots of a table's machine: a new version is unpacked into the unused one, then started on trial."""

import json
import os
import platform
import shutil
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Final

from broker.files import make_folder, sync, write_file
from broker.upgrade.bundle import CHUNK, UpgradeError, deb_control, deb_files
from broker.upgrade.start import BASE_ENV, COMPLETE, SLOTS, SLOTS_ENV, Slots, bundle_in, read_slots, write_slots

PREFIX: Final = PurePosixPath("usr/lib/homologue")
"""Path of the environment in the packages. The environment is relocatable."""

INTERPRETER: Final = "/usr/bin/python3"

ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def own_target(release: Path = Path("/etc/os-release")) -> str:
    """Return this machine's release and architecture, in the form used by bundles: deb13-arm64."""
    fields = dict(line.split("=", 1) for line in release.read_text("utf-8").splitlines() if "=" in line)
    machine = platform.machine()
    return f"deb{fields.get('VERSION_ID', '').strip(chr(34))}-{ARCHITECTURES.get(machine, machine)}"


def spare_slot(slots: Slots) -> str:
    """Return the slot that is neither in use nor needed to revert a trial."""
    return next(name for name in SLOTS if name not in {slots.slot, slots.former if slots.trial else None})


class SlotFolder:
    """The slots in a folder. `base`: the version installed by apt; `prefix`: the environment of this process."""

    def __init__(self, folder: Path, base: str, prefix: Path = Path(sys.prefix)) -> None:
        self.folder, self._base, self._prefix = folder, base, prefix

    @classmethod
    def of_process(cls) -> "SlotFolder | None":
        """Return the slots from which this process was started, or None if it was not started from slots."""
        folder = os.environ.get(SLOTS_ENV, "")
        return cls(Path(folder), os.environ.get(BASE_ENV, "")) if folder else None

    @property
    def choice(self) -> Slots:
        """The current choice of slots. A choice made when apt had installed another version no longer applies."""
        slots = read_slots(self.folder)
        return slots if slots.base == self._base else Slots(base=self._base)

    @property
    def runs_trial(self) -> bool:
        """Whether the version on trial is the one that runs. If it could not be started, the previous one runs."""
        slots = self.choice
        return slots.trial and bool(slots.slot) and self._prefix.resolve() == (self.folder / str(slots.slot)).resolve()

    def slot_with(self, bundle: str) -> str | None:
        """Return the slot that holds a complete bundle, or None."""
        return next((name for name in SLOTS if bundle_in(self.folder / name) == bundle), None)

    def unpack(self, debs: Sequence[Path], bundle: str, version: str, pause: Callable[[], None]) -> None:
        """Unpack verified packages into the spare slot. After a power cut the slot counts as empty, and is redone.

        `pause` is called before each file, and blocks while the table must not be disturbed. Raises OSError and
        UpgradeError.
        """
        place = self.clear_spare()
        make_folder(place, 0o700)
        for deb in debs:
            with deb.open("rb") as file:
                deb_control(file)
                for member, content in deb_files(file):
                    pause()
                    _extract_member(place, member, content)
        for name in ("python", "python3"):
            (place / "bin" / name).unlink(missing_ok=True)
            (place / "bin" / name).symlink_to(INTERPRETER)
        os.sync()  # flush ten thousand files before the one that marks them as complete
        write_file(place / COMPLETE, json.dumps({"bundle": bundle, "version": version}).encode())

    def clear_spare(self) -> Path:
        """Empty the spare slot, and return its path."""
        place = self.folder / spare_slot(self.choice)
        if place.exists():
            (place / COMPLETE).unlink(missing_ok=True)
            sync(place)  # the slot is marked as incomplete before anything is removed from it
            shutil.rmtree(place)
        return place

    def switch(self, bundle: str) -> None:
        """Choose the slot that holds a bundle for the next start, on trial. Raises UpgradeError, OSError."""
        slot, slots = self.slot_with(bundle), self.choice
        if slot is None:
            raise UpgradeError("upgrade_damaged", "no slot contains this version any longer")
        if slot != slots.slot:
            write_slots(self.folder, Slots(slot, slots.slot, trial=True, base=self._base))

    def confirm(self) -> None:
        """Keep the version that is on trial. Raises OSError."""
        if self.choice.trial:
            write_slots(self.folder, replace(self.choice, trial=False, starts=0, failed=""))

    def give_up(self) -> None:
        """Return to the version before the one on trial. Raises OSError."""
        slots = self.choice
        if slots.trial and slots.slot:
            write_slots(self.folder, slots.reverted(bundle_in(self.folder / slots.slot)))

    def forget_failure(self) -> None:
        """Allow the bundle whose trial failed to be tried again when it is next offered."""
        if self.choice.failed:
            write_slots(self.folder, replace(self.choice, failed=""))


def _extract_member(place: Path, member: tarfile.TarInfo, content: IO[bytes] | None) -> None:
    """Write one file of a package into a slot, unless it is outside the environment. Raises UpgradeError."""
    path = PurePosixPath(member.name)
    if ".." in path.parts:
        raise UpgradeError("upgrade_damaged", f"a package contains the path {member.name}")
    if not path.is_relative_to(PREFIX):
        return
    target = place / path.relative_to(PREFIX)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif content is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            shutil.copyfileobj(content, file, CHUNK)
            if member.size > CHUNK:  # one file at a time: a large write to the card would delay the journal
                os.fdatasync(file.fileno())
        target.chmod(0o755 if member.mode & 0o100 else 0o644)
