"""Encryption of an event's connections. They are plain only on request, or if the event began without certificates."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from broker.errors import BrokerError
from broker.event import read_devices, read_halls
from broker.mqtt import CA, TLS_FOLDER, Certificates, Credentials
from broker.protocol.link import Address
from broker.scorer.access import Admissions
from broker.store import has_started
from broker.web import errors
from broker.web.server import ANYWHERE, Certificate, DeskServer

DESK_CERTIFICATE, DESK_KEY = "desk.crt", "desk.key"
"""Files in the event's folder with a separate certificate for the desk, which browsers trust."""

PLAIN_CODES: Final = {
    "connection_plain": "passwords and results are NOT ENCRYPTED, anybody on the network can read them"
}


def certificates_of(event: Path, hosts: Iterable[str | None], *, plain: bool) -> Certificates | None:
    """Return an event's certificates, creating missing ones. If connections are plain, say so and return None.

    An event that began without certificates continues without: its tables are set up that way. `hosts`: names and
    addresses under which others may reach this machine. Raises BrokerError.
    """
    if plain:
        say_plain("--plain was given")
        return None
    existed = (event / TLS_FOLDER / CA).exists()
    if not existed and has_started(event):
        say_plain(f"the event began without certificates; to change that: homologue certs new {event}")
        return None
    try:
        made = Certificates.ensure(event, [one for one in hosts if one and one not in ANYWHERE])
    except OSError as error:  # the disk is full, or the authority's key is kept elsewhere
        if not existed:
            raise
        click.echo(f"certificates_missing: nothing was renewed: {error}")
        return Certificates.of_event(event)
    if not existed:
        click.echo(f"Certificates: created in {made.folder}, for this event only")
    issued = {(one.table, one.device) for one in made.tables()}
    for one in () if read_halls(event) else read_devices(event):  # tables of halls do not use the centre's broker
        if (one.table, one.device) not in issued:
            made.issue(one.table, one.key)
    return made


def say_plain(why: str) -> None:
    """Warn in red that anybody can listen. Call this only once, since it goes into the log."""
    click.secho(f"connection_plain: {PLAIN_CODES['connection_plain']} ({why})", fg="red", bold=True)


def desk_certificate(
    event: Path, certificate: Path | None, key: Path | None, certificates: Certificates | None
) -> Certificate | None:
    """Return the certificate with which the desk is served, or None without TLS. Raises CertificateRefused.

    It is the one given, else the desk's own in the event's folder, else the event's server certificate.
    """
    if certificate is not None or key is not None or (event / DESK_CERTIFICATE).exists():
        return Certificate(certificate or event / DESK_CERTIFICATE, key or event / DESK_KEY)
    return Certificate(certificates.server, certificates.server_key, certificates.ca) if certificates else None


@dataclass(frozen=True, slots=True)
class Logins:
    """Credentials of scorer and desk at the broker: the event's certificates, or else passwords in a file."""

    passwords: Path
    certificates: Certificates | None
    ca: Path | None = None
    """Certificate authority of an external broker, at which passwords are used."""

    def scorer(self, host: str, port: int) -> Address:
        """Return the broker's address for the scorer. Raises BrokerError."""
        if self.certificates is not None and self.ca is None:
            identity = self.certificates.office("scorer")
            return Address(host, port, "scorer", "", self.certificates.ca, identity=identity)
        return Address(host, port, "scorer", Credentials.load(self.passwords).password("scorer"), self.ca)

    def desk(self, scorer: Address) -> Address:
        """Return the broker's address for the desk, which has fewer permissions. Raises BrokerError."""
        if self.certificates is not None and self.ca is None:
            return replace(scorer, user="desk", identity=self.certificates.office("desk"))
        return replace(scorer, user="desk", password=Credentials.load(self.passwords).password("desk"))


class RevocationSync:
    """Keeps revocations of devices' certificates, and the desk's own certificate, up to date while a scorer runs."""

    def __init__(self, certificates: Certificates, admissions: Admissions, desk: DeskServer) -> None:
        self._certificates, self._admissions, self._desk = certificates, admissions, desk
        self._applied, self._stamp = -1, certificates.stamp

    def sync(self) -> None:
        """Apply the decisions since the last call. A failure is reported once, and does not end the event.

        A revoked device may then still be connected, but none of its messages count.
        """
        try:
            if self._admissions.number != self._applied:
                self._applied = self._admissions.number
                self._certificates.follow(self._admissions.admits, self._admissions.has_record)
            if self._certificates.stamp != self._stamp:
                self._stamp = self._certificates.stamp
                self._desk.read_certificate()
        except (BrokerError, errors.DeskError, OSError) as error:
            click.echo(f"{getattr(error, 'code', 'certificates_missing')}: {error}")
