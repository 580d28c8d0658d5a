"""The history of rulings: in words, before and after; filtered; as CSV and JSON. Pure functions.

The preview, the history and the form that withdraws a ruling share the same words. The history also contains other acts
of arbiters at the tables.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from heapq import merge
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct
from starlette.requests import Request

from broker.event import Event
from broker.i18n import N_, SEAT_NAMES, Message, search_key
from broker.protocol import (
    SEATS,
    Adjusted,
    AnyDecision,
    AppealDecided,
    Appealed,
    Award,
    AwardGiven,
    CheckedIn,
    Deadline,
    Discarded,
    FineRuled,
    Fouled,
    PlanChanged,
    PlayerCorrected,
    Seat,
    SessionsCorrected,
    Substitute,
    TakenOver,
    TitleCorrected,
    Undo,
    Withdrawn,
    players_named,
)
from broker.rules import infractions_of
from broker.rulings import CountedPlay, RulingBook, RulingEntry, imp_of, is_without_standing
from broker.rulings.preview import Groups, RulingChange, SubjectState
from broker.scorer import EventState, Visit
from broker.spreadsheet import csv_text
from broker.web import labels, render, translator_for
from broker.web.rulings.forms import RIICHI_KINDS

ENDINGS: Final = {kind: ending for ending, kind in RIICHI_KINDS.items()}
DOT: Final = Markup(" · ")
NO_TEXT: Final = Markup()
PART: Final = Markup("<span>{}</span>")
BETWEEN: Final = Markup("<i> · </i>")


class RulingText(NamedTuple):
    """A ruling in words. `was` and `now` differ, or both are empty."""

    what: Markup
    was: Markup
    now: Markup


class RulingWriter:
    """Describes an event's rulings in the reader's language."""

    def __init__(self, request: Request, event: Event) -> None:
        self._, self._players, self._awards = translator_for(request), event.known, event.profile.awards
        self._infractions = infractions_of(event.profile)

    def of(self, change: RulingChange) -> RulingText:
        """Describe a ruling, and its subject before and after."""
        what, before, after = self._what(change), change.before, change.after
        if before is None:
            return RulingText(
                what,
                self._("The table has been reopened since; this result no longer counts."),
                self._play(after.play, ("deal", "outcome")),
            )
        aspects = _aspects(before, after)
        if before == after or (after.play and not aspects):
            beside = isinstance(change.root.decision, Appealed | AppealDecided | FineRuled) or (
                change.root.play is None and isinstance(change.root.decision, Award)
            )
            same = (
                N_("Name, country, club and standing do not change.")
                if isinstance(change.root.decision, PlayerCorrected)
                else N_("This does not change any result.")
            )
            return RulingText(what if beside else DOT.join(filter(None, (what, self._(same)))), NO_TEXT, NO_TEXT)
        return RulingText(what, *(self._state_text(change.root.decision, held, aspects) for held in (before, after)))

    def outcome(self, play: CountedPlay) -> Markup:
        """Describe how a play ended."""
        return self._play(play, ("outcome",))

    def name(self, player: str) -> str:
        """Return a player's name, or the id of somebody who is not in the event."""
        return self._players[player].name if player in self._players else player

    # ---- the decision ------------------------------------------------------------------------

    def _what(self, change: RulingChange) -> Markup:
        if isinstance(change.entry.decision, Undo) and (undone := change.about) is not change.entry:
            kind, what = self._(labels.RULING[undone.kind]), self._decision_text(change.root)
            return DOT.join(part for part in (kind, what, Markup.escape(undone.reason)) if part)
        return self._decision_text(change.entry)

    def _decision_text(self, entry: RulingEntry) -> Markup:
        match decision := entry.decision:
            case Adjusted() | Award():
                return self._list((one, self._award(gift)) for one, gift in decision.gives.items())
            case FineRuled():
                return self._infraction(decision)
            case Substitute():
                player = self.name(decision.player)
                key = (
                    N_("{player} plays again from round {round}")
                    if entry.back
                    else N_("{name} plays for {player} from round {round}")
                )
                return self._(key, player=player, name=decision.name, round=decision.first_round)
            case Withdrawn():
                values = {"player": self.name(decision.player), "round": decision.first_round}
                others = self._imp(imp_of("others", self._awards))
                return self._(
                    "{player} leaves from round {round} and is not replaced: {gift} per play, {others} for each of "
                    "the other three",
                    gift=self._award(decision.fault),
                    others=others,
                    **values,
                )
            case PlayerCorrected():
                return Markup.escape(decision.player)
            case _:
                return self._details(decision)

    def _infraction(self, decision: FineRuled) -> Markup:
        who = self._list((one, self._imp(-fine) if fine else NO_TEXT) for one, fine in decision.takes.items())
        beyond = self._("not in the rules") if decision.exception else NO_TEXT
        return DOT.join(filter(None, (self.infraction(decision.infraction), who, beyond)))

    def infraction(self, infraction: str | None) -> Markup:
        """Return the name of an infraction; empty if none was named."""
        if infraction is None:
            return NO_TEXT
        listed = self._infractions.get(infraction)
        return Markup.escape(listed.name(self._.language) if listed else infraction)

    def _details(self, decision: AnyDecision) -> Markup:
        if isinstance(decision, PlanChanged):
            return self._reseating(decision)
        if isinstance(decision, Appealed):
            return DOT.join(map(self.name, decision.players))
        if isinstance(decision, AppealDecided):
            return DOT.join((self._(labels.VERDICT[decision.verdict]), *decision.committee))
        if not isinstance(decision, TakenOver | Discarded):
            return NO_TEXT
        return self._.ngettext(
            "{count} message of the table", "{count} messages of the table", count=len(decision.facts)
        )

    def _reseating(self, decision: PlanChanged) -> Markup:
        if decision.stage:
            return self._("Qualified for {stage}", stage=decision.stage)
        parts = [self._.ngettext("{count} play reseated", "{count} plays reseated", count=len(decision.plays))]
        if decision.entered:
            parts.append(self._("Enters: {names}", names=DOT.join(one.name for one in decision.entered)))
        if decision.left:
            parts.append(self._("Leaves: {names}", names=DOT.join(map(self.name, decision.left))))
        return DOT.join(parts)

    def _award(self, gift: AwardGiven) -> Markup:
        imp = self._imp(imp_of(gift, self._awards))
        return self._("{imp} ({fault})", fault=self._(labels.FAULT[gift]), imp=imp) if isinstance(gift, str) else imp

    def _imp(self, imp: int) -> Markup:
        return self._("{imp} IMP", imp=render.signed_number(imp))

    def _list(self, lines: Iterable[tuple[str, Markup]]) -> Markup:
        return DOT.join(
            self._("{name} {what}", name=self.name(one), what=what) if what else Markup.escape(self.name(one))
            for one, what in lines
        )

    # ---- before and after --------------------------------------------------------------------

    def _state_text(self, about: AnyDecision, held: SubjectState, aspects: Iterable[str]) -> Markup:
        match about:
            case Substitute() | Withdrawn():
                return self._("{name} plays", name=held.sitting) if held.sitting else self._("Nobody plays")
            case PlayerCorrected():
                *who, guest = held.plan_texts
                standing = self._("without standing") if guest else self._("with standing") if aspects else ""
                return BETWEEN.join(PART.format(text) for text in (*who, standing) if text)
            case TitleCorrected() | SessionsCorrected():
                fields = (self._(text) if isinstance(text, Message) else text for text in held.plan_texts if text)
                return BETWEEN.join(map(PART.format, fields)) or PART.format("–")
            case Fouled():
                return self._groups(held.groups) if held.groups else self._("Compared as restored by the tables")
            case Deadline():
                return (
                    self._("Corrections until {time}", time=render.time_tag(held.until))
                    if held.until
                    else self._("No end of corrections")
                )
            case _:
                return self._play(held.play, aspects)

    def _play(self, play: CountedPlay | None, aspects: Iterable[str]) -> Markup:
        parts = (part for aspect in aspects for part in self._aspect(play, aspect)) if play else ()
        return BETWEEN.join(PART.format(part) for part in parts)  # one line each on a phone

    def _groups(self, groups: Groups) -> Markup:
        lines = Markup(" | ").join(" ".join(map(str, group)) for group in groups)
        return self._("Compared separately: tables {groups}", groups=lines)

    def _aspect(self, play: CountedPlay, aspect: str) -> list[Markup]:
        if aspect == "deal":
            return [self._("Deal {deal}", deal=play.deal)]
        if aspect == "outcome":
            return [self._ending(play), *(self._seat(play, seat) for seat in SEATS)]
        given = play.fines if aspect == "fines" else _total_awards(play)
        listed = self._list((one, self._imp(-imp if aspect == "fines" else imp)) for one, imp in given.items() if imp)
        return [self._(labels.ADJUSTMENTS[aspect if listed else f"no_{aspect}"], list=listed)]

    def _ending(self, play: CountedPlay) -> Markup:
        if play.points is None:
            return self._(N_("Points do not count") if play.settled else N_("Not played yet"))
        if play.hand is None:
            return self._(labels.WIN[str(play.win)])
        if play.hand.kind == "abort" and play.hand.reason:
            return self._("Aborted: {reason}", reason=self._(labels.RIICHI[play.hand.reason]))
        return self._(labels.RIICHI_WIN[ENDINGS[play.hand.kind]])

    def _seat(self, play: CountedPlay, seat: Seat) -> Markup:
        name = self._("{seat}: {name}", seat=self._(SEAT_NAMES[seat]), name=self.name(play.players[seat]))
        if play.points is None:
            return name
        key = (
            N_("{who} {points} (won, {worth})")
            if seat in play.winners
            else N_("{who} {points} (discarded)")
            if seat == play.discarder
            else N_("{who} {points}")
        )
        worth = self._worth(play, seat) if seat in play.winners else ""
        return self._(key, who=name, worth=worth, points=render.signed_number(play.points[seat]))

    def _worth(self, play: CountedPlay, seat: Seat) -> Markup:
        if play.hand is None or seat not in play.hand.wins:
            return self._("HV {value}", value=play.winners[seat])
        win = play.hand.wins[seat]
        if win.yakuman:
            return self._("yakuman × {count}", count=win.yakuman)
        return self._("{han} han {fu} fu", han=win.han, fu=win.fu) if win.fu else self._("{han} han", han=win.han)


