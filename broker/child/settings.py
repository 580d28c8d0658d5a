"""What a broker is told: its folder, its event, who may come in, and where it listens."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker.contract.topics import TOPICS
from broker.credentials import Credentials
from broker.errors import SettingRefused
from broker.permissions import Permissions, permissions

PAYLOAD_LIMIT: Final = max(topic.limit for topic in TOPICS) + 16_384
"""Largest payload in bytes that a broker takes: the contract's largest, and room for what brokers count in."""

HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Paths of the listener's certificate, its key, and the authority that signed it (all PEM)."""

    certificate: Path
    key: Path
    authority: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a broker is started from. Making one raises SettingRefused or UserUnknown."""

    folder: Path
    event: str
    credentials: Credentials
    tables: int
    host: str = "127.0.0.1"
    port: int = 0
    tls: Tls | None = None

    def __post_init__(self) -> None:
        for user in self.permissions():
            self.credentials.password(user)
        if not 0 <= self.port <= HIGHEST_PORT:
            raise SettingRefused(f"port {self.port}")
        # Both go into lines of configuration files, which cannot quote everything.
        paths = (self.tls.certificate, self.tls.key, self.tls.authority) if self.tls else ()
        for text in (self.host, *map(str, (self.folder, *paths))):
            if not text or not text.isprintable() or '"' in text:
                raise SettingRefused(f"{text!r} cannot be written into a configuration")

    def permissions(self) -> dict[str, Permissions]:
        """Give the permissions of each user that the broker lets in."""
        return permissions(self.event, self.tables)
