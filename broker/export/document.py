"""An event as one JSON document, with its schema (docs/event-document.json), and its import into a folder."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from broker.errors import RuleError, StoreBroken
from broker.event import (
    EXTRA_COLUMNS,
    PLAYERS,
    PROFILE,
    PROFILES,
    DealRecord,
    Event,
    HandRecord,
    ListedPlayer,
    OwnRules,
    Plan,
    SetFaces,
    as_corrections,
    decode_json,
    players_csv,
    read_json,
    read_players,
    read_registry,
    write_deals,
    write_hands,
    write_plan,
    write_registry,
)
from broker.event.deals import COMMITMENT, DRAWS, WORDS, Opener
from broker.files import PRIVATE_FOLDER, make_folder, new_folder, write_private
from broker.i18n import N_
from broker.protocol import (
    PLAY_DECISIONS,
    DealNo,
    DealPlayed,
    DeviceRecord,
    Hash,
    Imp,
    LogMessage,
    Milliseconds,
    Player,
    PlayerId,
    ProfileId,
    RoundNo,
    Ruling,
    Seat,
    Standing,
    TableNo,
    TeamStanding,
    players_named,
    topics,
)
from broker.rulings import corrects_plan
from broker.scorer import Intake, StoredEvent
from broker.scoring import PlayWithImps, json_imp, team_of_players
from broker.store import Recorded, message_of, open_journal, open_reader

Instead = Literal["void", "adjusted", "withdrawn"] | None

Text = Annotated[str, Meta(max_length=100)]


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """A player's details besides the name, as in `players.csv`; empty: unknown."""

    id: PlayerId
    name: Text
    country: Text = ""
    club: Text = ""
    national: Text = ""
    ema: Text = ""
    first_name: Text = ""
    last_name: Text = ""


class JournalEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One message of the journal, in the order of acceptance."""

    received_at: Annotated[Milliseconds, Meta(description="wall clock of the scorer")]
    message: Annotated[msgspec.Raw, Meta(description="as received; docs/asyncapi.json")]


class ScoredSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """One seat of a play. The player's total for it is `imp - fine + award`."""

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
    """One seat of a play without points. The player's total for it is `award - fine`."""

    player: PlayerId
    fine: int = 0
    award: int = 0


class UnplayedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """A play that is left out of the datum but has something that counts."""

    deal: DealNo
    table: TableNo
    round: RoundNo
    seats: dict[Seat, RuledSeat]
    instead: Annotated[
        Instead, Meta(description="the ruling in place of a result; null: a result is still to come")
    ] = None


class OutsidePlays(RuledSeat, frozen=True, forbid_unknown_fields=True):
    """A player's awards and fines that belong to no play. Their total is `award - fine`."""


class ComparedGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """The plays of a deal that are compared with each other. A datum is an exact fraction, such as "169/5"."""

    deal: DealNo
    form: Hash | None
    datum: dict[Seat, str]
    plays: tuple[TravellerPlay, ...]