def _total_awards(play: CountedPlay) -> dict[str, int]:
    """Return the IMPs that each player got in addition to the points, or instead of them."""
    imps, awards = play.replacement_imps, play.awards
    return {one: imps.get(one, 0) + awards.get(one, 0) for one in {**imps, **awards}}


def _outcome(play: CountedPlay) -> object:
    return play.win, play.winners, play.discarder, play.hand, play.points, play.settled, play.players


def _aspects(before: SubjectState, after: SubjectState) -> list[str]:
    """List what has changed: of a play the deal, outcome, awards or fines; of a player the standing."""
    had, now = before.play, after.play
    if had is None or now is None:
        return ["standing"] * (before.plan_texts[3:] != after.plan_texts[3:])
    changed = {
        "deal": had.deal != now.deal,
        "outcome": _outcome(had) != _outcome(now),
        "awards": _total_awards(had) != _total_awards(now),
        "fines": had.fines != now.fines,
    }
    return [aspect for aspect, is_other in changed.items() if is_other]


HEADER = (
    "id",
    "time",
    "kind",
    "table",
    "round",
    "deal",
    "players",
    "author",
    "role",
    "counts",
    "taken_back_by",
    "reason",
    "decision",
    "standing",
)

NOBODY: Final = "?"
"""Not a player's id."""


