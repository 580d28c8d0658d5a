"""Upgrades of a table's program: fetched from the desk, unpacked into the spare slot, started on an arbiter's order.

Nothing is fetched or written during a play. For a new version that does not work, see broker/upgrade/start.py: it must
confirm itself, or the previous version comes back.
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
    authorization_header,
    hash_of,
    own_formats,
    read_signed_manifest,
    trusted_keys,
)
from broker.upgrade.slots import SlotFolder, own_target
from broker.version import program_version
from kiosk.config import KioskSettings
from kiosk.table import BETWEEN_PLAYS, QUIET, Phase

log = get_logger("homologue.kiosk")

SECOND_NS: Final = 1_000_000_000
CONFIRM_NS: Final = 60 * SECOND_NS
"""A new version is kept if it still has screen and scorer after running this long."""

GIVE_UP_NS: Final = 600 * SECOND_NS
"""A new version that has not been confirmed by then is abandoned."""

RETRY_S: Final = 20.0
TIMEOUT_S: Final = 20.0
MARGIN: Final = 200 * 1024 * 1024
"""Bytes to leave free for the journal."""

MAY_RESTART: Final = (*BETWEEN_PLAYS, Phase.RESTORING)
"""Phases in which a table may stop for some seconds: no play is on, and what was restored stays as it is."""

OK, PARTIAL = 200, 206


class _Withdrawn(Exception):
    """This version is no longer offered."""


@dataclass(frozen=True, slots=True)
class DeskClient:
    """The table's access to the desk: identified by its own key, trusting only the event's authority."""

    event: str
    table: int
    host: str
    ca: Path | None
    """None if the event runs without TLS. What is fetched is signed in any case."""
    key: signing.SigningKey

    def read(self, offer: UpgradeOffer, path: str, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Request a path from byte `start` on; yield pieces, each with its offset. Raises UpgradeError."""
        host = offer.host or self.host
        headers = {"Authorization": authorization_header(self.key, self.event, self.table, path)}
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
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
        context = tls.event_context(self.ca.read_text("ascii"))
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)


class TableUpgrade:
    """Follows the scorer's offers. A thread fetches and unpacks; only the table's loop decides when to restart."""

    def __init__(self, slots: SlotFolder, desk: DeskClient, keys: Callable[[], Iterable[str]], now: int) -> None:
        """`now` is in monotonic ns."""
        self._slots, self._desk, self._keys, self._started = slots, desk, keys, now
        self._trial = slots.choice.trial
        self._offer: UpgradeOffer | None = None
        self._step: tuple[UpgradeStep, int, str | None] = "fetching", 0, None
        self._withdrawn, self._free, self._busy = threading.Event(), threading.Event(), threading.Lock()
        self.leaves = False
        """Whether the program is to end so that the other version can start."""

    @classmethod
    def of(cls, settings: KioskSettings, now: int) -> "TableUpgrade | None":
        """Return a table's upgrade; None if the program was started by hand, as then no upgrade replaces it."""
        config, slots = settings.config, SlotFolder.of_process()
        if slots is None:
            return None
        ca = settings.path_of(config.broker.ca_file) if config.broker.ca_file else None
        desk = DeskClient(config.event, config.table, config.broker.host, ca, settings.device_key())
        return cls(slots, desk, lambda: trusted_keys(HALL_KEYS), now)

    @property
    def state(self) -> UpgradeState | None:
        """The progress of the upgrade; None if none is offered."""
        if self._trial:
            return UpgradeState(version=program_version(), step="trial")
        if self._offer is None:
            return None
        step, percent, code = self._step
        return UpgradeState(version=self._offer.version, step=step, percent=percent, code=code)

    def take(self, offer: UpgradeOffer | None) -> None:
        """Accept the scorer's offer, or its withdrawal (None)."""
        before, self._offer = self._offer, offer
        if offer is not None and before is not None and before.manifest == offer.manifest:
            return
        self._withdrawn.set()
        if offer is None:
            if before is not None:
                with suppress(OSError):  # on a card that takes no writes, the version stays marked as failed
                    self._slots.forget_failure()
            return
        self._step = self._known(offer)
        if self._step[0] == "fetching" and not self._trial:
            self._withdrawn = threading.Event()
            work = threading.Thread(target=self._work, args=(offer, self._withdrawn), name="upgrade", daemon=True)
            work.start()

    def _known(self, offer: UpgradeOffer) -> tuple[UpgradeStep, int, str | None]:
        """Return the step at which an offer starts: the version may be here already, or have failed here."""
        now, holding = self._slots.choice, self._slots.slot_with(offer.manifest)
        if now.failed == offer.manifest:
            return "returned", 100, "upgrade_failed"
        if offer.version == program_version() or (now.slot and holding == now.slot):
            return "done", 100, None
        return ("ready", 100, None) if holding else ("fetching", 0, None)

    def due(self, phase: Phase, now: int, *, well: bool) -> None:
        """Do what is due. `well`: the screen works, and the scorer is connected."""
        if phase in QUIET:
            self._free.clear()
        else:
            self._free.set()
        if self.leaves:
            return
        with suppress(OSError, UpgradeError):  # a card that takes no writes: try again
            if self._trial:
                self._judge(phase, now - self._started, well=well)
            elif self._offer and self._offer.install and self._step[0] == "ready" and phase in MAY_RESTART:
                self._slots.switch(self._offer.manifest)
                log.info("upgrade_begins", version=self._offer.version)
                self.leaves = True

    def _judge(self, phase: Phase, ran: int, *, well: bool) -> None:
        """Confirm the version on trial, or abandon it. Raises OSError."""
        if not self._slots.runs_trial:  # its start could not be counted, or it could not start
            self._slots.give_up()
            log.warning("upgrade_failed", version=program_version())
            self._trial_over()
        elif ran >= CONFIRM_NS and well:
            self._slots.confirm()
            log.info("upgrade_confirmed", version=program_version())
            self._trial_over()
        elif ran >= GIVE_UP_NS and phase in MAY_RESTART:
            self._slots.give_up()
            log.warning("upgrade_failed", version=program_version())
            self.leaves = True

    def _trial_over(self) -> None:
        """End the trial, and follow the current offer."""
        self._trial = False
        offer, self._offer = self._offer, None
        self.take(offer)

    # ---- on a thread of its own -------------------------------------------------------------

    def _work(self, offer: UpgradeOffer, withdrawn: threading.Event) -> None:
        """Fetch and unpack a version, asking again if the desk does not answer."""
        step: tuple[UpgradeStep, int, str | None]
        while not withdrawn.is_set():
            try:
                with self._busy:  # a withdrawn fetch may still be running
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
            withdrawn.wait(RETRY_S)

    def _fetch(self, offer: UpgradeOffer, withdrawn: threading.Event) -> None:
        """Fetch a version into the unused slot. Raises UpgradeError, OSError, _Withdrawn."""
        slots, desk = self._slots, self._desk

        def pause() -> None:
            while not self._free.wait(1.0) and not withdrawn.is_set():
                pass
            if withdrawn.is_set():
                raise _Withdrawn

        pause()
        manifest = checked(b"".join(chunk for _, chunk in desk.read(offer, MANIFEST_PATH)), offer, self._keys())
        parts, folder = manifest.for_table(own_target()), slots.folder / "fetched"
        make_room(slots, folder, parts)
        fetched, size = 0, sum(part.size for part in parts)
        for part in parts:
            for length in fetch_part(desk, offer, part, folder / part.sha256):
                self._step = "fetching", (fetched + length) * 10 // size * 10, None
                pause()
            fetched += part.size
        slots.unpack([folder / part.sha256 for part in parts], offer.manifest, manifest.version, pause)
        shutil.rmtree(folder)


