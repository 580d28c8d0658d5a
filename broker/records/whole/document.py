"""The document itself: its form is docs/event-document.json (JSON Schema), made from here.

A new field is a new version: readers refuse what they do not know. What version 1 does not have is empty in it.
"""

import sys
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from broker.contract.messages import Standing
from broker.contract.words import DealNo, Hash, Imp, Milliseconds, PlayerId, ProfileId, RoundNo, Seat, TableNo
from broker.scorer.event import Plan
from broker.scorer.folder import DealRecord, HandRecord, Registry

FORMAT: Final = "homologue-event"

Instead = Literal["void", "adjusted", "withdrawn"] | None

Text = Annotated[str, Meta(max_length=100)]


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a player beside the name, as in `players.csv`; empty: not said."""

    id: PlayerId
    name: Text
    country: Text = ""
    club: Text = ""
    national: Text = ""
    ema: Text = ""
    first_name: Text = ""
    last_name: Text = ""


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """One message of the journal, in the order of taking."""

    received_at: Annotated[Milliseconds, Meta(description="wall clock of the scorer")]
    message: Annotated[msgspec.Raw, Meta(description="as it was on the wire; docs/asyncapi.json")]


class ScoredSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """One seat of a play. What the player has of it is `imp - fine + award`."""

    player: PlayerId
    points: int
    imp: Imp
    fine: int = 0
    award: int = 0


class TravellerPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """One table's play of a deal."""

    table: TableNo
    round: RoundNo
    seats: dict[Seat, ScoredSeat]


class RuledSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """One seat of a play without points. What the player has of it is `award - fine`."""

    player: PlayerId
    fine: int = 0
    award: int = 0


class UnplayedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """A play that is in no datum, and of which something counts."""

    deal: DealNo
    table: TableNo
    round: RoundNo
    seats: dict[Seat, RuledSeat]
    instead: Annotated[
        Instead, Meta(description="what was ruled in the place of a result; null: one is still to come")
    ] = None


class OfNoPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """What a player was given and fined of no play: `award - fine`."""

    player: PlayerId
    fine: int = 0
    award: int = 0


class ComparedGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """The plays of a deal that are compared with each other; a datum is an exact fraction, such as "169/5"."""

    deal: DealNo
    form: Hash | None
    datum: dict[Seat, str]
    plays: tuple[TravellerPlay, ...]


class Document(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole event, or as much of it as may be known."""

    format: Literal["homologue-event"] = FORMAT
    version: Literal[1, 2] = 2
    whole: Annotated[bool, Meta(description="nothing is left out: an event's folder can be made from it")]
    final: Annotated[bool, Meta(description="no play is missing or counts twice, and the correction period is over")]
    plan: Plan
    rules: Annotated[str | None, Meta(description="the event's own rule profile, as TOML")] = None
    session_rules: Annotated[dict[ProfileId, str], Meta(description="those of its riichi sessions, by id")] = {}
    people: tuple[Person, ...] = ()
    commitment: Annotated[dict[str, Any] | None, Meta(description="commitment.json")] = None
    deals: Annotated[tuple[DealRecord, ...], Meta(description="faces and salts; empty while they are secret")] = ()
    sets: Annotated[Registry, Meta(description="which face each serial has; empty unless `whole`")] = msgspec.field(
        default_factory=dict
    )
    hands: Annotated[tuple[HandRecord, ...], Meta(description="of simulated plays: what was done")] = ()
    journal: tuple[Entry, ...] = ()
    groups: tuple[ComparedGroup, ...] = ()
    unplayed: Annotated[tuple[UnplayedPlay, ...], Meta(description="by round and table")] = ()
    beside: Annotated[tuple[OfNoPlay, ...], Meta(description="by player")] = ()
    standings: tuple[Standing, ...] = ()


def schema() -> str:
    """Give the JSON Schema (draft 2020-12)."""
    found = msgspec.json.schema(Document)
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema())
