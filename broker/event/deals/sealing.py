"""Sealed deals and sets: encrypted on disk, so that only the event's key can read them, one at a time.

Each one is encrypted separately (HPKE, RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305). The data needed for restoring
stays readable, but is authenticated together with the encrypted part: if a serial is changed, the deal no longer opens.
Sealing needs only the public key, so a folder can be prepared on a machine that cannot open it again. The key can be
split into shares, of which a given number recovers it.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from msgspec import Meta, Struct
from msgspec.structs import replace
from shamir_mnemonic import MnemonicError, Share, combine_mnemonics, generate_mnemonics

from broker.event.file_io import PUBLIC_MODE, read_json
from broker.event.files import (
    DEALS,
    SETS,
    DealRecord,
    Registry,
    SetFaces,
    read_deals,
    read_registry,
    write_deals,
    write_registry,
)
from broker.files import write_file, write_private
from broker.i18n import N_
from broker.protocol import Hash, Seat
from broker.rules import RuleError

DEALS_KEY: Final = "deals.key"
"""The private key, in the event's folder. It is never included in a backup."""

SUITE: Final = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


class SealedContent(Struct, frozen=True, forbid_unknown_fields=True):
    """The encrypted part of a sealed deal."""

    faces: dict[Seat, tuple[str, ...]]
    salt: Hash | None

    def __repr__(self) -> str:
        """Return a text without the faces."""
        return "SealedContent()"


@dataclass(frozen=True, slots=True, repr=False)
class DealsKey:
    """The private key of an event's deals. Its `repr` does not show it."""

    _key: X25519PrivateKey

    @classmethod
    def new(cls) -> Self:
        """Generate a key."""
        return cls(X25519PrivateKey.generate())

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the key from its 32 secret bytes. Raises ValueError."""
        return cls(X25519PrivateKey.from_private_bytes(raw))

    def to_bytes(self) -> bytes:
        """Return the 32 secret bytes."""
        return self._key.private_bytes_raw()

    @property
    def public(self) -> str:
        """The public key in hex, with which deals can be sealed but not opened."""
        return self._key.public_key().public_bytes_raw().hex()

    def open(self, box: str, about: bytes) -> bytes | None:
        """Decrypt a sealed text. Returns None if it or `about` was altered, or if it was sealed for another key."""
        try:
            return SUITE.decrypt(base64.b64decode(box, validate=True), self._key, info=about)
        except (InvalidTag, ValueError):
            return None


def read_key(folder: Path) -> DealsKey:
    """Read the key of a folder. Raises RuleError `deals_key_missing`, `malformed`."""
    path = folder / DEALS_KEY
    try:
        return DealsKey.from_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except OSError:
        text = N_(
            "{file} is missing, and sealed deals cannot be opened without it: run `homologue deal recover`", file=path
        )
        raise RuleError("deals_key_missing", text) from None
    except ValueError:
        raise RuleError("malformed", N_("{where}: {problem}", where=path.name, problem="64 digits (hex)")) from None


def write_key(folder: Path, key: DealsKey) -> None:
    """Write the key of a folder, readable by its owner only. Raises OSError."""
    write_private(folder / DEALS_KEY, key.to_bytes().hex().encode() + b"\n")


def ensure_key(folder: Path) -> DealsKey:
    """Return the key of a folder, generating it if there is none. Raises as `read_key`."""
    if not (folder / DEALS_KEY).exists():
        write_key(folder, DealsKey.new())
    return read_key(folder)


def seal(public: str, content: bytes, about: bytes) -> str:
    """Encrypt for a public key (hex) and return base64. `about` is authenticated, but not encrypted.

    Raises RuleError `malformed`.
    """
    try:
        recipient = X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    except ValueError:
        raise RuleError("malformed", N_("a public key has 64 hexadecimal digits")) from None
    return base64.b64encode(SUITE.encrypt(content, recipient, info=about)).decode()


def seal_deal(record: DealRecord, sets: Mapping[int, SetFaces], public: str) -> DealRecord:
    """Return a deal in its sealed form. `sets` has the faces of its set. Raises RuleError as `DealRecord.serials`."""
    deal = record.deal()
    open_part = DealRecord(
        number=record.number,
        set=record.set,
        prevalent_wind=record.prevalent_wind,
        dealer=record.dealer,
        order=record.serials(lambda number: sets.get(number, {})),  # type: ignore[arg-type] # always three rows
        red=record.has_red,
    )
    content = msgspec.json.encode(SealedContent(dict(deal.faces), record.salt))
    return replace(open_part, sealed=seal(public, content, _about_deal(open_part)))


def seal_set(number: int, faces: SetFaces, public: str) -> str:
    """Return a set in its sealed form."""
    return seal(public, msgspec.json.encode(faces), _about_set(number))


def _about_deal(record: DealRecord) -> bytes:
    return b"homologue-sealed-deal-v1\n" + msgspec.json.encode(replace(record, sealed=None), order="sorted")


def _about_set(number: int) -> bytes:
    return f"homologue-sealed-set-v1\n{number}".encode()


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens sealed deals and sets of an event's folder. The key is read each time it is needed, and not cached."""

    folder: Path | None = None

    def deal(self, record: DealRecord) -> DealRecord:
        """Return a deal with its faces. Raises RuleError `deal_altered`, `deals_key_missing`."""
        if record.sealed is None:
            return record
        raw, number = self._key().open(record.sealed, _about_deal(record)), record.number
        if raw is None:
            text = N_(
                "deal {deal} cannot be opened: {file} was changed, or it belongs to another key",
                deal=number,
                file=DEALS,
            )
            raise RuleError("deal_altered", text)
        content = msgspec.json.decode(raw, type=SealedContent)
        return replace(record, faces=content.faces, salt=content.salt, order=None, red=False, sealed=None)

    def set_faces(self, number: int, registry: Registry) -> SetFaces:
        """Return a set's faces by serial; empty if the set is not registered.

        Raises RuleError `set_altered`, `deals_key_missing`.
        """
        stored = registry.get(number, {})
        if not isinstance(stored, str):
            return stored
        raw = self._key().open(stored, _about_set(number))
        if raw is None:
            text = N_(
                "set {set} cannot be opened: {file} was changed, or it belongs to another key", set=number, file=SETS
            )
            raise RuleError("set_altered", text)
        return msgspec.json.decode(raw, type=SetFaces)

    def plain(self, registry: Registry) -> dict[int, SetFaces]:
        """Return a whole registry, decrypted. Raises as `set_faces`."""
        return {number: self.set_faces(number, registry) for number in registry}

    def _key(self) -> DealsKey:
        if self.folder is None:
            raise RuleError("deals_key_missing", N_("the key of sealed deals is not here"))
        return read_key(self.folder)


