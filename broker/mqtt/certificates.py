"""An event's own certificates: its authority, its server (broker and desk), the offices, and the tables' devices.

They lie in the folder `tls` of the event's folder. A device's certificate is for the key with which it signs its facts,
so one key proves a device. Its name, `table-<table>-<device>`, is its user at the broker. What is revoked is in a list
that the authority has signed (a CRL): by whoever runs the event, permanently; by the desk, until the device is accepted
again.
"""

import os
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from broker.errors import CertificatesBroken, CertificatesMissing, CertificateUnknown, reason
from broker.files import PRIVATE_FOLDER, locked, make_folder, write_private
from broker.mqtt.access import NODE, OFFICES, PROBER, Permissions, hall_user, permissions_of_role
from broker.protocol import Role, device_of
from broker.protocol.tls import Identity, fingerprint_of

TLS_FOLDER: Final = "tls"
"""Of the event's folder."""

CA, CA_KEY, SERVER, SERVER_KEY, REVOKED = "ca.crt", "ca.key", "server.crt", "server.key", "revoked.crl"

NODE_FILE: Final = "node.pem"
"""Of the nodes of a broker on several machines, for each other."""

CLIENT, SERVES = (ExtendedKeyUsageOID.CLIENT_AUTH,), (ExtendedKeyUsageOID.SERVER_AUTH,)

NO_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
NO_END: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""RFC 5280, 4.1.2.5, of what has no well-defined end. Brokers look at the times of tables' certificates by their own
clock, which may be wrong: none of these may begin or end during an event."""

SERVER_LASTS, ANEW_BEFORE = timedelta(days=800), timedelta(days=30)
"""Of the server's: browsers take no more than 825 days."""

BEFORE: Final = timedelta(days=1)

NAMED: Final = re.compile(r"table-(?P<table>[0-9]{1,4})-(?P<device>[0-9a-f]{32})")

Revoker = Literal["desk", "command"]


@dataclass(frozen=True, slots=True)
class TableCertificate:
    """What was given to one device of a table."""

    table: int
    device: str
    path: Path
    serial: int
    revoked: Revoker | None = None

    @property
    def user(self) -> str:
        """The user that the device is at the broker."""
        return device_user(self.table, self.device)


def device_user(table: int, device: str) -> str:
    """Return the user that a table's device is at the broker."""
    return f"table-{table}-{device}"


def utc_now() -> datetime:
    """Return the time of this machine's clock."""
    return datetime.now(UTC)


