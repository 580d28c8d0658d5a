"""The files of an event's folder beside its plan.

`deals.json`, `sets.json` and `hands.json` are secret. `profile.toml` and `profiles/ID.toml` hold rule profiles of the
event's own. `players.csv` says where players come from; nothing is computed from it, so what cannot be read of it is
left out (`homologue event check` names what is wrong).
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
"""In the folder of a hall among others: where the centre is (`broker/event/halls.py`)."""

T = TypeVar("T")


SetFaces = dict[int, str]
"""Serial to face."""

Registry = Mapping[int, SetFaces | str]
"""`sets.json`: by the set's number what is on its tiles, or what that is sealed in."""


class DealRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One deal in `deals.json`: the set that lies in its carrier, its faces, and the salt of its commitment.

    Faces and salt of a sealed one can be read with the event's key alone (`broker.event.deals.sealing`).
    """

    number: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]] | None = None
    salt: Hash | None = None
    order: dict[Seat, Tray] | None = None
    """Of a sealed deal: the serials as they lie. Restoring needs no faces."""
    red: bool = False
    """Of a sealed deal: whether it has red fives."""
    sealed: str | None = None

    def deal(self) -> Deal:
        """Return the deal itself. Raises RuleError `not_a_deal`, `deal_sealed`."""
        if self.faces is None:
            raise RuleError("deal_sealed", N_("deal {deal} is sealed", deal=self.number))
        return Deal(self.number, self.prevalent_wind, self.dealer, self.faces)

    @property
    def has_red(self) -> bool:
        """Whether red fives are in it."""
        return self.red or any(map(has_red, (self.faces or {}).values()))

    def serials(self, faces_of: Callable[[int], SetFaces]) -> dict[Seat, SerialTray]:
        """Return the serials as they lie; `faces_of` a set is asked unless the deal is sealed.

        Raises RuleError `not_a_deal`, `not_a_set`, `no_red_fives`.
        """
        if self.sealed is not None:
            order = self.order or {}
            if sorted(chain.from_iterable(map(chain.from_iterable, order.values()))) != list(range(1, 137)):
                raise RuleError("not_a_deal", N_("deal {deal}: the tiles are not the 136 of a set", deal=self.number))
            return dict(order)
        return serial_order(self.deal(), faces_of(self.set))


class HandRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was done in one play; with its deal, all that the referee needs to see it again."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    actions: tuple[Action, ...]
    unproved: tuple[int, ...] = ()
    """Numbers, from 1, of actions that are only the likeliest: the play was found from its rivers."""


def read_deals(folder: Path) -> tuple[DealRecord, ...]:
    """Read `deals.json`, as it is written: whether each deal is whole is not asked. Raises BadEvent."""
    return read_file(folder / DEALS, Decoder(tuple[DealRecord, ...]).decode)


def read_registry(folder: Path) -> Registry:
    """Read `sets.json`, as it is written: whether each set is whole is not asked. Raises BadEvent."""
    return read_file(folder / SETS, Decoder(dict[int, SetFaces | str]).decode)


def write_deals(folder: Path, deals: Iterable[DealRecord]) -> None:
    """Write `deals.json` in one step, for its owner alone."""
    write_private(folder / DEALS, msgspec.json.encode(tuple(deals)))


def write_registry(folder: Path, registry: Registry) -> None:
    """Write `sets.json` in one step, for its owner alone."""
    write_private(folder / SETS, msgspec.json.encode(registry))


def read_hands(folder: Path) -> tuple[HandRecord, ...]:
    """Read `hands.json`; nothing if there is none. Raises BadEvent."""
    path = folder / HANDS
    return read_file(path, Decoder(tuple[HandRecord, ...]).decode) if path.exists() else ()


def write_hands(folder: Path, hands: Iterable[HandRecord]) -> None:
    """Write `hands.json` in one step, for its owner alone: whoever has it knows the deals."""
    write_private(folder / HANDS, msgspec.json.encode(tuple(hands)))


class ListedDevice(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A device in `devices.json`: it may speak for its table without having been paired at the desk."""

    table: TableNo
    key: PublicKey
    machine: MachineName = ""

    @property
    def device(self) -> str:
        """The device's id."""
        return device_of(self.key)


def read_devices(folder: Path) -> tuple[ListedDevice, ...]:
    """Read `devices.json`; nothing if there is none. Raises BadEvent."""
    path = folder / DEVICES
    return read_file(path, Decoder(tuple[ListedDevice, ...]).decode) if path.exists() else ()


def write_devices(folder: Path, devices: Iterable[ListedDevice]) -> None:
    """Write `devices.json` in one step."""
    write_private(folder / DEVICES, msgspec.json.format(msgspec.json.encode(tuple(devices)), indent=1) + b"\n")


def read_file(path: Path, decode: Callable[[bytes], T]) -> T:
    """Read one file of the folder. Raises BadEvent."""
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
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of msgspec and of Unicode
        wrong = RuleError("malformed", N_("{where}: {problem}", where=path.name, problem=reason(error)))
        raise BadEvent.of(wrong) from None


def read_toml(path: Path, kind: type[T]) -> T:
    """Read one file of the folder that is TOML. Raises BadEvent."""
    return read_file(path, lambda content: msgspec.toml.decode(content, type=kind))


PROFILE: Final = "profile.toml"

PROFILES: Final = "profiles"
"""A folder: a session may be played by other rules than the one beside it."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The texts of an event's own profiles: that of its plays, and by their ids those of its sessions."""

    plays: str | None = None
    sessions: Mapping[str, str] = field(default_factory=dict)

    def of_plays(self, profile_id: str) -> Rules:
        """Return the rules of the plays; an own profile's id must be the plan's. Raises RuleError."""
        return load_rules(profile_id) if self.plays is None else _checked_profile(self.plays, profile_id, PROFILE)

    def text(self, profile_id: str) -> str | None:
        """Return a session's own profile, which may be that of the plays too; None for one that ships."""
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
    """Read an event's own profiles; `sessions`: the ids that its sessions name. Raises BadEvent."""
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
    """Of one player; empty: not said."""

    country: str = ""
    club: str = ""


UNKNOWN_ORIGIN: Final = Origin()


class Listing(NamedTuple):
    """What the list has of one player beside the name; empty: not said."""

    origin: Origin = UNKNOWN_ORIGIN
    spelling: str = ""


def spelling(first_name: str, last_name: str) -> str:
    """Return a name as federations list it, first name first; empty: not said."""
    return f"{first_name} {last_name}".strip()


def read_listings(folder: Path) -> Mapping[PlayerId, Listing]:
    """Read the list of players; nobody's if there is none, or it cannot be read."""
    try:
        rows = read_grid((folder / PLAYERS).read_bytes()).rows
        names = columns(next(rows, (1, []))[1])
        listed = [defaultdict(str, zip(names, map(_clean_field, fields), strict=False)) for _, fields in rows]
    except (OSError, ValueError):  # a RuleError too
        return {}
    found = {cells["id"].removeprefix("'"): _listing(cells) for cells in listed}
    return {player: one for player, one in found.items() if one != Listing()}


def _listing(cells: Mapping[str, str]) -> Listing:
    country = cells["country"] if re.fullmatch(COUNTRY, cells["country"]) else ""
    return Listing(Origin(country, cells["club"]), spelling(cells["first_name"], cells["last_name"]))


def _clean_field(text: str) -> str:
    """A field without the apostrophe that keeps spreadsheets from reckoning; nothing if no screen shows it."""
    text = " ".join(without_apostrophes(text.strip()).split())
    return text if text.isprintable() and len(text) <= LONGEST_LINE else ""
