"""An event's folder and store as a document. Only read; a scorer may be at work on them."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from broker.contract.messages import LogMessage, Ruling
from broker.organiser.deals.committed import COMMITMENT
from broker.organiser.deals.files import read_json
from broker.organiser.events.listed import FURTHER, Listed, as_corrected, read_players
from broker.records.whole.document import (
    ComparedGroup,
    Document,
    Entry,
    Instead,
    OfNoPlay,
    Person,
    RuledSeat,
    ScoredSeat,
    TravellerPlay,
    UnplayedPlay,
)
from broker.scorer import standings
from broker.scorer.folder import read_registry
from broker.scorer.origins import PLAYERS
from broker.scorer.room import Room
from broker.scorer.rulings.plan import is_of_the_plan
from broker.scorer.stored import Stored
from broker.scoring.compare import Compared, Group
from broker.scoring.written import written
from broker.store.journal import Kept, message_of
from broker.store.opened import open_reader

PRIVATE: Final = ("national", "ema")
"""Columns of `players.csv` that are for federations, and not for everybody who reads results."""


def document(folder: Path, stored: Stored, at: datetime, *, whole: bool = False, embargoed: bool = False) -> Document:
    """Give the document of an event that was read from `folder`.

    Without `whole`: no result of a deal that a table has still to play unless `embargoed`, no faces before the last
    result, no numbers of players, and never which serial is on which tile: a set is played with again. Raises
    ScorerError, StoreError; RuleError and ExceptionGroup of RuleErrors where `players.csv` is not right; OSError.
    `at`, with its time zone, tells whether the standings are final.
    """
    told = whole or stored.room.final
    event = stored.room.planned if whole else stored.event  # whole: the journal has the corrections of the plan
    people = as_corrected(_listed(folder), event.corrections)
    return Document(
        whole=whole,
        final=stored.is_final(at),
        plan=event.plan,
        rules=stored.event.own_rules.plays,
        session_rules=dict(stored.event.own_rules.sessions),
        people=tuple(_person(one, numbers=whole) for one in people),
        commitment=_commitment(folder),
        deals=tuple(stored.deals[number] for number in sorted(stored.deals)) if told else (),
        sets=read_registry(folder) if whole else {},
        hands=tuple(stored.hands[key] for key in sorted(stored.hands)) if told else (),
        journal=tuple(_journal(folder, stored, whole=whole, embargoed=embargoed)),
        groups=tuple(_groups(stored, everything=whole or embargoed)),
        unplayed=tuple(_unplayed(stored, everything=whole or embargoed)),
        beside=tuple(_beside(stored)),
        standings=standings.rows(stored.room.standings(), stored.event.players) if told or embargoed else (),
    )


def encoded(made: Document) -> bytes:
    """Write a document, a line a field: two of one event can be compared."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def _listed(folder: Path) -> tuple[Listed, ...]:
    path = folder / PLAYERS
    return read_players(path) if path.exists() else ()


def _person(one: Listed, *, numbers: bool) -> Person:
    further = dict(zip(FURTHER, one.further, strict=True)) | ({} if numbers else dict.fromkeys(PRIVATE, ""))
    parts = {"first_name": one.first_name, "last_name": one.last_name}
    return Person(one.player.id, one.player.name, **further, **parts)


def _commitment(folder: Path) -> dict[str, Any] | None:
    path = folder / COMMITMENT
    return read_json(path, dict[str, Any]) if path.exists() else None


def _journal(folder: Path, stored: Stored, *, whole: bool, embargoed: bool) -> Iterator[Entry]:
    """Give what was taken; what is said of a deal under embargo tells how its plays went, or that they went on.

    Without `whole` corrections of the plan are left out, which tell players' numbers: the plan has them already.
    """
    with closing(open_reader(folder, stored.event.name)) as journal, closing(journal.entries()) as entries:
        for received_at, body in entries:
            message = None if whole else message_of(body)
            if message is None or (not _of_the_plan(stored, message) and (embargoed or _open(stored, message))):
                yield Entry(received_at, msgspec.Raw(body))


def _of_the_plan(stored: Stored, message: Kept) -> bool:
    return isinstance(message, Ruling) and is_of_the_plan(stored.room.book, message.decision)


def _open(stored: Stored, message: LogMessage | Ruling) -> bool:
    """Say whether everybody may read a message: it tells of the deal that it names, and of the one that was played."""
    if isinstance(message, Ruling):
        deal, key = message.deal, (message.table, message.round)
    else:
        deal, key = message.fact.deal, (message.table, message.fact.round)
    deals = set() if deal is None else {deal}
    if key in stored.event.bookings:
        deals.add(stored.room.play(key).deal)
    return not any(map(stored.embargoed, deals)) if deals else stored.room.final


def _groups(stored: Stored, *, everything: bool) -> Iterator[ComparedGroup]:
    for group in stored.room.groups():
        if everything or not stored.embargoed(group.deal):
            yield _group(group, stored.room)


def _unplayed(stored: Stored, *, everything: bool) -> Iterator[UnplayedPlay]:
    for laid, play in stored.counted(embargoed=everything):
        if play.points is None:
            seats = {
                seat: RuledSeat(player, play.fines.get(seat, 0), play.awards.get(seat, 0))
                for seat, player in play.players.items()
            }
            instead = msgspec.convert(stored.instead(laid) or None, Instead)
            yield UnplayedPlay(laid.deal, laid.table, laid.round, seats, instead)


def _beside(stored: Stored) -> Iterator[OfNoPlay]:
    return (OfNoPlay(one.name, one.fine, int(one.imp)) for one in stored.beside() if one.imp or one.fine)


def _group(group: Group, room: Room) -> ComparedGroup:
    return ComparedGroup(
        deal=group.deal,
        form=group.form,
        datum={seat: str(datum) for seat, datum in group.datum.items()},
        plays=tuple(_play(one, room.key_of(one.play)) for one in group.plays),
    )


def _play(one: Compared, key: tuple[int, int]) -> TravellerPlay:
    play, points = one.play, one.play.points or {}
    return TravellerPlay(
        table=key[0],
        round=key[1],
        seats={
            seat: ScoredSeat(
                player, points[seat], written(one.imp[seat]), play.fines.get(seat, 0), play.awards.get(seat, 0)
            )
            for seat, player in play.players.items()
        },
    )