NO_KEY: Final = Opener()


def seal_folder(folder: Path, public: str | None = None) -> int:
    """Seal the deals and sets of a folder that are not sealed yet; return how many.

    A second run completes an interrupted one. `public` seals for a key on another machine. If some are already sealed
    and the key is missing, no new one is generated: it could not open those, and would stand in the way of the right
    one. Raises RuleError as `seal_deal`, `deals_key_missing`; BadEvent, also if there is nothing to seal; OSError.
    """
    registry = read_registry(folder) if (folder / SETS).exists() else {}
    deals = read_deals(folder) if (folder / DEALS).exists() or not registry else ()
    plain = [deal for deal in deals if deal.sealed is None]
    sets_sealed = [isinstance(faces, str) for faces in registry.values()]
    if not plain and all(sets_sealed):
        return 0
    if public is None:
        public = (read_key if any(sets_sealed) or len(plain) < len(deals) else ensure_key)(folder).public
    opened = Opener(folder).plain({deal.set: registry.get(deal.set, {}) for deal in plain})
    if plain:  # deals first, because their serials are computed from the plain sets
        write_deals(folder, [deal if deal.sealed else seal_deal(deal, opened, public) for deal in deals])
    return len(plain) + seal_registry(folder, registry, public)


def move_deal(folder: Path, number: int, to: int) -> None:
    """Move a deal to another tile set, for instance if its set is damaged. The commitment remains valid.

    A sealed deal stays sealed. Raises RuleError `deal_unknown`, `set_unknown`, and as `Opener.deal` and `seal_deal`;
    BadEvent, OSError.
    """
    deals, registry, opener = list(read_deals(folder)), read_registry(folder), Opener(folder)
    at = next((at for at, deal in enumerate(deals) if deal.number == number), None)
    if at is None:
        raise RuleError("deal_unknown", N_("there is no deal {deal}", deal=number))
    if to not in registry:
        raise RuleError("set_unknown", N_("there is no set {set}: make it first, or choose another", set=to))
    moved = replace(opener.deal(deals[at]), set=to)
    faces = opener.set_faces(to, registry)
    deals[at] = seal_deal(moved, {to: faces}, read_key(folder).public) if deals[at].sealed else moved
    write_deals(folder, deals)


