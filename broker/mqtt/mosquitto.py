"""Mosquitto, configured from one template, as our child process or as a hall's system service.

`python -m broker.mqtt.mosquitto` writes all files that the hall's Mosquitto needs for one event.

Mosquitto does not close the connection of a client whose certificate has been revoked. Its dynamic-security plugin,
however, closes the connections of a user who is deleted. So a revoked user is created there and deleted at once.
"""

import base64
import hashlib
import json
import os
import pwd
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from queue import Empty, Queue
from string import Template
from typing import Final

import click

from broker.errors import BrokerError, ProgramMissing
from broker.files import write_private
from broker.mqtt.access import Credentials, Permissions
from broker.mqtt.certificates import CA, REVOKED, SERVER, SERVER_KEY, Certificates
from broker.mqtt.process import ANY_ADDRESS, PAYLOAD_LIMIT, READY_S, Broker, ChildProcess, MqttBrokerSettings
from broker.protocol import Role
from broker.protocol.link import Address, Link, transient_session_id

ROUNDS: Final = 101  # as in mosquitto_passwd; more would add nothing, as passwords are 192 random bits
SALT_BYTES: Final = 12

USERS_TOPIC: Final = "$CONTROL/dynamic-security/v1"
"""Topic of commands to the dynamic-security plugin."""

RESPONSE_TOPIC: Final = f"{USERS_TOPIC}/response"

USERS_FILE: Final = "users.json"
"""The plugin's file in the store, which stays empty. If it were missing, the plugin could create an administrator."""

PLUGIN: Final = "mosquitto_dynamic_security.so"
LIBRARIES: Final = ("/usr/lib", "/usr/local/lib")

REVOKING_ROLE: Final[Role] = "scorer"
DELETED_AT_ONCE: Final = 50
"""How many users are deleted by one message; a thousand would exceed the size limit."""

UNFINISHED_S: Final = 100.0
"""After this time an unfinished connection is gone: Mosquitto closes it after a minute and a half."""

PATIENCE_S: Final = 10.0
RETRY_S: Final = 1.0
FOLLOW_S: Final = 0.5


def acl_file(rights: dict[str, Permissions]) -> bytes:
    """Return the ACL file, with a paragraph for each user. Anything not in it is forbidden."""
    return "\n".join(_paragraph(user, may) for user, may in rights.items()).encode()


def with_plugin(rights: dict[str, Permissions]) -> dict[str, Permissions]:
    """Return the permissions if the plugin is loaded: the scorer, and no other user, may send it commands."""
    may = rights[REVOKING_ROLE]
    return rights | {REVOKING_ROLE: Permissions((*may.publish, USERS_TOPIC), (*may.subscribe, RESPONSE_TOPIC))}


def password_file(credentials: Credentials, users: dict[str, Permissions]) -> bytes:
    """Return the password file: PBKDF2 with SHA-512, as mosquitto_passwd writes it. Raises UserUnknown."""
    return "".join(f"{user}:{_hashed(credentials.password(user))}\n" for user in users).encode()


def _paragraph(user: str, may: Permissions) -> str:
    lines = [f"user {user}"]
    lines += [f"topic write {topic}" for topic in may.publish]
    lines += [f"topic read {topic}" for topic in may.subscribe]
    return "\n".join(lines) + "\n"


def _hashed(password: str) -> str:
    salt = secrets.token_bytes(SALT_BYTES)
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS)
    return f"$7${ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"


CONFIGURATION_FILE: Final = "homologue.conf"


def write_configuration(
    settings: MqttBrokerSettings, port: int, store: Path, *, owner: str | None = None, copies: bool = False
) -> Path:
    """Write configuration, ACL and password hashes into the folder, and create the store; return the configuration.

    If Mosquitto is started as root, it changes to the user `owner` (by default the current user). It reads the event's
    certificates in place, or, with `copies`, copies of them in the folder, if it may not read the originals.
    Raises OSError, ProgramMissing, and SettingRefused or UserUnknown as `MqttBrokerSettings`.
    """
    rights = settings.permissions()
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    certificates = settings.certificates
    write_private(settings.folder / "acl", acl_file(with_plugin(rights) if certificates else rights))
    if certificates is None:
        write_private(settings.folder / "passwords", password_file(settings.credentials, rights))
    else:
        write_private(store / USERS_FILE, b"{}")
        for name in COPIED_FILES if copies else ():
            write_private(settings.folder / name, (certificates.folder / name).read_bytes())
    tls = _tls(settings.folder.absolute() if copies else certificates.folder, store) if certificates else ""
    text = _configuration(settings, port, store, owner or this_user()) + tls
    write_private(settings.folder / CONFIGURATION_FILE, text.encode())
    return settings.folder / CONFIGURATION_FILE


