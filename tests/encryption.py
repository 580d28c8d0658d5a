"""TLS settings with which tests connect to an event's broker and desk, as people and tables do."""

import ssl
from pathlib import Path

from broker.mqtt.certificates import Certificates, device_user
from broker.protocol.link import Address
from broker.protocol.signing import open_key
from broker.protocol.tls import Identity, event_context


def trusting(event: Path) -> ssl.SSLContext:
    """Return a TLS context for an event's desk that trusts its authority alone."""
    return event_context(Certificates.of_event(event).authority)


def table_identity(event: Path, table: int) -> Identity:
    """Return the identity of a simulated table whose key is in the event's folder."""
    key, certificates = open_key(event / f"table-{table}" / "device.key"), Certificates.of_event(event)
    certificates.issue(table, key.public)
    return Identity(certificates.folder / f"{device_user(table, key.device)}.crt", key)


def table_address(event: Path, table: int, port: int) -> Address:
    """Return the address of the broker on this machine for a simulated table."""
    ca = Certificates.of_event(event).ca
    return Address("127.0.0.1", port, f"table-{table}", "", ca, identity=table_identity(event, table))
