"""A bundle: the packages of one version in one file, with a signed manifest (Ed25519).

It is a tar file. The manifest comes first, and names each package by its hash. Once its signature is verified, the
hashes prove the packages, wherever they come from. A table requests them from the desk, one by one.
"""

import hashlib
import io
import lzma
import os
import re
import shutil
import tarfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from broker.errors import reason
from broker.files import make_folder, sync, write_file
from broker.protocol import Hash, PublicKey, Signature, SigningKey, has_signed

MANIFEST: Final = "manifest.json"
LONGEST_MANIFEST: Final = 65_536
SIGNATURE_PREFIX: Final = b"homologue upgrade 1\n"
"""Prefix of what is signed, so that it cannot pass for a fact or a receipt."""

RELEASE_KEYS: Final = Path(__file__).with_name("release.keys")
HALL_KEYS: Final = Path("/etc/homologue/upgrade.keys")

EVENT_SUBFOLDER: Final = "upgrade"
"""The folder in an event's folder from which tables download a bundle."""

FORMATS: Final = "broker/upgrade/formats.toml"
CHUNK: Final = 1 << 20

AR_HEAD_BYTES: Final = 60
"""Size of the header before each member of a package (ar(5))."""

TABLE_PACKAGES: Final = ("homologue-common", "homologue-table")


class UpgradeError(Exception):
    """An upgrade is refused. `code` is stable and listed in docs/codes.md."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Formats(Struct, frozen=True, forbid_unknown_fields=True):
    """The versions of a format on disk that a program opens, and the one that it writes."""

    opens: tuple[str, ...]
    writes: str


class BundledPackage(Struct, frozen=True, kw_only=True):
    """One Debian package in a bundle."""

    package: Annotated[str, Meta(pattern=r"^homologue-[a-z]{1,16}$(?!\n)")]
    target: Annotated[str, Meta(pattern=r"^deb[0-9]{1,3}-[a-z0-9]{1,16}$(?!\n)", description="release, architecture")]
    sha256: Hash
    size: Annotated[int, Meta(ge=1)]
    unpacked: Annotated[int, Meta(ge=1, description="bytes, installed")]


class BundleManifest(Struct, frozen=True, kw_only=True):
    """The contents of a bundle."""

    schema: Literal[1] = 1
    version: Annotated[str, Meta(pattern=r"^[0-9A-Za-z.+!-]{1,32}$(?!\n)")]
    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{0,40}$(?!\n)")]
    journal: Formats
    store: Formats
    parts: tuple[BundledPackage, ...]

    def for_table(self, target: str) -> list[BundledPackage]:
        """Return the packages of a table with this release and architecture. Raises UpgradeError."""
        found = {part.package: part for part in self.parts if part.target == target}
        if missing := [name for name in TABLE_PACKAGES if name not in found]:
            has = ", ".join(sorted({part.target for part in self.parts}))
            raise UpgradeError("upgrade_foreign", f"it has no {missing[0]} for {target}, only packages for {has}")
        return [found[name] for name in TABLE_PACKAGES]


class SignedManifest(Struct, frozen=True, kw_only=True):
    """The JSON text of a manifest, with its signature and the key that made it."""

    manifest: Annotated[str, Meta(max_length=LONGEST_MANIFEST)]
    key: PublicKey
    signature: Signature

    @property
    def hash(self) -> str:
        """The SHA-256 of the manifest, which identifies the bundle."""
        return hashlib.sha256(self.manifest.encode()).hexdigest()

    def verify(self, trusted: Iterable[str]) -> BundleManifest:
        """Return the manifest, if a trusted key has signed it. Raises UpgradeError."""
        if self.key not in trusted:
            raise UpgradeError("upgrade_unsigned", f"signed with the key {self.key[:16]}..., which is not trusted here")
        if not has_signed(self.key, SIGNATURE_PREFIX + self.manifest.encode(), self.signature):
            raise UpgradeError("upgrade_unsigned", "its manifest was changed after it was signed")
        try:
            return msgspec.json.decode(self.manifest, type=BundleManifest)
        except msgspec.DecodeError as error:
            raise UpgradeError("upgrade_damaged", f"its manifest cannot be read: {reason(error)}") from None


def read_signed_manifest(content: bytes) -> SignedManifest:
    """Decode a signed manifest without verifying it. Raises UpgradeError."""
    try:
        return msgspec.json.decode(content, type=SignedManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UpgradeError("upgrade_damaged", f"this is not the manifest of an upgrade: {reason(error)}") from None


def trusted_keys(*files: Path) -> set[str]:
    """Return the public keys that are trusted here: those of releases, and those that a hall has added."""
    lines = [line for file in (RELEASE_KEYS, *files) if file.is_file() for line in file.read_text("utf-8").splitlines()]
    return {line.strip() for line in lines if re.fullmatch(r"[0-9a-f]{64}", line.strip())}


# ---- Debian's packages --------------------------------------------------------------------------


def deb_members(file: IO[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """Return the names of a package's members, and the contents of those before the data.

    At the end the file is positioned at its data. The format is described in deb(5) and ar(5). Raises UpgradeError.
    """
    if file.read(8) != b"!<arch>\n":
        raise UpgradeError("upgrade_damaged", "this is not a Debian package")
    while head := file.read(AR_HEAD_BYTES):
        name, size = head[:16].decode("ascii", "replace").strip().rstrip("/"), head[48:58].strip()
        if len(head) != AR_HEAD_BYTES or not size.isdigit():
            raise UpgradeError("upgrade_damaged", "this Debian package is cut short")
        if name.startswith("data.tar"):
            yield name, None
            return
        yield name, file.read(int(size))
        file.seek(int(size) % 2, os.SEEK_CUR)


def deb_control(file: IO[bytes]) -> dict[str, str]:
    """Return a package's control fields, and leave the file positioned at its data. Raises UpgradeError."""
    fields: dict[str, str] = {}
    for name, content in deb_members(file):
        if name.startswith("control.tar") and content is not None:
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                found = archive.extractfile("./control")
                text = found.read().decode() if found else ""
            fields = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"[A-Za-z-]+: ", line))
        if name == "data.tar.xz" and fields:
            return fields
    raise UpgradeError("upgrade_damaged", "this is not one of our packages: it lacks control.tar or data.tar.xz")


