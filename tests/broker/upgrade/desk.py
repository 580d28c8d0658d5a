"""A desk that distributes a bundle: a real scorer and server with the event's certificate, and a table's device."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from broker.mqtt.certificates import Certificates
from broker.people import Actor, Authentication
from broker.protocol import SigningKey, UpgradeOffer
from broker.upgrade.bundle import import_bundle
from broker.web.server import Certificate, DeskServer
from broker.web.services import Services
from broker.web.tables.orders import OrderDesk
from kiosk.upgrade import DeskClient
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import NAME, state
from tests.broker.upgrade.packages import KEY, bundle_of
from tests.broker.web import sample
from tests.broker.web.tables.test_orders import Ear

DEVICE: Final = SigningKey.from_bytes(b"d" * 32)
TABLE: Final = 1


@dataclass(frozen=True)
class UpgradeRoom:
    """The parts of the desk that tests use."""

    hall: Hall
    auth: Authentication
    server: DeskServer
    event: Path
    certificates: Certificates

    def lay(self, folder: Path, version: str = "0.3.0", formats_told: str | None = None) -> None:
        """Import a bundle into the event's folder."""
        import_bundle(bundle_of(folder, version, formats_told)[0], self.event / "upgrade", {KEY.public})

    def door(self, key: SigningKey = DEVICE, table: int = TABLE) -> DeskClient:
        """Return a device's connection to the desk."""
        return DeskClient(NAME, table, "127.0.0.1", self.certificates.ca, key)

    def offer(self, folder: Path, version: str = "0.3.0", formats_told: str | None = None) -> UpgradeOffer:
        """Import a version into the event's folder and offer it, without the page."""
        self.lay(folder, version, formats_told)
        signed = import_bundle(bundle_of(folder, version, formats_told)[0], self.event / "upgrade", {KEY.public})
        scorer = self.hall.scorer
        scorer.ask(lambda: scorer.live.devices.upgrades.offer(version, signed.hash))
        return UpgradeOffer(version=version, manifest=signed.hash, port=self.server.port)


@contextmanager
def upgrade_room(folder: Path) -> Iterator[UpgradeRoom]:
    """Start the scorer and the desk."""
    stop = threading.Event()
    (folder / "upgrade.keys").write_text(KEY.public)
    with pytest.MonkeyPatch.context() as patch, open_journal(folder) as journal:
        quick_hashes(patch)
        patch.setattr("broker.web.tables.upgrades.HALL_KEYS", folder / "upgrade.keys")
        auth = Authentication(folder)
        for role in ("head_arbiter", "table_arbiter"):
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        hall = make_hall(folder, journal)
        hall.scorer.live.devices.admit(TABLE, DEVICE.public, "pi")
        hall.hear(replace(state(TABLE, device=DEVICE.device), version="0.2.0"), replace(state(2), version="0.2.0"))
        certificates = Certificates.ensure(folder)
        thread = threading.Thread(target=hall.scorer.run, args=(stop,))
        thread.start()
        services = Services(scorer=hall.scorer, orders=OrderDesk(NAME, auth, Ear()), folder=folder)
        tls = Certificate(certificates.server, certificates.server_key, certificates.ca)
        with DeskServer(sample.feed(), port=0, auth=auth, services=services, tls=tls) as server:
            hall.scorer.live.devices.upgrades.desk = None, server.port
            yield UpgradeRoom(hall, auth, server, folder, certificates)
        stop.set()
        thread.join()
        auth.close()
