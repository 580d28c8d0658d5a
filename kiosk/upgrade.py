"""Another version of the table's program: fetched at the desk, unpacked beside, and started when an arbiter says so.

Nothing is fetched or written while something is played. What happens if the new version does not work is in
broker/upgrade/start.py: it must confirm itself, or the version before it comes back.
"""

import http.client
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker.files import make_folder
from broker.logs import get_logger
from broker.protocol import UpgradeOffer, UpgradeState, UpgradeStep, signing, tls
from broker.upgrade.bundle import (
    CHUNK,
    HALL_KEYS,
    MANIFEST_PATH,
    PART_PATH,
    BundledPackage,
    BundleManifest,
    UpgradeError,
    asked_by,
    hash_of,
    own_formats,
    read_signed_manifest,
    trusted_keys,
)
from broker.upgrade.slots import SlotFolder, own_target
from broker.version import program_version
from kiosk.config import KioskSettings
from kiosk.table import BETWEEN, QUIET, Phase

log = get_logger("homologue.kiosk")

SECOND_NS: Final = 1_000_000_000
CONFIRM_NS: Final = 60 * SECOND_NS
"""So long a new version must have run, and have picture and scorer then, to be kept."""

GIVE_UP_NS: Final = 600 * SECOND_NS
"""One that has not got there by then is left."""

AGAIN_S: Final = 20.0
PATIENCE_S: Final = 20.0
MARGIN: Final = 200 * 1024 * 1024
"""Bytes that stay free for the journal."""

CALM: Final = (*BETWEEN, Phase.RESTORING)
"""Where a table may leave for some seconds: no play is on, and what was restored stays as it is."""

OK, PARTIAL = 200, 206


class _Withdrawn(Exception):
    """This version is no longer offered."""


