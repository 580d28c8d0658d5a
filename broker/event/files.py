"""The files in an event's folder other than its plan.

`deals.json`, `sets.json` and `hands.json` are secret. `profile.toml` and `profiles/ID.toml` hold the event's own rule
profiles. `players.csv` has the players' countries and clubs. These affect no result, so entries that cannot be read are
skipped here; `homologue event check` reports them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.json import Decoder

from broker.errors import BadEvent, RuleError, reason
from broker.files import PLAYERS, write_private
from broker.i18n import N_
from broker.protocol import (
    COUNTRY,
    LONGEST_LINE,
    DealNo,
    Hash,
    MachineName,
    PlayerId,
    PublicKey,
    RoundNo,
    Seat,
    SetNo,
    TableNo,
    Tray,
    Wind,
    device_of,
)
from broker.rules import (
    Deal,
    RiichiProfile,
    Rules,
    SerialTray,
    has_red,
    load_riichi,
    load_rules,
    parse_own_rules,
    serial_order,
)
from broker.rules.mcr import Action
from broker.spreadsheet import columns, read_grid, without_apostrophes

DEALS: Final = "deals.json"
SETS: Final = "sets.json"
HANDS: Final = "hands.json"
DEVICES: Final = "devices.json"
HALL: Final = "hall.toml"
"""In a hall's folder, if the event has several halls: how to reach the centre (`broker/event/halls.py`)."""

T = TypeVar("T")


SetFaces = dict[int, str]
"""The face of each serial of a set."""

Registry = Mapping[int, SetFaces | str]
"""Content of `sets.json`: by set number, the set's faces, or their encrypted form."""


class DealRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One deal in `deals.json`: the tile set in its carrier, its faces, and the salt of its commitment.

    The faces and salt of a sealed deal can be read only with the event's key (`broker.event.deals.sealing`).
    """

    number: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]] | None = None
    salt: Hash | None = None
    order: dict[Seat, Tray] | None = None
    """The serials in order, if the deal is sealed. Restoring needs them, but no faces."""
    red: bool = False
    """Whether a sealed deal has red fives."""
    sealed: str | None = None
    """The encrypted faces and salt; None if the deal is not sealed."""

    def deal(self) -> Deal:
        """Return the deal with its faces. Raises RuleError `not_a_deal`, `deal_sealed`."""
        if self.faces is None:
            raise RuleError("deal_sealed", N_("deal {deal} is sealed", deal=self.number))
        return Deal(self.number, self.prevalent_wind, self.dealer, self.faces)

    @property
    def has_red(self) -> bool:
        """Whether the deal has red fives."""
        return self.red or any(map(has_red, (self.faces or {}).values()))

    def serials(self, faces_of: Callable[[int], SetFaces]) -> dict[Seat, SerialTray]:
        """Return the serials in order. `faces_of` (set number to faces) is called only if the deal is not sealed.

        Raises RuleError `not_a_deal`, `not_a_set`, `no_red_fives`.
        """
        if self.sealed is not None:
            order = self.order or {}
            if sorted(chain.from_iterable(map(chain.from_iterable, order.values()))) != list(range(1, 137)):
                raise RuleError("not_a_deal", N_("deal {deal}: the tiles are not the 136 of a set", deal=self.number))
            return dict(order)
        return serial_order(self.deal(), faces_of(self.set))


class HandRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The recorded actions of one play. Together with the deal, the referee can replay it."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    actions: tuple[Action, ...]
    unproved: tuple[int, ...] = ()
    """Numbers, from 1, of actions that are only the likeliest reconstruction from the rivers."""


def read_deals(folder: Path) -> tuple[DealRecord, ...]:
    """Read `deals.json` without checking that each deal is complete. Raises BadEvent."""
    return read_file(folder / DEALS, Decoder(tuple[DealRecord, ...]).decode)


def read_registry(folder: Path) -> Registry:
    """Read `sets.json` without checking that each set is complete. Raises BadEvent."""
    return read_file(folder / SETS, Decoder(dict[int, SetFaces | str]).decode)


def write_deals(folder: Path, deals: Iterable[DealRecord]) -> None:
    """Write `deals.json` atomically, readable by its owner only."""
    write_private(folder / DEALS, msgspec.json.encode(tuple(deals)))


def write_registry(folder: Path, registry: Registry) -> None:
    """Write `sets.json` atomically, readable by its owner only."""
    write_private(folder / SETS, msgspec.json.encode(registry))


def read_hands(folder: Path) -> tuple[HandRecord, ...]:
    """Read `hands.json`; empty if there is no such file. Raises BadEvent."""
    path = folder / HANDS
    return read_file(path, Decoder(tuple[HandRecord, ...]).decode) if path.exists() else ()


def write_hands(folder: Path, hands: Iterable[HandRecord]) -> None:
    """Write `hands.json` atomically, readable by its owner only, since the deals follow from it."""
    write_private(folder / HANDS, msgspec.json.encode(tuple(hands)))


class ListedDevice(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A device in `devices.json`, authorised for its table without pairing at the desk."""

    table: TableNo
    key: PublicKey
    machine: MachineName = ""

    @property
    def device(self) -> str:
        """The device's id."""
        return device_of(self.key)


def read_devices(folder: Path) -> tuple[ListedDevice, ...]:
    """Read `devices.json`; empty if there is no such file. Raises BadEvent."""
    path = folder / DEVICES
    return read_file(path, Decoder(tuple[ListedDevice, ...]).decode) if path.exists() else ()