def make_room(slots: SlotFolder, folder: Path, parts: Sequence[BundledPackage]) -> None:
    """Remove what other versions have left. Raises UpgradeError if there is still too little room, OSError."""
    make_folder(folder, 0o700)
    slots.clear_spare()
    for old in folder.iterdir():
        if old.name not in {part.sha256 for part in parts}:
            old.unlink()
    present = sum(file.stat().st_size for file in folder.iterdir())
    if shutil.disk_usage(folder).free + present < sum(part.size + part.unpacked for part in parts) + MARGIN:
        raise UpgradeError("upgrade_no_room", "the card has no room for another version")


def checked(content: bytes, offer: UpgradeOffer, keys: Iterable[str]) -> BundleManifest:
    """Return the manifest of an offer, if this table can upgrade to it and back. Raises UpgradeError."""
    signed = read_signed_manifest(content)
    if signed.hash != offer.manifest:
        raise UpgradeError("upgrade_unreachable", "the desk now offers another version")
    manifest, (journal, _) = signed.verify(keys), own_formats()
    if journal.writes not in manifest.journal.opens or manifest.journal.writes not in journal.opens:
        both = f"{manifest.version} and {program_version()}"
        raise UpgradeError("upgrade_no_return", f"{both} do not open each other's journals: install it by apt, by hand")
    return manifest


def fetch_part(desk: DeskClient, offer: UpgradeOffer, part: BundledPackage, place: Path) -> Iterator[int]:
    """Fetch a package, resuming where it broke off; yield how many bytes are here. Raises UpgradeError, OSError."""
    start = place.stat().st_size if place.exists() else 0
    if start < part.size:
        with place.open("r+b" if start else "wb") as file:
            for at, chunk in desk.read(offer, PART_PATH.format(sha256=part.sha256), start):
                if at >= part.size:  # a desk that never stops sending
                    break
                file.seek(at)
                file.write(chunk)
                yield min(file.tell(), part.size)
            file.truncate()
    if place.stat().st_size < part.size:
        raise UpgradeError("upgrade_unreachable", "the desk stopped sending")
    if hash_of(place) != part.sha256:
        place.unlink()
        raise UpgradeError("upgrade_damaged", "the package does not match the manifest")