class Document(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole event, or the part of it that may be public."""

    format: Literal["homologue-event"] = "homologue-event"
    version: Annotated[Literal[1, 2, 3], Meta(description="2 added `unplayed` and `beside`, 3 `team_standings`")] = 3
    whole: Annotated[bool, Meta(description="nothing is left out: an event's folder can be made from it")]
    final: Annotated[bool, Meta(description="declared by the head arbiter")]
    plan: Plan
    rules: Annotated[str | None, Meta(description="the event's own rule profile, as TOML")] = None
    session_rules: Annotated[dict[ProfileId, str], Meta(description="those of its riichi sessions, by id")] = {}
    people: tuple[Person, ...] = ()
    commitment: Annotated[dict[str, Any] | None, Meta(description="commitment.json")] = None
    draws: Annotated[dict[str, Any] | None, Meta(description="draws.json")] = None
    words: Annotated[str, Meta(description="words.sealed; empty unless `whole`")] = ""
    deals: Annotated[
        tuple[DealRecord, ...],
        Meta(description="faces and salts; empty while they are secret; in a `whole` document sealed as in the folder"),
    ] = ()
    sets: Annotated[
        dict[int, SetFaces | str], Meta(description="which face each serial has, or sealed; empty unless `whole`")
    ] = {}
    hands: Annotated[tuple[HandRecord, ...], Meta(description="the actions of plays that are known step by step")] = ()
    journal: tuple[JournalEntry, ...] = ()
    groups: tuple[ComparedGroup, ...] = ()
    unplayed: Annotated[tuple[UnplayedPlay, ...], Meta(description="by round and table")] = ()
    beside: Annotated[tuple[OutsidePlays, ...], Meta(description="by player")] = ()
    standings: tuple[Standing, ...] = ()
    team_standings: Annotated[tuple[TeamStanding, ...], Meta(description="of the teams in `plan`")] = ()


def document_schema() -> str:
    """Return the JSON Schema (draft 2020-12)."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Document)), indent=1).decode() + "\n"


FEDERATION_COLUMNS: Final = ("national", "ema")
"""Columns of `players.csv` that are for federations, not for all readers of results."""


def event_document(folder: Path, stored: StoredEvent, *, whole: bool = False, embargoed: bool = False) -> Document:
    """Return the document of an event that was loaded from `folder`.

    Unless it is `whole`, it contains no results of deals that a table has still to play (except if `embargoed`), no
    faces before the last result, no numbers of players, and never which serial is on which tile, because sets are used
    again. Raises ScorerError, StoreError; RuleError and ExceptionGroup of RuleErrors if `players.csv` is invalid;
    OSError.
    """
    public = whole or stored.state.over
    deals = [stored.deals[number] for number in sorted(stored.deals)]
    event = stored.state.original if whole else stored.event  # if whole, the journal contains the plan's corrections
    people = as_corrections(_listed(folder), event.corrections)
    return Document(
        whole=whole,
        final=stored.final,
        plan=event.whole_plan if whole else event.plan,
        rules=stored.event.own_rules.plays,
        session_rules=dict(stored.event.own_rules.sessions),
        people=tuple(_person(one, numbers=whole) for one in people),
        commitment=_read_if_present(folder / COMMITMENT),
        draws=_read_if_present(folder / DRAWS),
        words=(folder / WORDS).read_text(encoding="ascii") if whole and (folder / WORDS).exists() else "",
        deals=tuple(deals if whole else map(Opener(folder).deal, deals)) if public else (),
        sets=dict(read_registry(folder)) if whole else {},
        hands=tuple(stored.hands[key] for key in sorted(stored.hands)) if public else (),
        journal=tuple(_journal(folder, stored, whole=whole, embargoed=embargoed)),
        groups=tuple(_groups(stored, everything=whole or embargoed)),
        unplayed=tuple(_unplayed(stored, everything=whole or embargoed)),
        beside=tuple(_outside_plays(stored)),
        standings=tuple(stored.state.snapshot().standings) if public or embargoed else (),
        team_standings=stored.state.team_rows() if public or embargoed else (),
    )


def encode_document(document: Document) -> bytes:
    """Return a document as JSON, one line for each field, so that two documents of an event can be compared."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _listed(folder: Path) -> tuple[ListedPlayer, ...]:
    path = folder / PLAYERS
    return read_players(path) if path.exists() else ()


def _person(one: ListedPlayer, *, numbers: bool) -> Person:
    details = one.details | ({} if numbers else dict.fromkeys(FEDERATION_COLUMNS, ""))
    return Person(one.player.id, one.player.name, **details)


def _read_if_present(path: Path) -> dict[str, Any] | None:
    return read_json(path, dict[str, Any]) if path.exists() else None


def _journal(folder: Path, stored: StoredEvent, *, whole: bool, embargoed: bool) -> Iterator[JournalEntry]:
    """Yield the accepted messages, without those that reveal anything about plays of deals under embargo.

    Unless it is `whole`, corrections of the plan are left out: they contain players' numbers, and are already in the
    plan.
    """
    with closing(open_reader(folder, stored.event.name)) as journal, closing(journal.entries()) as entries:
        for received_at, body in entries:
            message = None if whole else message_of(body)
            if isinstance(message, DeviceRecord):
                continue
            if isinstance(message, Ruling) and corrects_plan(stored.state.book, message.decision):
                continue
            if message is None or embargoed or _is_public(stored, message):
                yield JournalEntry(received_at, msgspec.Raw(body))


def _is_public(stored: StoredEvent, message: LogMessage | Ruling) -> bool:
    """Return whether a message may be public. It reveals the deal that it names and the one that was really played."""
    if isinstance(message, Ruling):
        deal, key = message.deal, (message.table, message.round)
    else:
        deal, key = message.fact.deal, (message.table, message.fact.round)
    deals = set() if deal is None else {deal}
    if key in stored.event.bookings:
        deals.add(stored.state.play(key).deal)
    return not any(map(stored.embargoed, deals)) if deals else stored.state.over


def _groups(stored: StoredEvent, *, everything: bool) -> Iterator[ComparedGroup]:
    for group in stored.state.groups():
        if everything or not stored.embargoed(group.deal):
            datum = {seat: str(mean) for seat, mean in group.datum.items()}
            plays = tuple(_play(one, stored.state.key_of(one.play)) for one in group.plays)
            yield ComparedGroup(group.deal, group.form, datum, plays)


def _play(one: PlayWithImps, key: tuple[int, int]) -> TravellerPlay:
    play, points = one.play, one.play.points or {}
    seats = {
        seat: ScoredSeat(
            player, points[seat], json_imp(one.imp[seat]), play.fines.get(seat, 0), play.awards.get(seat, 0)
        )
        for seat, player in play.players.items()
    }
    return TravellerPlay(*key, seats)


def _unplayed(stored: StoredEvent, *, everything: bool) -> Iterator[UnplayedPlay]:
    for counted, play in stored.counted(embargoed=everything):
        if play.points is None:
            seats = {
                seat: RuledSeat(player, play.fines.get(seat, 0), play.awards.get(seat, 0))
                for seat, player in play.players.items()
            }
            instead = msgspec.convert(stored.instead(counted) or None, Instead)
            yield UnplayedPlay(counted.deal, counted.table, counted.round, seats, instead)


def _outside_plays(stored: StoredEvent) -> Iterator[OutsidePlays]:
    return (OutsidePlays(one.name, one.fine, int(one.imp)) for one in stored.adjustments() if one.imp or one.fine)


LARGEST: Final = 512 * 2**20
"""Bytes; an event of 160,000 plays is about 200 MB."""


def read_document(path: Path) -> Document:
    """Read a document. Raises RuleError `too_large`, `malformed`; OSError."""
    if path.stat().st_size > LARGEST:
        raise RuleError("too_large", N_("{file} has more than {most} bytes", file=path.name, most=LARGEST))
    return decode_json(path.read_bytes(), Document, path.name)


def restore_event(document: Document, folder: Path) -> int:
    """Create an event's folder, or nothing if anything is invalid; return the number of messages in its journal.

    The store gets a new id, so tables that are still running send what they have again. Raises RuleError `not_whole`,
    `folder_taken`; BadEvent, StoreError, OSError.
    """
    if not document.whole:
        raise RuleError("not_whole", "something is left out of this document: `homologue export json --whole` has all")
    if folder.exists() and any(folder.iterdir()):
        raise RuleError("folder_taken", f"{folder} is not empty; an event is imported into a new folder")
    event = Event(document.plan, document.deals, document.sets, OwnRules(document.rules, document.session_rules))
    messages = list(_checked_journal(document, event))
    with new_folder(folder, PRIVATE_FOLDER):
        _write_files(document, folder)
        with closing(open_journal(folder, document.plan.name)) as journal, journal.commit():
            for received_at, message, body in messages:
                journal.append(message, received_at, body)
        # Last, because a folder without a plan is not an event, and neither must be a half-imported one.
        write_plan(folder, document.plan)
    return len(messages)


def _checked_journal(document: Document, event: Event) -> Iterator[tuple[int, Recorded, bytes]]:
    """Yield the journal, each message checked as if newly received. Raises RuleError `journal_refused`."""
    intake = Intake(event, ())
    for at, entry in enumerate(document.journal, 1):
        body = msgspec.json.format(bytes(entry.message), indent=-1)  # as it was signed, unlike the document
        try:
            message = message_of(body)
        except StoreBroken as broken:
            raise RuleError("journal_refused", f"message {at}: {broken}") from None
        if isinstance(message, Ruling):
            _check_ruling(message, event, intake, at)
            intake.rule(message)
        elif not isinstance(message, DeviceRecord):
            verdict = intake.judge(topics.LOG.at(event.name, table=message.table), body)
            if verdict.code or not verdict.new:
                raise RuleError(
                    "journal_refused", f"message {at}: {verdict.code or 'it is there twice'}: {verdict.text}"
                )
            intake.take(message, verdict.hash)
        yield entry.received_at, message, body


def _check_ruling(ruling: Ruling, event: Event, intake: Intake, at: int) -> None:
    """Refuse a ruling on something that is not in this event. Raises RuleError `journal_refused`."""
    play = (ruling.table, ruling.round)
    known_deals = {None, *event.expected, *(play.deal for play in event.later.values())}
    unknown_players = set(players_named(ruling.decision)) - set(event.players)
    if (
        ruling.event != event.name
        or intake.has(ruling.id)
        or unknown_players
        or ruling.deal not in known_deals
        or (play not in event.places and (play != (None, None) or isinstance(ruling.decision, PLAY_DECISIONS)))
        or (isinstance(ruling.decision, DealPlayed) and ruling.decision.played not in known_deals)
    ):
        raise RuleError("journal_refused", f"message {at}: a ruling on what is not of this event, or there twice")


def _write_files(document: Document, folder: Path) -> None:
    write_deals(folder, document.deals)
    write_registry(folder, document.sets)
    if document.hands:
        write_hands(folder, document.hands)
    if document.rules is not None:
        write_private(folder / PROFILE, document.rules.encode())
    for profile_id, text in document.session_rules.items():
        make_folder(folder / PROFILES, PRIVATE_FOLDER)
        write_private(folder / PROFILES / f"{profile_id}.toml", text.encode())
    if document.people:
        write_private(folder / PLAYERS, players_csv(_listed_players(document)).encode())
    if document.words:
        write_private(folder / WORDS, document.words.encode())
    for name, published in ((COMMITMENT, document.commitment), (DRAWS, document.draws)):
        if published is not None:
            write_private(folder / name, msgspec.json.format(msgspec.json.encode(published), indent=2) + b"\n")


def _listed_players(document: Document) -> Iterable[ListedPlayer]:
    team_of = team_of_players(document.plan.teams)
    unranked = {one.id for one in document.plan.players if one.without_standing}
    for person in document.people:
        further = tuple(getattr(person, column) for column in EXTRA_COLUMNS)
        player = Player(id=person.id, name=person.name, without_standing=person.id in unranked)
        yield ListedPlayer(player, further, team_of.get(person.id, ""), person.first_name, person.last_name)


if __name__ == "__main__":
    sys.stdout.write(document_schema())