class Certificates:
    """All that an event's authority has signed. For any thread and process that owns the folder."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        """`folder`: where they lie. Raises CertificatesMissing, CertificatesBroken."""
        folder = folder.absolute()
        self.folder, self._now = folder, now
        self.ca, self.server, self.server_key = folder / CA, folder / SERVER, folder / SERVER_KEY
        self.revoked = folder / REVOKED
        self._authority = _certificate(self.ca)

    @classmethod
    def of_event(cls, event: Path) -> Self:
        """Return those of an event's folder. Raises CertificatesMissing, CertificatesBroken."""
        return cls(event / TLS_FOLDER)

    @classmethod
    def ensure(cls, event: Path, hosts: Iterable[str] = (), now: Callable[[], datetime] = utc_now) -> Self:
        """Return those of an event's folder; what is missing is made, and the server's again where it no longer fits.

        `hosts`: names and addresses under which browsers reach the server, beside those of this machine.
        Raises CertificatesMissing if a new one is needed and the authority's key is elsewhere; CertificatesBroken.
        """
        folder = event / TLS_FOLDER
        make_folder(folder, PRIVATE_FOLDER)
        with locked(folder):
            if not (folder / CA).exists():
                _make_authority(folder)
            made = cls(folder, now)
            made._complete(hosts)
        return made

    def _complete(self, hosts: Iterable[str]) -> None:
        if not self.revoked.exists():
            self._write_revoked({})
        for role in OFFICES:
            if not self._office(role).exists():
                key = Ed25519PrivateKey.generate()
                signed = self._sign(role, key.public_key(), CLIENT, [x509.DNSName(role)])
                write_private(self._office(role), _pem(signed) + _key_pem(key))
        wanted = [*dict.fromkeys((*hosts, *names_of_this_machine()))]
        if not self._server_fits(wanted):
            self._make_server(wanted)

    # ---- the server -------------------------------------------------------------------------

    def _server_fits(self, wanted: Iterable[str]) -> bool:
        if not (self.server.exists() and self.server_key.exists()):
            return False
        made, now = _certificate(self.server), self._now()
        lasts = made.not_valid_before_utc <= now < made.not_valid_after_utc - ANEW_BEFORE
        return lasts and set(map(str, map(_name, wanted))) <= {str(one) for one in _names(made)}

    def renew(self, hosts: Iterable[str] = ()) -> None:
        """Renew the server's key and certificate for the names it had, those of this machine, and `hosts`.

        Raises CertificatesMissing, CertificatesBroken.
        """
        with locked(self.folder):
            self._make_server([*hosts, *names_of_this_machine()])

    def _make_server(self, more: Iterable[str]) -> None:
        """Make it for the names that it had, by which tables may know it, and for more."""
        names = dict.fromkeys((*(self.server_names if self.server.exists() else ()), *more))
        key, now = ec.generate_private_key(ec.SECP256R1()), self._now()
        signed = self._sign(
            "Homologue",
            key.public_key(),
            SERVES,
            [_name(one) for one in names],
            (now - BEFORE, now + SERVER_LASTS),
        )
        write_private(self.server_key, _key_pem(key))
        write_private(self.server, _pem(signed) + _pem(self._authority))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the authority's certificate, in hex: what vouches for all others."""
        return fingerprint_of(self.authority)

    @property
    def authority(self) -> str:
        """The authority's certificate (PEM), for anybody."""
        return _pem(self._authority).decode()

    @property
    def server_names(self) -> list[str]:
        """Names and addresses that the server's certificate has."""
        return [str(one.value) for one in _names(_certificate(self.server))]

    @property
    def server_fingerprint(self) -> str:
        """SHA-256 of the server's certificate, in hex: what a browser shows of the desk."""
        return fingerprint_of(self.server.read_text(encoding="ascii"))

    @property
    def server_ends(self) -> datetime:
        """When the server's certificate ends."""
        return _certificate(self.server).not_valid_after_utc

    # ---- who connects -----------------------------------------------------------------------

    def office(self, role: Role) -> Identity:
        """Return who scorer, desk, arbiter or display are at the broker."""
        return Identity(self._office(role))

    def _office(self, role: Role) -> Path:
        return self.folder / f"{role}.pem"

    def issue(self, table: int, public: str) -> str:
        """Return the certificate (PEM) of a device with this public key at a table; one that it has, if it counts.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        user = device_user(table, device_of(public))
        path = self.folder / f"{user}.crt"
        with locked(self.folder):
            if path.exists() and _certificate(path).serial_number not in self._list():
                return path.read_text("ascii")
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
            signed = self._sign(user, key, CLIENT, [x509.DNSName(user)])
            write_private(path, _pem(signed))
        return _pem(signed).decode()

    def issue_hall(self, hall: str) -> bytes:
        """Return key and certificate (PEM) with which a hall connects with the centre; a new one each time.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        key, user = Ed25519PrivateKey.generate(), hall_user(hall)
        signed = self._sign(user, key.public_key(), CLIENT, [x509.DNSName(user)])
        return _pem(signed) + _key_pem(key)

    def ensure_node(self, hosts: Iterable[str]) -> Path:
        """Return where key and certificate (PEM) are by which the broker's nodes know each other; made for new hosts.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        path = self.folder / NODE_FILE
        names = [x509.DNSName(NODE), *map(_name, hosts)]
        with locked(self.folder):
            if not path.exists() or set(_names(_certificate(path))) != set(names):
                key = ec.generate_private_key(ec.SECP256R1())
                signed = self._sign(NODE, key.public_key(), (*CLIENT, *SERVES), names)
                write_private(path, _pem(signed) + _key_pem(key))
        return path

    def hand_to_node(self, folder: Path, hosts: Iterable[str]) -> None:
        """Write into an event's folder what a machine needs that runs a node alone: it signs nothing, and reads little.

        Raises as `ensure_node`.
        """
        make_folder(folder / TLS_FOLDER, PRIVATE_FOLDER)
        node, prober = self.ensure_node(hosts), self._office(PROBER)
        given = {
            CA: self.ca,
            REVOKED: self.revoked,
            NODE_FILE: node,
            prober.name: prober,
            SERVER: node,
            SERVER_KEY: node,
        }
        for name, path in given.items():
            write_private(folder / TLS_FOLDER / name, path.read_bytes())

    def tables(self) -> list[TableCertificate]:
        """Return what was given to tables, by table. Raises CertificatesBroken."""
        revoked, found = self._list(), []
        for path in self.folder.glob("table-*.crt"):
            if named := NAMED.fullmatch(path.stem):
                serial = _certificate(path).serial_number
                by = revoked.get(serial)
                found.append(TableCertificate(int(named["table"]), named["device"], path, serial, by))
        return sorted(found, key=lambda one: (one.table, one.device))

    def permissions(self, event: str) -> dict[str, Permissions]:
        """Return whom the broker lets in, with what they may: the offices, and each device that is not revoked."""
        devices = {one.user: permissions_of_role("table", event, table=one.table) for one in self._valid()}
        return {role: permissions_of_role(role, event) for role in OFFICES} | devices

    def _valid(self) -> list[TableCertificate]:
        return [one for one in self.tables() if one.revoked is None]

    # ---- who connects no more ---------------------------------------------------------------

    def revoke(self, table: int, device: str = "") -> list[TableCertificate]:
        """Revoke what a table's devices have, or the device whose id begins so; return it. For good.

        Raises CertificateUnknown if there is none that counts.
        """
        with locked(self.folder):
            found = [one for one in self.tables() if one.table == table and one.device.startswith(device)]
            counting = [one for one in found if one.revoked != "command"]
            if not counting:
                raise CertificateUnknown(f"no device {device or 'at all'} has a certificate of table {table}")
            self._write_revoked(self._list() | {one.serial: "command" for one in counting})
        return counting

    def follow(self, admits: Callable[[int, str], bool], knew: Callable[[int, str], bool]) -> None:
        """Let connect whom the desk has admitted, and nobody whose admission it has taken back."""
        with locked(self.folder):
            revoked = self._list()
            known = [one for one in self.tables() if one.revoked != "command" and knew(one.table, one.device)]
            out = {one.serial: "desk" for one in known if not admits(one.table, one.device)}
            after: dict[int, Revoker] = {
                serial: by for serial, by in revoked.items() if serial not in {one.serial for one in known}
            }
            after.update(dict.fromkeys(out, "desk"))
            if after != revoked:
                self._write_revoked(after)

    def _list(self) -> dict[int, Revoker]:
        """Read which serial numbers are revoked, and by whom."""
        try:
            listed = x509.load_pem_x509_crl(self.revoked.read_bytes())
        except (OSError, ValueError) as error:
            raise CertificatesBroken(f"{self.revoked}: {reason(error)}") from None
        return {one.serial_number: _revoker(one) for one in listed}

    def _write_revoked(self, revoked: Mapping[int, Revoker]) -> None:
        made = x509.CertificateRevocationListBuilder(self._authority.subject, NO_BEGINNING, NO_END)
        for serial, by in sorted(revoked.items()):
            one = x509.RevokedCertificateBuilder(serial, self._now())
            if by == "desk":
                one = one.add_extension(x509.CRLReason(x509.ReasonFlags.certificate_hold), critical=False)
            made = made.add_revoked_certificate(one.build())
        write_private(self.revoked, made.sign(self._key(), hashes.SHA256()).public_bytes(Encoding.PEM))

    @property
    def stamp(self) -> tuple[object, ...]:
        """What is another once anything here was changed, also twice within a tick of the file system's clock.

        While a file is being written, the name that it has until then is here: what was seen half done is seen again.
        """
        changed, revoked = self.folder.stat().st_mtime_ns, self.revoked.stat()
        with os.scandir(self.folder) as entries:
            return changed, frozenset(entry.name for entry in entries), revoked.st_ino, revoked.st_size

    # ---- signing ----------------------------------------------------------------------------

    def _sign(
        self,
        name: str,
        key: ec.EllipticCurvePublicKey | Ed25519PublicKey,
        use: Iterable[ObjectIdentifier],
        names: Iterable[x509.GeneralName],
        times: tuple[datetime, datetime] = (NO_BEGINNING, NO_END),
    ) -> x509.Certificate:
        """Sign a certificate, that a broker names its owner by and others find by its names."""
        issuer = self._authority.public_key()
        if not isinstance(issuer, ec.EllipticCurvePublicKey):
            raise CertificatesBroken(f"{self.ca}: not a certificate that was made here")
        return (
            x509.CertificateBuilder(self._authority.subject, _subject(name), key, x509.random_serial_number(), *times)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage(use), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False)
            .sign(self._key(), hashes.SHA256())
        )

    def _key(self) -> ec.EllipticCurvePrivateKey:
        path = self.folder / CA_KEY
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise CertificatesMissing(f"{path}: {error.strerror}; without it nothing new can be signed") from None
        except ValueError as error:
            raise CertificatesBroken(f"{path}: {error}") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise CertificatesBroken(f"{path} is not the key of this authority")
        return key


def _make_authority(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    number = x509.random_serial_number()
    # A name of its own: browsers that trust two authorities of one name confuse them.
    name = _subject(f"Homologue event {number:x}"[:30])
    signs = dict.fromkeys(
        ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
    )
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), number, NO_BEGINNING, NO_END)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.KeyUsage(**signs, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_private(folder / CA_KEY, _key_pem(key))  # first: the certificate is taken as a sign that both are there
    write_private(folder / CA, _pem(signed))


def names_of_this_machine() -> list[str]:
    """Return the names and addresses by which browsers may know this machine. Nothing is sent."""
    host = socket.gethostname()
    found = ["localhost", "127.0.0.1", "::1", *([host, f"{host.partition('.')[0]}.local"] if _is_name(host) else ())]
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as line:
            line.connect((elsewhere, 9))
            found.append(line.getsockname()[0])
    return [*dict.fromkeys(found)]


def _is_name(host: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9.-]{1,253}", host) is not None


def _name(host: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ip_address(host))
    return x509.DNSName(host)


def _names(certificate: x509.Certificate) -> list[x509.GeneralName]:
    try:
        return list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise CertificatesMissing(f"{path}: {error.strerror}; `homologue certs new` makes what is missing") from None
    except ValueError as error:
        raise CertificatesBroken(f"{path}: {error}") from None


def _revoker(one: x509.RevokedCertificate) -> Revoker:
    try:
        one.extensions.get_extension_for_class(x509.CRLReason)
    except x509.ExtensionNotFound:
        return "command"
    return "desk"


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey | Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