class RulingLine(Struct, frozen=True):
    """A ruling, and whether it counts."""

    entry: RulingEntry
    counts: bool
    players: tuple[str, ...]
    about: RulingEntry
    """The ruling that this one withdraws or appeals against, else the ruling itself."""
    place: RulingEntry
    """The ruling that names the play or deal concerned."""
    undone_by: str | None
    standing: str = ""
    """`with` or `without` if it gave a player a standing or took it away, else empty."""


def history_lines(room: EventState) -> list[RulingLine]:
    """Return all rulings, newest first."""
    book, standing = room.book, _standing_changes(room)
    undone_by = {
        entry.decision.ruling: entry.id
        for entry in book.entries.values()
        if isinstance(entry.decision, Undo) and book.counts(entry.id)
    }
    entries = (one for one in reversed(book.entries.values()) if not isinstance(one.decision, CheckedIn))
    return [
        RulingLine(
            entry,
            book.counts(entry.id),
            tuple(players_named(book.root(entry).decision)),
            book.about(entry),
            book.naming_entry(entry),
            undone_by.get(entry.id),
            standing.get(entry.id, ""),
        )
        for entry in entries
    ]


def _standing_changes(room: EventState) -> dict[str, str]:
    """Return the rulings, by id, that gave a player a standing (`with`) or took it away (`without`)."""
    found, so_far = dict[str, str](), RulingBook()
    for entry in room.book.entries.values():
        about = room.book.root(entry).decision
        if isinstance(about, PlayerCorrected):
            before = is_without_standing(room.planned, so_far, about.player)
            so_far.add(entry)
            after = is_without_standing(room.planned, so_far, about.player)
            if before != after:
                found[entry.id] = "without" if after else "with"
    return found


