"""Mosquitto: its configuration from one template, for a child process of ours and for a hall.

`python -m broker.mqtt.mosquitto` writes everything that the hall's Mosquitto needs for one event.

Mosquitto keeps the connection of a client whose certificate it would no longer accept. Its plugin for users that come
and go ends the connections of a user who is deleted, so who is revoked is made such a user, and deleted at once.
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

ROUNDS: Final = 101  # mosquitto_passwd's own number; passwords here are 192 random bits, rounds add nothing
SALT_BYTES: Final = 12

USERS: Final = "$CONTROL/dynamic-security/v1"
"""Where the plugin is told what to do."""

RESPONSE: Final = f"{USERS}/response"

USERS_FILE: Final = "users.json"
"""In the store: what the plugin keeps, which is nothing. Where there is no such file it may make an administrator."""

PLUGIN: Final = "mosquitto_dynamic_security.so"
LIBRARIES: Final = ("/usr/lib", "/usr/local/lib")

REVOKES: Final[Role] = "scorer"
AT_ONCE: Final = 50
"""Users a message: a thousand would be longer than a message may be."""

UNFINISHED_S: Final = 100.0
"""Mosquitto lets go of a connection that is not finished after a minute and a half."""

PATIENCE_S: Final = 10.0
AGAIN_S: Final = 1.0
FOLLOW_S: Final = 0.5


def acl_file(rights: dict[str, Permissions]) -> bytes:
    """Return the ACL file: a paragraph a user. What is not in it is forbidden."""
    return "\n".join(_paragraph(user, may) for user, may in rights.items()).encode()


def with_plugin(rights: dict[str, Permissions]) -> dict[str, Permissions]:
    """Return who may what where there is the plugin: the scorer's side alone may use it."""
    may = rights[REVOKES]
    return rights | {REVOKES: Permissions((*may.publish, USERS), (*may.subscribe, RESPONSE))}


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
    """Write configuration, ACL and password hashes into the folder, make the store; return the configuration.

    Mosquitto, when started as root, becomes `owner` (a user name; none: whoever runs this). It reads the event's
    certificates where they are, or, where it may not read those, `copies` in the folder.
    Raises OSError, ProgramMissing, and SettingRefused or UserUnknown as `Settings` does.
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
        for name in COPIED if copies else ():
            write_private(settings.folder / name, (certificates.folder / name).read_bytes())
    tls = _tls(settings.folder.absolute() if copies else certificates.folder, store) if certificates else ""
    text = _configuration(settings, port, store, owner or this_user()) + tls
    write_private(settings.folder / CONFIGURATION_FILE, text.encode())
    return settings.folder / CONFIGURATION_FILE


def this_user() -> str:
    """Return the name of the user who runs this; the number where the system knows no name."""
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
    """Whoever connects is the user that is named in their certificate (common name), or is not let in."""
    return (
        f"certfile {folder / SERVER}\nkeyfile {folder / SERVER_KEY}\ncafile {folder / CA}\n"
        f"crlfile {folder / REVOKED}\n"
        "require_certificate true\nuse_identity_as_username true\n"
        "tls_version tlsv1.2\n"  # the least that is taken
        f"plugin {find_plugin()}\nplugin_opt_config_file {store.absolute() / USERS_FILE}\n"
    )


SYSTEM_PROGRAMS: Final = "/usr/local/sbin:/usr/sbin"  # Debian keeps them off an ordinary user's PATH


class MosquittoBroker(Broker):
    """A Mosquitto on this machine."""

    name = "mosquitto"

    def __init__(self, settings: MqttBrokerSettings, *, ready_s: float = READY_S) -> None:
        super().__init__(settings, ready_s=ready_s)
        self._reading: ChildProcess | None = None
        """The process that acts on a signal, as far as is known."""

    def _command(self, port: int) -> list[str]:
        program = find_mosquitto()
        path = write_configuration(self._settings, port, self._settings.folder / "mosquitto")
        return [program, "-c", str(path)]

    def _reload(self, pid: int) -> bool:
        """Mosquitto forgets a signal that comes while it acts on the one before: it is told at a later look then.

        Else a table that was paired meanwhile would be let in, and have no right.
        """
        child, certificates = self._child, self._settings.certificates
        if child is None or child is self._reading or not super()._reload(pid):
            return False
        if certificates:
            self._reading = child
            threading.Thread(target=self._follow_up, args=(child, certificates), daemon=True).start()
        return True

    def _follow_up(self, child: ChildProcess, certificates: Certificates) -> None:
        """Wait until it has read, then end the connections of who is revoked. On a thread."""
        place = self.host, self.port, certificates
        for pause, step in ((0.0, wait_until_read), (0.0, cut_off_revoked), (UNFINISHED_S, cut_off_revoked)):
            while not child.wait(pause):
                try:
                    step(*place)
                except (BrokerError, OSError):
                    pause = AGAIN_S  # noqa: PLW2901 - the same again
                else:
                    break
            if child is self._reading:
                self._reading = None


def wait_until_read(host: str, port: int, certificates: Certificates) -> None:
    """Wait until a Mosquitto that was told to read its files again has. Raises as `cut_off_revoked`.

    While it reads it lets nobody in, and before it lets in who came after the signal it reads.
    """
    with _connected(host, port, certificates):
        pass


def cut_off_revoked(host: str, port: int, certificates: Certificates) -> None:
    """End the connections of revoked devices with a Mosquitto that was told to read its files again.

    Whoever connects after the signal meets a broker that has read them; whoever had begun to connect before may still
    be let in by the old list. So do it again after UNFINISHED_S. Raises OSError, CertificatesMissing,
    CertificatesBroken.
    """
    users = [one.user for one in certificates.tables() if one.revoked]
    if not users:
        return
    with _connected(host, port, certificates) as link:
        for begin in range(0, len(users), AT_ONCE):
            link.publish(USERS, _deletion(users[begin : begin + AT_ONCE]), retain=False)
        if not link.flush(PATIENCE_S):
            raise TimeoutError(f"the broker at {host}:{port} does not take what it is told")


@contextmanager
def _connected(host: str, port: int, certificates: Certificates) -> Iterator[Link]:
    """Connect with the broker as its scorer does. Raises TimeoutError where it lets nobody in."""
    news: Queue[object] = Queue()
    address = Address(host, port, REVOKES, "", certificates.ca, identity=certificates.office(REVOKES))
    link = Link(address, transient_session_id("revoking"), [RESPONSE], news.put, persistent=False)
    link.start()
    try:
        while not link.up:
            news.get(timeout=PATIENCE_S)
        yield link
    except Empty:
        raise TimeoutError(f"no broker lets us in at {host}:{port}") from None
    finally:
        link.stop()


def _deletion(users: list[str]) -> bytes:
    steps = ("createClient", "deleteClient")
    return json.dumps({"commands": [{"command": step, "username": user} for user in users for step in steps]}).encode()


def find_mosquitto() -> str:
    """Find the program. Raises ProgramMissing."""
    found = shutil.which("mosquitto", path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_PROGRAMS}")
    if found is None:
        raise ProgramMissing("mosquitto is not installed: sudo apt-get install mosquitto")
    return found


def find_plugin() -> Path:
    """Find Mosquitto's plugin for users that come and go; Debian has it in the same package. Raises ProgramMissing."""
    for folder in map(Path, LIBRARIES):
        for found in (folder / PLUGIN, *sorted(folder.glob(f"*/{PLUGIN}"))):
            if found.is_file():
                return found
    raise ProgramMissing(f"mosquitto is there without {PLUGIN}: sudo apt-get install mosquitto")


FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)
COPIED: Final = (CA, SERVER, SERVER_KEY, REVOKED)
"""Of the event's certificates: what Mosquitto reads itself."""


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--event", required=True, help="Name of the event, as in its topics.")
@click.option("--tables", required=True, type=int, help="Number of tables.")
@click.option("--folder", required=True, type=FOLDER, help="Where configuration, ACL and copies of certificates go.")
@click.option("--store", required=True, type=FOLDER, help="Where Mosquitto keeps sessions and retained messages.")
@click.option("--event-folder", required=True, type=FOLDER, help="The event's folder: its certificates are in `tls`.")
@click.option("--plain", is_flag=True, help="Without TLS, with the event's passwords: anybody can listen.")
@click.option("--host", default="0.0.0.0", show_default=True, help="Address to listen on.")  # noqa: S104 - a hall's broker serves the hall
@click.option("--port", default=8883, show_default=True, type=click.IntRange(1, 65_535))
@click.option("--owner", help="User that Mosquitto runs as; the files become his.")
@click.option(
    "--follow", metavar="SERVICE", help="Go on: write them again, and reload SERVICE, when certificates change."
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

    With --follow it learns of each device that is paired or revoked; else run this again, and reload it (SIGHUP).
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
            _follow(certificates, settings, lambda: _write_hall(settings, store, owner), follow)
    except BrokerError as error:
        raise click.ClickException(f"{error.code}: {error}") from error
    except (OSError, LookupError, subprocess.CalledProcessError) as error:
        raise click.ClickException(str(error)) from error


def _write_hall(settings: MqttBrokerSettings, store: Path, owner: str | None) -> Path:
    path = write_configuration(settings, settings.port, store, owner=owner, copies=True)
    if owner is not None:
        user = pwd.getpwnam(owner).pw_uid
        for each in (settings.folder, *settings.folder.iterdir(), store, *store.glob(USERS_FILE)):
            os.chown(each, user, -1, follow_symlinks=False)  # the folders are the owner's, who may have laid a link
    return path


def _follow(
    certificates: Certificates, settings: MqttBrokerSettings, write: Callable[[], object], service: str
) -> None:
    """Have the service know all certificates, as they are now and whenever they have changed, until something fails.

    What runs this starts it again then, and all is told again.
    """
    host = ANY_ADDRESS.get(settings.host, settings.host)
    known: tuple[object, ...] = ()
    done = 0.0
    while True:
        if (stamp := certificates.stamp) != known:
            write()
            subprocess.run(["systemctl", "reload-or-restart", service], check=True)
            wait_until_read(host, settings.port, certificates)
        if stamp != known or time.monotonic() > done + UNFINISHED_S:
            cut_off_revoked(host, settings.port, certificates)
            known, done = stamp, time.monotonic()
        time.sleep(FOLLOW_S)


if __name__ == "__main__":
    write_hall_files()
