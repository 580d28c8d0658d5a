"""Mosquitto's main configuration, for a child process and for a hall: one template, two uses."""

import os
import pwd
from importlib.resources import files
from pathlib import Path
from string import Template

from broker.child.settings import PAYLOAD_LIMIT, Settings, Tls
from broker.credentials import write_private
from broker.mosquitto.files import acl, passwords

NAME = "homologue.conf"


def write_all(settings: Settings, port: int, store: Path, *, owner: str | None = None) -> Path:
    """Write configuration, ACL and password hashes into the settings's folder, make the store; give the configuration.

    Mosquitto, when started as root, becomes `owner` (a user name; none: whoever runs this).
    Raises OSError, and SettingRefused or UserUnknown as `Settings` does.
    """
    rights = settings.permissions()
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(settings.folder / "acl", acl(rights))
    write_private(settings.folder / "passwords", passwords(settings.credentials, rights))
    write_private(settings.folder / NAME, _configuration(settings, port, store, owner or this_user()))
    return settings.folder / NAME


def this_user() -> str:
    """Give the name of the user who runs this; the number where the system knows no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _configuration(settings: Settings, port: int, store: Path, owner: str) -> bytes:
    template = Template(files(__package__).joinpath(NAME).read_text("utf-8"))
    text = template.substitute(
        folder=settings.folder.absolute(),
        store=store.absolute(),
        payload_limit=PAYLOAD_LIMIT,
        port=port,
        host=settings.host,
        owner=owner,
    )
    return (text + _tls(settings.tls)).encode()


def _tls(tls: Tls | None) -> str:
    if tls is None:
        return ""
    paths = f"certfile {tls.certificate}\nkeyfile {tls.key}\ncafile {tls.authority}\n"
    return paths + "tls_version tlsv1.2\n"  # the least that is taken