def filter_rulings(listed: Iterable[RulingLine], filters: Mapping[str, str]) -> list[RulingLine]:
    """Return the lines that match all filters: `play` (table-round), `deal`, `kind`, `player`, `author`, `counts`.

    `player` has the ids of all players who match, separated by spaces.
    """
    return [line for line in listed if all(RULING_FILTERS[name](line, value) for name, value in _set_filters(filters))]


def filter_visits(visits: Iterable[Visit], filters: Mapping[str, str]) -> list[Visit]:
    """Return the visits that match all filters. A filter that only applies to rulings matches none."""
    return [one for one in visits if all(VISIT_FILTERS[name](one, value) for name, value in _set_filters(filters))]


def _set_filters(filters: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, filters[name].strip()) for name in RULING_FILTERS if filters.get(name, "").strip()]


RULING_FILTERS: Final[Mapping[str, Callable[[RulingLine, str], bool]]] = {
    "play": lambda line, value: f"{line.place.table}-{line.place.round}" == value,
    "deal": lambda line, value: str(line.place.deal) == value,
    "kind": lambda line, value: line.entry.kind == value,
    "player": lambda line, value: not set(value.split()).isdisjoint(line.players),
    "author": lambda line, value: search_key(value) in search_key(line.entry.author),
    "counts": lambda line, value: line.counts == (value == "yes"),
}

VISIT_FILTERS: Final[Mapping[str, Callable[[Visit, str], bool]]] = {
    "play": lambda one, value: f"{one.table}-{one.fact.round}" == value,
    "deal": lambda one, value: str(one.fact.deal) == value,
    "kind": lambda one, value: one.kind == value,
    "player": lambda _one, _value: False,
    "author": lambda one, value: search_key(value) in search_key(one.author),
    "counts": lambda _one, _value: False,
}

Row = tuple[str | int, ...]

PRIVATE: Final = ("national", "ema")
"""Fields of a player's correction that are for federations and for those who set the event up."""


def _decision_fields(decision: AnyDecision, *, numbers: bool) -> dict[str, Any]:
    """Return a decision as it was stored, without the players' federation numbers unless `numbers` is set."""
    fields: dict[str, Any] = msgspec.to_builtins(decision)
    if isinstance(decision, PlayerCorrected) and not numbers:
        return {name: value for name, value in fields.items() if name not in PRIVATE}
    return fields


def history_csv(listed: Iterable[RulingLine], visits: Iterable[Visit], *, numbers: bool) -> str:
    """Write rulings and visits as CSV, oldest first. Rulings stay in the order in which they were given.

    `numbers` includes the players' federation numbers.
    """
    rulings = ((line.entry.at, _cells(line, numbers=numbers)) for line in reversed(list(listed)))
    others = ((one.at, _visit_cells(one)) for one in visits)
    return csv_text(HEADER, (row for _, row in merge(rulings, others, key=itemgetter(0))))


def _cells(line: RulingLine, *, numbers: bool) -> Row:
    entry = line.entry
    place = tuple("" if part is None else part for part in (entry.table, entry.round, entry.deal))
    decision = msgspec.json.encode(_decision_fields(entry.decision, numbers=numbers)).decode()
    return (
        entry.id,
        _time_text(entry.at),
        entry.kind,
        *place,
        " ".join(line.players),
        entry.author,
        entry.role,
        "yes" if line.counts else "no",
        line.undone_by or "",
        entry.reason,
        decision,
        line.standing,
    )


def _visit_cells(one: Visit) -> Row:
    fact, about = msgspec.json.encode(one.fact).decode(), (one.table, one.fact.round, one.fact.deal)
    return (one.id, _time_text(one.at), one.kind, *about, "", one.author, "", "", "", one.reason, fact, "")


def _time_text(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")


def history_json(listed: Iterable[RulingLine], visits: Iterable[Visit], *, numbers: bool) -> bytes:
    """Write rulings and visits as JSON, oldest first. `numbers` includes the players' federation numbers."""
    rows: list[dict[str, Any]] = [
        msgspec.to_builtins(line.entry)
        | {"decision": _decision_fields(line.entry.decision, numbers=numbers)}
        | {"counts": line.counts, "taken_back_by": line.undone_by}
        | ({"standing": line.standing} if line.standing else {})
        for line in reversed(list(listed))
    ]
    document = {"rulings": rows, "at_tables": [msgspec.to_builtins(one) | {"kind": one.kind} for one in visits]}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