def this_user() -> str:
    """Return the name of the current user, or the user id if it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _configuration(settings: MqttBrokerSettings, port: int, store: Path, owner: str) -> str:
    template = Template(files(__package__).joinpath(CONFIGURATION_FILE).read_text("utf-8"))
    return template.substitute(
        folder=settings.folder.absolute(),
        store=store.absolute(),
        payload_limit=PAYLOAD_LIMIT,
        port=port,
        host=settings.host,
        connections=settings.connections,
        owner=owner,
        logins="" if settings.certificates else f"password_file {settings.folder.absolute()}/passwords\n",
    )


def _tls(folder: Path, store: Path) -> str:
    """Return the TLS settings. Clients need a certificate, whose common name is their user name."""
    return (
        f"certfile {folder / SERVER}\nkeyfile {folder / SERVER_KEY}\ncafile {folder / CA}\n"
        f"crlfile {folder / REVOKED}\n"
        "require_certificate true\nuse_identity_as_username true\n"
        "tls_version tlsv1.2\n"  # the lowest version accepted
        f"plugin {find_plugin()}\nplugin_opt_config_file {store.absolute() / USERS_FILE}\n"
    )


SYSTEM_PROGRAMS: Final = "/usr/local/sbin:/usr/sbin"  # not on an ordinary user's PATH in Debian


class MosquittoBroker(Broker):
    """A Mosquitto running on this machine."""

    name = "mosquitto"

    def __init__(self, settings: MqttBrokerSettings, *, ready_s: float = READY_S) -> None:
        super().__init__(settings, ready_s=ready_s)
        self._reloading: ChildProcess | None = None
        """The process that may still be reloading after a signal; None if there is none."""

    def _command(self, port: int) -> list[str]:
        program = find_mosquitto()
        path = write_configuration(self._settings, port, self._settings.folder / "mosquitto")
        return [program, "-c", str(path)]

    def _reload(self, pid: int) -> bool:
        """Reload as any broker, but not while an earlier reload is still running; a later check does it then.

        Mosquitto drops a signal that arrives during a reload. A table paired meanwhile could then connect, but would
        have no permissions.
        """
        child, certificates = self._child, self._settings.certificates
        if child is None or child is self._reloading or not super()._reload(pid):
            return False
        if certificates:
            self._reloading = child
            threading.Thread(target=self._follow_up, args=(child, certificates), daemon=True).start()
        return True

    def _follow_up(self, child: ChildProcess, certificates: Certificates) -> None:
        """Wait until Mosquitto has reloaded, then close the connections of revoked users. Runs on its own thread."""
        place = self.host, self.port, certificates
        for pause, step in ((0.0, wait_until_reloaded), (0.0, disconnect_revoked), (UNFINISHED_S, disconnect_revoked)):
            while not child.wait(pause):
                try:
                    step(*place)
                except (BrokerError, OSError):
                    pause = RETRY_S  # noqa: PLW2901 - repeat this step
                else:
                    break
            if child is self._reloading:
                self._reloading = None


def wait_until_reloaded(host: str, port: int, certificates: Certificates) -> None:
    """Wait until Mosquitto has reloaded its files after a signal. Raises as `disconnect_revoked`.

    It accepts no clients while it reloads, and it reloads before it accepts clients that connect after the signal.
    """
    with _connected(host, port, certificates):
        pass


def disconnect_revoked(host: str, port: int, certificates: Certificates) -> None:
    """Close the connections of revoked devices to a Mosquitto that was signalled to reload its files.

    Clients that connect after the signal are checked by the new list, but those that had begun to connect before may
    still be accepted by the old one. So call this again after `UNFINISHED_S`. Raises OSError, CertificatesMissing,
    CertificatesBroken.
    """
    users = [certificate.user for certificate in certificates.tables() if certificate.revoked]
    if not users:
        return
    with _connected(host, port, certificates) as link:
        for begin in range(0, len(users), DELETED_AT_ONCE):
            link.publish(USERS_TOPIC, _deletion(users[begin : begin + DELETED_AT_ONCE]), retain=False)
        if not link.flush(PATIENCE_S):
            raise TimeoutError(f"the broker at {host}:{port} does not accept commands")


@contextmanager
def _connected(host: str, port: int, certificates: Certificates) -> Iterator[Link]:
    """Connect to the broker as the scorer. Raises TimeoutError if it does not accept the connection."""
    changes: Queue[object] = Queue()
    address = Address(host, port, REVOKING_ROLE, "", certificates.ca, identity=certificates.office(REVOKING_ROLE))
    link = Link(address, transient_session_id("revoking"), [RESPONSE_TOPIC], changes.put, persistent=False)
    link.start()
    try:
        while not link.up:
            changes.get(timeout=PATIENCE_S)
        yield link
    except Empty:
        raise TimeoutError(f"no broker at {host}:{port} accepts us") from None
    finally:
        link.stop()


def _deletion(users: list[str]) -> bytes:
    steps = ("createClient", "deleteClient")
    return json.dumps({"commands": [{"command": step, "username": user} for user in users for step in steps]}).encode()


def find_mosquitto() -> str:
    """Return the path of Mosquitto. Raises ProgramMissing."""
    found = shutil.which("mosquitto", path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PROGRAMS}")
    if found is None:
        raise ProgramMissing("mosquitto is not installed: sudo apt-get install mosquitto")
    return found


def find_plugin() -> Path:
    """Return the path of the dynamic-security plugin, which is in Debian's mosquitto package. Raises ProgramMissing."""
    for folder in map(Path, LIBRARIES):
        for found in (folder / PLUGIN, *sorted(folder.glob(f"*/{PLUGIN}"))):
            if found.is_file():
                return found
    raise ProgramMissing(f"mosquitto is installed without {PLUGIN}: sudo apt-get install mosquitto")


FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)
COPIED_FILES: Final = (CA, SERVER, SERVER_KEY, REVOKED)
"""The files in the event's `tls` folder that Mosquitto reads itself."""


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--event", required=True, help="Name of the event, as in its topics.")
@click.option("--tables", required=True, type=int, help="Number of tables.")
@click.option("--folder", required=True, type=FOLDER, help="Where configuration, ACL and copies of certificates go.")
@click.option("--store", required=True, type=FOLDER, help="Where Mosquitto keeps sessions and retained messages.")
@click.option("--event-folder", required=True, type=FOLDER, help="The event's folder: its certificates are in `tls`.")
@click.option("--plain", is_flag=True, help="Without TLS, with the event's passwords: anybody can listen.")
@click.option("--host", default="0.0.0.0", show_default=True, help="Address to listen on.")  # noqa: S104 - a hall's broker serves the hall
@click.option("--port", default=8883, show_default=True, type=click.IntRange(1, 65_535))
@click.option("--owner", help="User that Mosquitto runs as, who will own the files.")
@click.option(
    "--follow", metavar="SERVICE", help="Keep running; rewrite the files and reload SERVICE when certificates change."
)
def write_hall_files(  # noqa: PLR0913 - one parameter an option
    *,
    event: str,
    tables: int,
    folder: Path,
    store: Path,
    event_folder: Path,
    plain: bool,
    host: str,
    port: int,
    owner: str | None,
    follow: str | None,
) -> None:
    """Write what the hall's Mosquitto needs for one event.

    With --follow, keep them up to date as devices are paired or revoked; otherwise run this again, and reload (SIGHUP).
    """
    if plain and follow:
        raise click.UsageError("--follow is for certificates: with --plain there are none")
    try:
        certificates = None if plain else Certificates.of_event(event_folder)
        settings = MqttBrokerSettings(
            folder=folder,
            event=event,
            credentials=Credentials.ensure(event_folder / "credentials.json", tables) if plain else Credentials({}),
            tables=tables,
            host=host,
            port=port,
            certificates=certificates,
        )
        path = _write_hall(settings, store, owner)
        click.echo(f"Wrote {path}. Start it with: mosquitto -c {path}")
        if follow and certificates:
            _watch_certificates(certificates, settings, lambda: _write_hall(settings, store, owner), follow)
    except BrokerError as error:
        raise click.ClickException(f"{error.code}: {error}") from error
    except (OSError, LookupError, subprocess.CalledProcessError) as error:
        raise click.ClickException(str(error)) from error


def _write_hall(settings: MqttBrokerSettings, store: Path, owner: str | None) -> Path:
    path = write_configuration(settings, settings.port, store, owner=owner, copies=True)
    if owner is not None:
        user = pwd.getpwnam(owner).pw_uid
        for each in (settings.folder, *settings.folder.iterdir(), store, *store.glob(USERS_FILE)):
            os.chown(each, user, -1, follow_symlinks=False)  # the owner could have placed a link in their folders
    return path


def _watch_certificates(
    certificates: Certificates, settings: MqttBrokerSettings, write: Callable[[], object], service: str
) -> None:
    """Reload the service with the current certificates, and again whenever they change, until something fails.

    The service manager then restarts this program, which starts from the beginning.
    """
    host = ANY_ADDRESS.get(settings.host, settings.host)
    loaded: tuple[object, ...] = ()
    disconnected_at = 0.0
    while True:
        if (stamp := certificates.stamp) != loaded:
            write()
            subprocess.run(["systemctl", "reload-or-restart", service], check=True)
            wait_until_reloaded(host, settings.port, certificates)
        if stamp != loaded or time.monotonic() > disconnected_at + UNFINISHED_S:
            disconnect_revoked(host, settings.port, certificates)
            loaded, disconnected_at = stamp, time.monotonic()
        time.sleep(FOLLOW_S)


if __name__ == "__main__":
    write_hall_files()