def seal_registry(folder: Path, registry: Registry, public: str) -> int:
    """Write `sets.json` with all sets sealed; return how many were not sealed before. Raises OSError."""
    plain = {number: faces for number, faces in registry.items() if not isinstance(faces, str)}
    if plain:
        sealed = {number: seal_set(number, faces, public) for number, faces in plain.items()}
        write_registry(folder, dict(sorted({**registry, **sealed}.items())))
    return len(plain)


SHARES: Final = "shares.json"
MOST_SHARES: Final = 16
"""Limit of SLIP-39."""

FEWEST_NEEDED: Final = 2


class SharesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """`shares.json`: how many shares exist, how many are needed, and the key's public half. Nothing in it is secret."""

    schema: Literal[1]
    people: Annotated[int, Meta(ge=2, le=MOST_SHARES)]
    needed: Annotated[int, Meta(ge=FEWEST_NEEDED, le=MOST_SHARES)]
    public: Hash


def make_shares(folder: Path, people: int, needed: int) -> list[str]:
    """Return the words of each person's share. Earlier shares stay valid, but cannot be combined with these.

    Raises RuleError `shares_wrong`, `deals_key_missing`.
    """
    if not FEWEST_NEEDED <= needed <= people <= MOST_SHARES:
        raise RuleError(
            "shares_wrong",
            N_("{fewest} to {most} people can have a share, and at least {fewest} shares must be required",
               fewest=FEWEST_NEEDED, most=MOST_SHARES),
        )  # fmt: skip
    words: list[str]
    (words,) = generate_mnemonics(1, [(needed, people)], read_key(folder).to_bytes(), iteration_exponent=0)
    return words


def note_shares(folder: Path, people: int, needed: int) -> None:
    """Record the shares in `shares.json`, after people have written them down. Raises RuleError, OSError."""
    content = msgspec.json.encode(SharesFile(1, people, needed, read_key(folder).public))
    write_file(folder / SHARES, msgspec.json.format(content, indent=1) + b"\n", PUBLIC_MODE, exactly=True)


def read_shares(folder: Path) -> SharesFile | None:
    """Read `shares.json`; None if no shares were made. Raises RuleError `malformed`, OSError."""
    return read_json(folder / SHARES, SharesFile) if (folder / SHARES).exists() else None


def check_share(typed: str, before: Sequence[str] = ()) -> int:
    """Check a typed share against the shares entered `before`; return how many are needed, as encoded in the share.

    Raises RuleError `share_wrong`, `share_of_another`, `share_twice`.
    """
    share = _share(typed)
    for other in map(_share, before):
        if other.common_parameters() != share.common_parameters():
            raise RuleError("share_of_another", N_("this share belongs to another key than the one before"))
        if other.index == share.index:
            raise RuleError("share_twice", N_("this share was already entered"))
    return int(share.member_threshold)


def _share(typed: str) -> Share:
    try:
        return Share.from_mnemonic(" ".join(typed.lower().split()))
    except MnemonicError:  # not quoted, since a share is secret
        raise RuleError("share_wrong", N_("this is not a share: a word is wrong or missing")) from None


def recover_key(folder: Path, shares: Iterable[str]) -> DealsKey:
    """Recover the key of a folder from shares, write it and return it.

    Raises RuleError `share_wrong`, `shares_too_few`, `share_of_another`, `key_of_another`, `key_exists`; OSError.
    """
    words = [" ".join(share.lower().split()) for share in shares]
    for at, share in enumerate(words):
        needed = check_share(share, words[:at])
    if not words or len(words) < needed:
        raise RuleError("shares_too_few", N_("{count} shares are needed", count=needed if words else FEWEST_NEEDED))
    try:
        key = DealsKey.from_bytes(combine_mnemonics(words[:needed]))
    except (MnemonicError, ValueError):
        raise RuleError("share_wrong", N_("this is not a share: a word is wrong or missing")) from None
    known = read_shares(folder)
    if known and known.public != key.public:
        raise RuleError("key_of_another", N_("these shares belong to the key of another event"))
    sealed = [deal for deal in read_deals(folder) if deal.sealed] if known is None and (folder / DEALS).exists() else []
    if sealed and not any(key.open(deal.sealed or "", _about_deal(deal)) for deal in sealed):
        raise RuleError("key_of_another", N_("these shares belong to the key of another event"))
    if (folder / DEALS_KEY).exists() and read_key(folder).public != key.public:
        raise RuleError("key_exists", N_("{folder} has another key; it was not changed", folder=folder))
    write_key(folder, key)
    return key
