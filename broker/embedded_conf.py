"""The configuration of the embedded broker. nats-server's format takes JSON, so nothing needs quoting of our own."""

import json
from typing import Any, Final

from broker.child.settings import PAYLOAD_LIMIT, Settings, Tls
from broker.embedded_hashes import hashes
from broker.permissions import Permissions

ACK_WAIT: Final = "2s"  # what was not acknowledged comes again after this, also after a reconnect: not at once
MAX_ACK_PENDING: Final = 1024  # a subscription; nats-server allows a session 65,535 over all of its subscriptions
SYNC: Final = "1s"
"""A killed broker loses nothing by it, a power cut what was acknowledged last, as with Mosquitto: a result is safe when
the scorer says so, and not before. With a write to the disk for each message a hall of 1,000 tables waits for them."""
STORE_BYTES: Final = 4_000_000_000  # explicit: the default is three quarters of what happens to be free
NOTHING: Final = "nothing"  # a subject without meaning: an empty list of what is allowed allows everything (measured)

Json = dict[str, Any]


def configuration(settings: Settings, port: int) -> bytes:
    """Give the configuration file, UTF-8. It holds hashes of passwords: mode 0600."""
    return json.dumps(_server(settings, port), indent=1).encode()


def _server(settings: Settings, port: int) -> Json:
    users = settings.permissions()
    hashed = hashes(settings.folder, {name: settings.credentials.password(name) for name in users})
    return {
        "server_name": f"homologue-{settings.event}",
        # The port for NATS clients cannot be switched off: a random one on loopback, and no user may use it.
        "host": "127.0.0.1",
        "port": -1,
        "max_payload": PAYLOAD_LIMIT,
        "jetstream": {
            "store_dir": str(settings.folder / "jetstream"),
            "max_file_store": STORE_BYTES,
            "sync_interval": SYNC,
        },
        "mqtt": _mqtt(settings, port),
        "authorization": {"users": [_user(name, hashed[name], may) for name, may in users.items()]},
    }


def _mqtt(settings: Settings, port: int) -> Json:
    listener: Json = {
        "host": settings.host,
        "port": port,
        "ack_wait": ACK_WAIT,
        "max_ack_pending": MAX_ACK_PENDING,
    }
    return listener if settings.tls is None else listener | {"tls": _tls(settings.tls)}


def _tls(tls: Tls) -> Json:
    return {"cert_file": str(tls.certificate), "key_file": str(tls.key)}


def _user(name: str, hashed: str, may: Permissions) -> Json:
    return {
        "user": name,
        "password": hashed,
        "allowed_connection_types": ["MQTT"],
        "permissions": {
            "publish": {"allow": _subjects(may.publish)},
            "subscribe": {"allow": _subjects(may.subscribe)},
        },
    }


def _subjects(topics: tuple[str, ...]) -> list[str]:
    return [subject(topic) for topic in topics] or [NOTHING]


def subject(topic: str) -> str:
    """Give the NATS subject that an MQTT topic filter of ours becomes (docs.nats.io, MQTT topics and subjects)."""
    return topic.replace("/", ".").replace("+", "*")