def deb_files(file: IO[bytes]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Return the files of a package whose file is positioned at its data."""
    with lzma.LZMAFile(file) as data, tarfile.open(fileobj=data, mode="r|") as archive:
        for member in archive:
            yield member, archive.extractfile(member) if member.isfile() else None


# ---- making and importing bundles ---------------------------------------------------------------


def make_bundle(debs: Sequence[Path], key: SigningKey, output: Path) -> BundleManifest:
    """Write a bundle of these packages, which must be of one version. Raises UpgradeError."""
    parts, programs = [], set()
    for deb in debs:
        with deb.open("rb") as file:
            fields = deb_control(file)
            if fields["Package"] == TABLE_PACKAGES[0]:
                programs.add((*_program(file), fields["Version"].rpartition("+")[0]))
            part = BundledPackage(
                package=fields["Package"],
                target=f"{fields['Version'].rpartition('+')[2]}-{fields['Architecture']}",
                sha256=hash_of(deb),
                size=deb.stat().st_size,
                unpacked=int(fields["Installed-Size"]) * 1024,
            )
            parts.append((part, fields["Version"].rpartition("+")[0]))
    if len(programs) != 1 or any(version != next(iter(programs))[3] for _, version in parts):
        raise UpgradeError("upgrade_damaged", "a bundle needs homologue-common, and only packages of one version")
    version, commit, formats, _ = programs.pop()
    journal, store = formats
    manifest = BundleManifest(
        version=version, commit=commit, journal=journal, store=store, parts=tuple(part for part, _ in parts)
    )
    manifest = msgspec.json.decode(text := msgspec.json.encode(manifest), type=BundleManifest)
    signed = SignedManifest(manifest=text.decode(), key=key.public, signature=key.sign_bytes(SIGNATURE_PREFIX + text))
    new = output.with_name(f".{output.name}.new")
    with tarfile.open(new, "w", format=tarfile.USTAR_FORMAT) as archive:
        _add(archive, MANIFEST, io.BytesIO(content := msgspec.json.encode(signed)), len(content))
        for deb, (part, _) in zip(debs, parts, strict=True):
            with deb.open("rb") as file:
                _add(archive, f"{part.sha256}.deb", file, part.size)
    sync(new)
    new.replace(output)
    return manifest


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = size
    archive.addfile(member, content)


def _program(file: IO[bytes]) -> tuple[str, str, tuple[Formats, Formats]]:
    """Return the version, commit and formats of the program in a package, from its data. Raises UpgradeError."""
    version, commit, formats = "", "", None
    for member, content in deb_files(file):
        if found := re.search(r"/site-packages/homologue-([^/-]+)\.dist-info/METADATA$", member.name):
            version = found[1]
        elif member.name.endswith("/site-packages/broker/commit.txt") and content:
            commit = content.read().decode("ascii").strip().removeprefix("g")
        elif member.name.endswith(f"/site-packages/{FORMATS}") and content:
            formats = read_formats(content.read())
    if not version or formats is None:
        raise UpgradeError("upgrade_damaged", "homologue-common contains no program, or one without formats")
    return version, commit if re.fullmatch(r"[0-9a-f]*", commit) else "", formats


def read_formats(content: bytes) -> tuple[Formats, Formats]:
    """Return the formats of journals and of stores that a program opens and writes, from its `formats.toml`."""
    fields = tomllib.loads(content.decode())
    return msgspec.convert((fields["journal"], fields["store"]), tuple[Formats, Formats])


def own_formats() -> tuple[Formats, Formats]:
    """Return the formats of journals and of stores that this program opens and writes."""
    return read_formats(Path(__file__).with_name("formats.toml").read_bytes())


def hash_of(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_bundle(bundle: Path, trusted: Iterable[str]) -> tuple[SignedManifest, BundleManifest]:
    """Return the manifest of a bundle that is complete and signed by a trusted key. Raises UpgradeError."""
    with _open(bundle, trusted) as (archive, signed, manifest):
        hashes = {member.name: _hash_in(archive, member) for member in archive}
    for part in manifest.parts:
        if hashes.get(f"{part.sha256}.deb") != part.sha256:
            raise UpgradeError(
                "upgrade_damaged", f"{bundle.name} lacks {part.package} for {part.target}, or has a different one"
            )
    return signed, manifest


def import_bundle(bundle: Path, folder: Path, trusted: Iterable[str]) -> SignedManifest:
    """Copy a bundle's packages into a folder, named by their hashes, and its manifest last, once all are there.

    Packages of an older bundle are then removed. Raises UpgradeError, after which the older bundle is still complete.
    """
    make_folder(folder)
    with _open(bundle, trusted) as (archive, signed, manifest):
        names = {f"{part.sha256}.deb" for part in manifest.parts}
        for member in archive:
            if member.name in names and (source := archive.extractfile(member)):
                _store_package(source, folder / member.name)
    if not all((folder / name).is_file() for name in names):
        raise UpgradeError("upgrade_damaged", f"{bundle.name} is cut short: it lacks a package")
    write_file(folder / MANIFEST, msgspec.json.encode(signed))
    for old in folder.glob("*.deb"):
        if old.name not in names:
            old.unlink()
    return signed


@contextmanager
def _open(bundle: Path, trusted: Iterable[str]) -> Iterator[tuple[tarfile.TarFile, SignedManifest, BundleManifest]]:
    """Open a bundle, positioned at its packages, which are not verified yet. Raises UpgradeError."""
    try:
        with tarfile.open(bundle, "r:") as archive:
            signed = _read_manifest(archive)
            yield archive, signed, signed.verify(trusted)
    except (tarfile.TarError, EOFError) as error:
        raise UpgradeError("upgrade_damaged", f"{bundle.name} is not an upgrade bundle: {reason(error)}") from None


def _hash_in(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    source, found = archive.extractfile(member), hashlib.sha256()
    while source and (chunk := source.read(CHUNK)):
        found.update(chunk)
    return found.hexdigest()


def _read_manifest(archive: tarfile.TarFile) -> SignedManifest:
    """Read the manifest, which comes first. Raises UpgradeError."""
    first = archive.next()
    source = archive.extractfile(first) if first and first.name == MANIFEST else None
    if source is None:
        raise UpgradeError("upgrade_damaged", "this is not an upgrade bundle: it does not begin with a manifest")
    return read_signed_manifest(source.read(2 * LONGEST_MANIFEST))


def _store_package(source: IO[bytes], target: Path) -> None:
    """Write a package to a file that is named by its hash. Raises UpgradeError if the hash differs."""
    new = target.with_name(f".{target.name}.new")
    with closing(source), new.open("wb") as file:
        shutil.copyfileobj(source, file, CHUNK)
    if f"{hash_of(new)}.deb" != target.name:
        new.unlink()
        raise UpgradeError("upgrade_damaged", "a package in it does not match the manifest")
    sync(new)
    new.replace(target)


def imported_manifest(folder: Path) -> SignedManifest | None:
    """Return the manifest of the bundle in a folder, or None if there is no complete one."""
    try:
        return read_signed_manifest((folder / MANIFEST).read_bytes())
    except (OSError, UpgradeError):
        return None


# ---- requests of tables -------------------------------------------------------------------------

MANIFEST_PATH: Final = "/upgrade/manifest"
PART_PATH: Final = "/upgrade/part/{sha256}"


def _signed_request(event: str, table: int, path: str) -> bytes:
    return f"homologue upgrade 1 asked\n{event} {table} {path}".encode()


def authorization_header(key: SigningKey, event: str, table: int, path: str) -> str:
    """Return a device's `Authorization` header: its table and name, and its signature of the request."""
    return f"Homologue {table} {key.device} {key.sign_bytes(_signed_request(event, table, path))}"


def parse_authorization(header: str) -> tuple[int, str, str] | None:
    """Parse such a header into table, device and signature, none of which is verified yet."""
    found = re.fullmatch(r"Homologue ([0-9]{1,4}) ([^ ]*) ([^ ]*)", header)
    return (int(found[1]), found[2], found[3]) if found else None


def is_signed_request(public: str, event: str, table: int, path: str, signature: str) -> bool:
    """Return whether the device with this key has signed this request."""
    return has_signed(public, _signed_request(event, table, path), signature)
