"""An event's own certificates: its authority, the server (broker and desk), the offices, and the tables' devices.

They are in the folder `tls` in the event's folder. A device's certificate is for the key with which it signs its facts,
so one key identifies a device. The certificate's name, `table-<table>-<device>`, is the device's user name at the
broker. Revoked certificates are in a list signed by the authority (a CRL). A revocation by command is permanent; one by
the desk lasts until the device is admitted again.
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
"""Folder of the certificates, in the event's folder."""

CA, CA_KEY, SERVER, SERVER_KEY, REVOKED = "ca.crt", "ca.key", "server.crt", "server.key", "revoked.crl"

NODE_FILE: Final = "node.pem"
"""Certificate and key by which the nodes of a broker on several machines recognise each other."""

CLIENT_AUTH, SERVER_AUTH = (ExtendedKeyUsageOID.CLIENT_AUTH,), (ExtendedKeyUsageOID.SERVER_AUTH,)

NO_BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
NO_END: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""The end date for certificates without a well-defined end (RFC 5280, 4.1.2.5). Brokers check certificates by their own
clock, which may be wrong, so no table's certificate may begin or end during an event."""

SERVER_LASTS, ANEW_BEFORE = timedelta(days=800), timedelta(days=30)
"""Lifetime of the server's certificate (browsers accept at most 825 days), and how early it is renewed."""

BACKDATED: Final = timedelta(days=1)

TABLE_NAME: Final = re.compile(r"table-(?P<table>[0-9]{1,4})-(?P<device>[0-9a-f]{32})")

Revoker = Literal["desk", "command"]


@dataclass(frozen=True, slots=True)
class TableCertificate:
    """The certificate of one device of a table."""

    table: int
    device: str
    path: Path
    serial: int
    revoked: Revoker | None = None

    @property
    def user(self) -> str:
        """The device's user name at the broker."""
        return device_user(self.table, self.device)


def device_user(table: int, device: str) -> str:
    """Return the user name of a table's device at the broker."""
    return f"table-{table}-{device}"


def utc_now() -> datetime:
    """Return the current time (UTC)."""
    return datetime.now(UTC)


