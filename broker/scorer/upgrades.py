"""Which version of the program tables are offered, and which of them may change to it. Kept in the store."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.protocol import UpgradeOffer
from broker.store import Journal

OFFERED: Final = "upgrade"
"""Under which key the store keeps it."""


class Offered(Struct, frozen=True):
    """What is offered, by its manifest's hash, and the tables that have been let change to it."""

    version: str
    manifest: str
    install: tuple[int, ...] = ()


class Upgrades:
    """On the scorer's thread alone."""

    def __init__(self, journal: Journal, changed: Callable[[], None]) -> None:
        """`changed` tells the tables."""
        self._journal, self._changed = journal, changed
        self.desk: tuple[str | None, int] | None = None
        """Where tables reach the desk: host (None: the broker's) and port. None: there is none."""
        self.offered = _read(journal.remembered(OFFERED).get("", ""))

    def offer(self, version: str, manifest: str) -> None:
        """Let all tables fetch a version."""
        self._keep(Offered(version, manifest))

    def withdraw(self) -> None:
        """Offer nothing any more; tables keep what they have installed."""
        self._keep(None)

    def install(self, tables: Iterable[int]) -> None:
        """Let these tables change to what is offered, once no play is on there."""
        if self.offered is not None:
            self._keep(replace(self.offered, install=tuple(sorted({*self.offered.install, *tables}))))

    def for_table(self, table: int) -> UpgradeOffer | None:
        """Return what a table is told."""
        if self.offered is None or self.desk is None:
            return None
        version, manifest, install = self.offered.version, self.offered.manifest, table in self.offered.install
        return UpgradeOffer(version=version, manifest=manifest, host=self.desk[0], port=self.desk[1], install=install)

    def _keep(self, offered: Offered | None) -> None:
        with self._journal.commit():
            self._journal.remember(OFFERED, msgspec.json.encode(offered).decode())
        self.offered = offered
        self._changed()


def _read(text: str) -> Offered | None:
    try:
        return msgspec.json.decode(text, type=Offered | None) if text else None
    except (msgspec.DecodeError, UnicodeError):
        return None