@dataclass(frozen=True, slots=True)
class DeskDoor:
    """How a table asks the desk: by its own key, and trusting the event's authority alone."""

    event: str
    table: int
    host: str
    ca: Path | None
    """None: the event goes without TLS. What is fetched is signed all the same."""
    key: signing.SigningKey

    def read(self, offer: UpgradeOffer, path: str, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Request a path from byte `start` on; yield pieces, each with its offset. Raises UpgradeError."""
        host = offer.host or self.host
        headers = {"Authorization": asked_by(self.key, self.event, self.table, path)}
        if start:
            headers["Range"] = f"bytes={start}-"
        try:
            with closing(self._line(host, offer.port)) as line:
                line.request("GET", path, headers=headers)
                with line.getresponse() as answer:
                    if answer.status not in {OK, PARTIAL}:
                        raise UpgradeError("upgrade_unreachable", f"the desk answers {answer.status} to {path}")
                    at = start if answer.status == PARTIAL else 0
                    while chunk := answer.read(CHUNK):
                        yield at, chunk
                        at += len(chunk)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UpgradeError("upgrade_unreachable", f"{host}:{offer.port}: {error}") from error

    def _line(self, host: str, port: int) -> http.client.HTTPConnection:
        if self.ca is None:
            return http.client.HTTPConnection(host, port, timeout=PATIENCE_S)
        context = tls.event_context(self.ca.read_text("ascii"))
        return http.client.HTTPSConnection(host, port, timeout=PATIENCE_S, context=context)


class TableUpgrade:
    """Follows what the scorer offers. A thread fetches and unpacks; the table's loop alone decides when to leave."""

    def __init__(self, slots: SlotFolder, door: DeskDoor, keys: Callable[[], Iterable[str]], now: int) -> None:
        """`now` in monotonic ns."""
        self._slots, self._door, self._keys, self._started = slots, door, keys, now
        self._trial = slots.now.trial
        self._offer: UpgradeOffer | None = None
        self._step: tuple[UpgradeStep, int, str | None] = "fetching", 0, None
        self._withdrawn, self._free, self._busy = threading.Event(), threading.Event(), threading.Lock()
        self.leaves = False
        """The program is to end, so that the other version is started."""

    @classmethod
    def of(cls, settings: KioskSettings, now: int) -> "TableUpgrade | None":
        """Return a table's upgrade; None where the program was started by hand, which no upgrade replaces."""
        config, slots = settings.config, SlotFolder.of_process()
        if slots is None:
            return None
        ca = settings.beside(config.broker.ca_file) if config.broker.ca_file else None
        door = DeskDoor(config.event, config.table, config.broker.host, ca, settings.device_key())
        return cls(slots, door, lambda: trusted_keys(HALL_KEYS), now)

    @property
    def state(self) -> UpgradeState | None:
        """How far the upgrade is; None if none is offered."""
        if self._trial:
            return UpgradeState(version=program_version(), step="trial")
        if self._offer is None:
            return None
        step, percent, code = self._step
        return UpgradeState(version=self._offer.version, step=step, percent=percent, code=code)

    def take(self, offer: UpgradeOffer | None) -> None:
        """Take in what the scorer offers."""
        before, self._offer = self._offer, offer
        if offer is not None and before is not None and before.manifest == offer.manifest:
            return
        self._withdrawn.set()
        if offer is None:
            if before is not None:
                with suppress(OSError):  # a card that takes no writes: then it stays what has failed here
                    self._slots.forget_failure()
            return
        self._step = self._known(offer)
        if self._step[0] == "fetching" and not self._trial:
            self._withdrawn = threading.Event()
            work = threading.Thread(target=self._work, args=(offer, self._withdrawn), name="upgrade", daemon=True)
            work.start()

    def _known(self, offer: UpgradeOffer) -> tuple[UpgradeStep, int, str | None]:
        """Return how far it is when it is offered: it may be here already, or have failed here."""
        now, holding = self._slots.now, self._slots.holding(offer.manifest)
        if now.failed == offer.manifest:
            return "returned", 100, "upgrade_failed"
        if offer.version == program_version() or (now.slot and holding == now.slot):
            return "done", 100, None
        return ("ready", 100, None) if holding else ("fetching", 0, None)

    def due(self, phase: Phase, now: int, *, well: bool) -> None:
        """See what is to be done now. `well`: the screen shows a picture, and the scorer is connected."""
        if phase in QUIET:
            self._free.clear()
        else:
            self._free.set()
        if self.leaves:
            return
        with suppress(OSError, UpgradeError):  # a card that takes no writes: as soon as it does
            if self._trial:
                self._judge(phase, now - self._started, well=well)
            elif self._offer and self._offer.install and self._step[0] == "ready" and phase in CALM:
                self._slots.switch(self._offer.manifest)
                log.info("upgrade_begins", version=self._offer.version)
                self.leaves = True

    def _judge(self, phase: Phase, ran: int, *, well: bool) -> None:
        """Keep the version that is on trial, or leave it. Raises OSError."""
        if not self._slots.runs_trial:  # its start could not be counted, or it could not be started at all
            self._slots.give_up()
            log.warning("upgrade_failed", version=program_version())
            self._trial_over()
        elif ran >= CONFIRM_NS and well:
            self._slots.confirm()
            log.info("upgrade_confirmed", version=program_version())
            self._trial_over()
        elif ran >= GIVE_UP_NS and phase in CALM:
            self._slots.give_up()
            log.warning("upgrade_failed", version=program_version())
            self.leaves = True

    def _trial_over(self) -> None:
        """End the trial, and take what is offered by now."""
        self._trial = False
        offer, self._offer = self._offer, None
        self.take(offer)

    # ---- on its own thread ------------------------------------------------------------------

    def _work(self, offer: UpgradeOffer, withdrawn: threading.Event) -> None:
        """Fetch and unpack; a desk that does not answer is asked again."""
        step: tuple[UpgradeStep, int, str | None]
        while not withdrawn.is_set():
            try:
                with self._busy:  # one that was withdrawn may still be at it
                    self._fetch(offer, withdrawn)
                step = "ready", 100, None
            except _Withdrawn:
                return
            except UpgradeError as error:
                log.warning(error.code, why=str(error))
                step = ("fetching" if error.code == "upgrade_unreachable" else "refused"), self._step[1], error.code
            except OSError as error:
                log.warning("upgrade_no_room", why=str(error))
                step = "refused", self._step[1], "upgrade_no_room"
            if withdrawn.is_set():
                return
            self._step = step
            if step[0] != "fetching":
                return
            withdrawn.wait(AGAIN_S)

    def _fetch(self, offer: UpgradeOffer, withdrawn: threading.Event) -> None:
        """Bring a version into the slot that is not used. Raises UpgradeError, OSError, _Withdrawn."""
        slots, door = self._slots, self._door

        def pause() -> None:
            while not self._free.wait(1.0) and not withdrawn.is_set():
                pass
            if withdrawn.is_set():
                raise _Withdrawn

        pause()
        manifest = checked(b"".join(chunk for _, chunk in door.read(offer, MANIFEST_PATH)), offer, self._keys())
        parts, folder = manifest.for_table(own_target()), slots.folder / "fetched"
        make_room(slots, folder, parts)
        got, size = 0, sum(part.size for part in parts)
        for part in parts:
            for length in fetch_part(door, offer, part, folder / part.sha256):
                self._step = "fetching", (got + length) * 10 // size * 10, None
                pause()
            got += part.size
        slots.unpack([folder / part.sha256 for part in parts], offer.manifest, manifest.version, pause)
        shutil.rmtree(folder)


def make_room(slots: SlotFolder, folder: Path, parts: Sequence[BundledPackage]) -> None:
    """Remove what is left of other versions. Raises UpgradeError if that leaves too little room, OSError."""
    make_folder(folder, 0o700)
    slots.clear_spare()
    for old in folder.iterdir():
        if old.name not in {part.sha256 for part in parts}:
            old.unlink()
    there = sum(file.stat().st_size for file in folder.iterdir())
    if shutil.disk_usage(folder).free + there < sum(part.size + part.unpacked for part in parts) + MARGIN:
        raise UpgradeError("upgrade_no_room", "the card has no room for another version")


def checked(content: bytes, offer: UpgradeOffer, keys: Iterable[str]) -> BundleManifest:
    """Return the manifest of what was offered, if this table can go there and back. Raises UpgradeError."""
    signed = read_signed_manifest(content)
    if signed.hash != offer.manifest:
        raise UpgradeError("upgrade_unreachable", "the desk has another version by now")
    manifest, (journal, _) = signed.opened(keys), own_formats()
    if journal.writes not in manifest.journal.opens or manifest.journal.writes not in journal.opens:
        both = f"{manifest.version} and {program_version()}"
        raise UpgradeError("upgrade_no_return", f"{both} do not open each other's journals: install it by apt, by hand")
    return manifest


def fetch_part(door: DeskDoor, offer: UpgradeOffer, part: BundledPackage, place: Path) -> Iterator[int]:
    """Fetch a package from where it broke off; yield how many bytes are here. Raises UpgradeError, OSError."""
    start = place.stat().st_size if place.exists() else 0
    if start < part.size:
        with place.open("r+b" if start else "wb") as file:
            for at, chunk in door.read(offer, PART_PATH.format(sha256=part.sha256), start):
                if at >= part.size:  # a desk that never ends
                    break
                file.seek(at)
                file.write(chunk)
                yield min(file.tell(), part.size)
            file.truncate()
    if place.stat().st_size < part.size:
        raise UpgradeError("upgrade_unreachable", "the desk has broken off")
    if hash_of(place) != part.sha256:
        place.unlink()
        raise UpgradeError("upgrade_damaged", "what the desk has given is not what the manifest says")
