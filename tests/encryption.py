"""What tests need to speak with an event's broker and desk as its people and tables do."""

import ssl
from pathlib import Path

from broker.mqtt.certificates import Certificates, device_user
from broker.protocol.link import Address
from broker.protocol.signing import open_key
from broker.protocol.tls import Identity, event_context


def trusting(event: Path) -> ssl.SSLContext:
    """Return how to speak with an event's desk, trusting its authority alone."""
    return event_context(Certificates.of_event(event).authority)


def table_identity(event: Path, table: int) -> Identity:
    """Return who a simulated table is, whose key lies in the event's folder."""
    key, certificates = open_key(event / f"table-{table}" / "device.key"), Certificates.of_event(event)
    certificates.issue(table, key.public)
    return Identity(certificates.folder / f"{device_user(table, key.device)}.crt", key)


def table_address(event: Path, table: int, port: int) -> Address:
    """Return where a simulated table finds the broker on this machine."""
    ca = Certificates.of_event(event).ca
    return Address("127.0.0.1", port, f"table-{table}", "", ca, identity=table_identity(event, table))