def write_devices(folder: Path, devices: Iterable[ListedDevice]) -> None:
    """Write `devices.json` atomically."""
    write_private(folder / DEVICES, msgspec.json.format(msgspec.json.encode(tuple(devices)), indent=1) + b"\n")


def read_file(path: Path, decode: Callable[[bytes], T]) -> T:
    """Read and decode one file of the folder. Raises BadEvent."""
    try:
        return decode(path.read_bytes())
    except FileNotFoundError:
        missing = RuleError(
            "file_missing",
            N_(
                "{file} is missing from {folder}: complete the set-up, or restore the file from a copy",
                file=path.name,
                folder=path.parent,
            ),
        )
        raise BadEvent.of(missing) from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError covers msgspec and Unicode errors
        wrong = RuleError("malformed", N_("{where}: {problem}", where=path.name, problem=reason(error)))
        raise BadEvent.of(wrong) from None


def read_toml(path: Path, kind: type[T]) -> T:
    """Read one TOML file of the folder. Raises BadEvent."""
    return read_file(path, lambda content: msgspec.toml.decode(content, type=kind))


PROFILE: Final = "profile.toml"

PROFILES: Final = "profiles"
"""Folder of one profile per file: riichi sessions of one event may be played by different rules."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The TOML texts of an event's own profiles: one for its plays, and those of its riichi sessions by id."""

    plays: str | None = None
    sessions: Mapping[str, str] = field(default_factory=dict)

    def of_plays(self, profile_id: str) -> Rules:
        """Return the rules of the plays. An own profile must have the plan's profile id. Raises RuleError."""
        return load_rules(profile_id) if self.plays is None else _checked_profile(self.plays, profile_id, PROFILE)

    def text(self, profile_id: str) -> str | None:
        """Return the text of a session's own profile, possibly that of the plays; None for a built-in profile."""
        if profile_id in self.sessions:
            return self.sessions[profile_id]
        return self.plays if self.plays is not None and parse_own_rules(self.plays).id == profile_id else None

    def of_session(self, profile_id: str) -> RiichiProfile:
        """Return the rules of a riichi session. Raises RuleError `unknown_profile`, `bad_profile`."""
        text = self.text(profile_id)
        rules = (
            _shipped_profile(profile_id)
            if text is None
            else _checked_profile(text, profile_id, f"{PROFILES}/{profile_id}.toml")
        )
        if not isinstance(rules, RiichiProfile):
            raise RuleError(
                "bad_profile", N_("{profile} has no rules for a session of riichi", profile=repr(profile_id))
            )
        return rules


def _shipped_profile(profile_id: str) -> RiichiProfile:
    profile = load_riichi(profile_id)
    if profile.id != profile_id:
        raise RuleError("bad_profile", f'found "{profile_id}"; allowed: "{profile.id}", in full')
    return profile


def _checked_profile(text: str, profile_id: str, file: str) -> Rules:
    profile = parse_own_rules(text)
    if profile.id != profile_id:
        raise RuleError(
            "bad_profile", f'{file}: id: found "{profile.id}"; allowed: "{profile_id}", as the event has it'
        )
    return profile


NO_OWN_RULES: Final = OwnRules()


def read_own_rules(folder: Path, sessions: Iterable[str]) -> OwnRules:
    """Read an event's own profiles. `sessions` are the profile ids of its riichi sessions. Raises BadEvent."""
    texts = {named: _read_profile(folder / PROFILES / f"{named}.toml") for named in {*sessions}}
    return OwnRules(_read_profile(folder / PROFILE), {named: text for named, text in texts.items() if text is not None})


def _read_profile(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadEvent(f"{path.name}: {reason(error)}") from None


class Origin(NamedTuple):
    """A player's country and club; each is empty if unknown."""

    country: str = ""
    club: str = ""


UNKNOWN_ORIGIN: Final = Origin()


class Listing(NamedTuple):
    """A player's details in the list other than the name; each is empty if unknown."""

    origin: Origin = UNKNOWN_ORIGIN
    spelling: str = ""


def spelling(first_name: str, last_name: str) -> str:
    """Return a name as federations list it, first name first; empty if both parts are empty."""
    return f"{first_name} {last_name}".strip()


def read_listings(folder: Path) -> Mapping[PlayerId, Listing]:
    """Read the players' details from `players.csv`; empty if the file is missing or cannot be read."""
    try:
        rows = read_grid((folder / PLAYERS).read_bytes()).rows
        names = columns(next(rows, (1, []))[1])
        listed = [defaultdict(str, zip(names, map(_clean_field, fields), strict=False)) for _, fields in rows]
    except (OSError, ValueError):  # RuleError is a ValueError
        return {}
    found = {cells["id"].removeprefix("'"): _listing(cells) for cells in listed}
    return {player: listing for player, listing in found.items() if listing != Listing()}


def _listing(cells: Mapping[str, str]) -> Listing:
    country = cells["country"] if re.fullmatch(COUNTRY, cells["country"]) else ""
    return Listing(Origin(country, cells["club"]), spelling(cells["first_name"], cells["last_name"]))


def _clean_field(text: str) -> str:
    """Return a field without the apostrophe that guards against formulas; empty if it is too long or unprintable."""
    text = " ".join(without_apostrophes(text.strip()).split())
    return text if text.isprintable() and len(text) <= LONGEST_LINE else ""