class Certificates:
    """The certificates of an event. May be used by several threads and processes of the folder's owner."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = utc_now) -> None:
        """Open the certificates in `folder`. Raises CertificatesMissing, CertificatesBroken."""
        folder = folder.absolute()
        self.folder, self._now = folder, now
        self.ca, self.server, self.server_key = folder / CA, folder / SERVER, folder / SERVER_KEY
        self.revoked = folder / REVOKED
        self._authority = _certificate(self.ca)

    @classmethod
    def of_event(cls, event: Path) -> Self:
        """Open the certificates of an event's folder. Raises CertificatesMissing, CertificatesBroken."""
        return cls(event / TLS_FOLDER)

    @classmethod
    def ensure(cls, event: Path, hosts: Iterable[str] = (), now: Callable[[], datetime] = utc_now) -> Self:
        """Open the certificates of an event's folder, creating missing ones and renewing the server's if needed.

        `hosts` are names and addresses by which browsers reach the server, in addition to those of this machine.
        Raises CertificatesMissing if one has to be signed and the authority's key is elsewhere; CertificatesBroken.
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
                signed = self._sign(role, key.public_key(), CLIENT_AUTH, [x509.DNSName(role)])
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
        return lasts and set(map(str, map(_name, wanted))) <= {str(name) for name in _names(made)}

    def renew(self, hosts: Iterable[str] = ()) -> None:
        """Renew the server's key and certificate for its present names, those of this machine, and `hosts`.

        Raises CertificatesMissing, CertificatesBroken.
        """
        with locked(self.folder):
            self._make_server([*hosts, *names_of_this_machine()])

    def _make_server(self, more: Iterable[str]) -> None:
        """Create the server's key and certificate for its present names, which tables may be using, and for more."""
        names = dict.fromkeys((*(self.server_names if self.server.exists() else ()), *more))
        key, now = ec.generate_private_key(ec.SECP256R1()), self._now()
        signed = self._sign(
            "Homologue",
            key.public_key(),
            SERVER_AUTH,
            [_name(host) for host in names],
            (now - BACKDATED, now + SERVER_LASTS),
        )
        write_private(self.server_key, _key_pem(key))
        write_private(self.server, _pem(signed) + _pem(self._authority))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the authority's certificate (hex), which vouches for all others."""
        return fingerprint_of(self.authority)

    @property
    def authority(self) -> str:
        """The authority's certificate (PEM), which is public."""
        return _pem(self._authority).decode()

    @property
    def server_names(self) -> list[str]:
        """The names and addresses in the server's certificate."""
        return [str(name.value) for name in _names(_certificate(self.server))]

    @property
    def server_fingerprint(self) -> str:
        """SHA-256 of the server's certificate (hex), as a browser shows it for the desk."""
        return fingerprint_of(self.server.read_text(encoding="ascii"))

    @property
    def server_ends(self) -> datetime:
        """When the server's certificate expires."""
        return _certificate(self.server).not_valid_after_utc

    # ---- who connects -----------------------------------------------------------------------

    def office(self, role: Role) -> Identity:
        """Return the identity of an office (scorer, desk, arbiter, display) at the broker."""
        return Identity(self._office(role))

    def _office(self, role: Role) -> Path:
        return self.folder / f"{role}.pem"

    def issue(self, table: int, public: str) -> str:
        """Return the certificate (PEM) of a table's device with this public key, signing one unless a valid one exists.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        user = device_user(table, device_of(public))
        path = self.folder / f"{user}.crt"
        with locked(self.folder):
            if path.exists() and _certificate(path).serial_number not in self._revocations():
                return path.read_text("ascii")
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
            signed = self._sign(user, key, CLIENT_AUTH, [x509.DNSName(user)])
            write_private(path, _pem(signed))
        return _pem(signed).decode()

    def issue_hall(self, hall: str) -> bytes:
        """Return a new key and certificate (PEM) with which a hall connects to the centre.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        key, user = Ed25519PrivateKey.generate(), hall_user(hall)
        signed = self._sign(user, key.public_key(), CLIENT_AUTH, [x509.DNSName(user)])
        return _pem(signed) + _key_pem(key)

    def ensure_node(self, hosts: Iterable[str]) -> Path:
        """Return the file with the nodes' common key and certificate (PEM), created anew if the hosts have changed.

        Raises CertificatesMissing if the authority's key is elsewhere; CertificatesBroken.
        """
        path = self.folder / NODE_FILE
        names = [x509.DNSName(NODE), *map(_name, hosts)]
        with locked(self.folder):
            if not path.exists() or set(_names(_certificate(path))) != set(names):
                key = ec.generate_private_key(ec.SECP256R1())
                signed = self._sign(NODE, key.public_key(), (*CLIENT_AUTH, *SERVER_AUTH), names)
                write_private(path, _pem(signed) + _key_pem(key))
        return path

    def hand_to_node(self, folder: Path, hosts: Iterable[str]) -> None:
        """Write into an event's folder the files needed by a machine that only runs a node.

        It gets no signing key, and only the login with the fewest rights. Raises as `ensure_node`.
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
        """Return the certificates of all tables' devices, ordered by table. Raises CertificatesBroken."""
        revoked, found = self._revocations(), []
        for path in self.folder.glob("table-*.crt"):
            if named := TABLE_NAME.fullmatch(path.stem):
                serial = _certificate(path).serial_number
                by = revoked.get(serial)
                found.append(TableCertificate(int(named["table"]), named["device"], path, serial, by))
        return sorted(found, key=lambda certificate: (certificate.table, certificate.device))

    def permissions(self, event: str) -> dict[str, Permissions]:
        """Return the permissions of all users that the broker accepts: the offices, and devices not revoked."""
        devices = {device.user: permissions_of_role("table", event, table=device.table) for device in self._valid()}
        return {role: permissions_of_role(role, event) for role in OFFICES} | devices

    def _valid(self) -> list[TableCertificate]:
        return [device for device in self.tables() if device.revoked is None]

    # ---- revocation -------------------------------------------------------------------------

    def revoke(self, table: int, device: str = "") -> list[TableCertificate]:
        """Permanently revoke the certificates of a table's devices, or of those whose id begins with `device`.

        Return them. Raises CertificateUnknown if there is none to revoke.
        """
        with locked(self.folder):
            found = [one for one in self.tables() if one.table == table and one.device.startswith(device)]
            revocable = [one for one in found if one.revoked != "command"]
            if not revocable:
                raise CertificateUnknown(f"no device {device or 'at all'} has a certificate of table {table}")
            self._write_revoked(self._revocations() | {one.serial: "command" for one in revocable})
        return revocable

    def follow(self, admits: Callable[[int, str], bool], knew: Callable[[int, str], bool]) -> None:
        """Revoke the devices that the desk no longer admits, and reinstate those that it admits again.

        Devices for which `knew` is false, and permanent revocations, are not changed.
        """
        with locked(self.folder):
            revoked = self._revocations()
            known = [one for one in self.tables() if one.revoked != "command" and knew(one.table, one.device)]
            out = {one.serial: "desk" for one in known if not admits(one.table, one.device)}
            after: dict[int, Revoker] = {
                serial: by for serial, by in revoked.items() if serial not in {one.serial for one in known}
            }
            after.update(dict.fromkeys(out, "desk"))
            if after != revoked:
                self._write_revoked(after)

    def _revocations(self) -> dict[int, Revoker]:
        """Read the revoked serial numbers, and who revoked each."""
        try:
            listed = x509.load_pem_x509_crl(self.revoked.read_bytes())
        except (OSError, ValueError) as error:
            raise CertificatesBroken(f"{self.revoked}: {reason(error)}") from None
        return {entry.serial_number: _revoker(entry) for entry in listed}

    def _write_revoked(self, revoked: Mapping[int, Revoker]) -> None:
        builder = x509.CertificateRevocationListBuilder(self._authority.subject, NO_BEGINNING, NO_END)
        for serial, by in sorted(revoked.items()):
            entry = x509.RevokedCertificateBuilder(serial, self._now())
            if by == "desk":
                entry = entry.add_extension(x509.CRLReason(x509.ReasonFlags.certificate_hold), critical=False)
            builder = builder.add_revoked_certificate(entry.build())
        write_private(self.revoked, builder.sign(self._key(), hashes.SHA256()).public_bytes(Encoding.PEM))

    @property
    def stamp(self) -> tuple[object, ...]:
        """A value that differs after any change to the folder, even after two within a tick of the file system's clock.

        It includes the temporary names of files being written, so a half-finished change differs from the finished one.
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
        """Sign a certificate. `name` is the owner's user name at the broker; `names` go into subjectAltName."""
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
    # Each authority needs its own name, since browsers confuse two trusted authorities of the same name.
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
    write_private(folder / CA_KEY, _key_pem(key))  # first: `ensure` assumes that it exists if the certificate does
    write_private(folder / CA, _pem(signed))


def names_of_this_machine() -> list[str]:
    """Return names and addresses by which browsers may reach this machine. No packet is sent to find them."""
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


def _revoker(entry: x509.RevokedCertificate) -> Revoker:
    try:
        entry.extensions.get_extension_for_class(x509.CRLReason)
    except x509.ExtensionNotFound:
        return "command"
    return "desk"


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey | Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
