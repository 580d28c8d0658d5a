"""Rulings from the desk or a table: drafts, given rulings, the book of all rulings, and plays with rulings applied.

A play counts as the table reported it, with every ruling on it applied in the order in which they were given. Pure.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, convert
from msgspec.structs import replace

from broker.protocol import (
    Adjusted,
    AnyDecision,
    AppealDecided,
    Appealed,
    Award,
    AwardGiven,
    CheckedIn,
    Correct,
    Deadline,
    DealNo,
    DealPlayed,
    DeskRole,
    FinalDeclared,
    Fine,
    FineRuled,
    Fouled,
    LogMessage,
    MessageId,
    Name,
    PlanChanged,
    PlayerCorrected,
    Reason,
    Reopen,
    Result,
    RiichiEvent,
    RiichiWin,
    RoundNo,
    Ruled,
    Ruling,
    Seat,
    SeatsPlayed,
    SessionsCorrected,
    Substitute,
    TableNo,
    TitleCorrected,
    Undo,
    Void,
    WinKind,
    Withdrawn,
    decision_kind,
    decoder,
)
from broker.rules import AwardRules, RiichiProfile, RuleError, Rules, score_riichi
from broker.scoring import NO_RULINGS, TABLE_OFFSET, Adjustment, ScoredPlay

PlayKey = tuple[int, int]
"""Table and round."""

Subject = PlayKey | int | str
"""What a ruling is about: a play, a deal, or a word for the event. Two arbiters cannot rule on one at the same time."""

DEADLINE = "deadline"
FINAL = "the final standings"

WHO_PLAYS = "who_plays"
"""The subject of withdrawals and substitutions: one for the event, since the last ruling on a round applies."""

TITLE = "the title"
SESSIONS = "the sessions"
"""Contains a space, so it cannot be mistaken for an id."""


def appeal_subject(ruling: str) -> Subject:
    """Return the subject of an appeal against a ruling and of the decision on it."""
    return f"appeal {ruling}"


def player_subject(player: str) -> Subject:
    """Return the subject of corrections of a player."""
    return f"player {player}"


class RulingAuthor(Struct, frozen=True):
    """The author of a ruling."""

    name: Name
    account: str
    role: DeskRole


class RulingDraft(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A ruling about to be given. Its id is created with the form, so a draft sent twice is given once."""

    id: MessageId
    after: MessageId | None
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    reason: Reason


decoder(RulingDraft)  # built once here, because several threads of the desk read drafts


class RulingEntry(Struct, frozen=True, kw_only=True):
    """A ruling that was given."""

    id: str
    at: int
    """Wall clock of the desk or the table, ms since 1970 (UTC)."""
    author: str
    account: str
    """Login name; empty for a ruling given at a table."""
    role: DeskRole
    reason: str
    decision: AnyDecision
    number: int
    """The number among the desk's rulings, or that of the table's fact."""
    at_table: bool = False
    table: int | None = None
    round: int | None = None
    deal: int | None = None
    back: bool = False
    """Whether a substitution names the absent player, by their name at the time, so that the player is back."""

    @property
    def kind(self) -> str:
        """The kind of the decision."""
        return decision_kind(self.decision)

    @property
    def play(self) -> PlayKey | None:
        """The play that the ruling names, if any."""
        return (self.table, self.round) if self.table is not None and self.round is not None else None


def entry_of(message: Ruling | LogMessage) -> RulingEntry:
    """Return the ruling in a message. Raises TypeError for a fact that is not a ruling."""
    if isinstance(message, Ruling):
        return convert(message, RulingEntry, from_attributes=True)
    fact = message.fact
    if not isinstance(fact, Ruled):
        raise TypeError(f"not a ruling: {message.id}")
    return RulingEntry(
        id=message.id,
        at=message.at,
        author=fact.author,
        account="",
        role=fact.role,
        reason=fact.reason,
        decision=fact.decision,
        number=message.seq,
        at_table=True,
        table=message.table,
        round=fact.round,
        deal=fact.deal,
    )


def event_subject(decision: AnyDecision) -> Subject | None:
    """Return the subject of a decision on the whole event; None for others and for those without a common subject."""
    match decision:
        case Deadline() | FinalDeclared():
            return DEADLINE if isinstance(decision, Deadline) else FINAL
        case Substitute() | Withdrawn() | PlanChanged():
            return WHO_PLAYS
        case CheckedIn():
            return f"at the door {decision.player}"
        case Appealed() | AppealDecided():
            return appeal_subject(decision.ruling)
        case TitleCorrected() | SessionsCorrected():
            return TITLE if isinstance(decision, TitleCorrected) else SESSIONS
    return player_subject(decision.player) if isinstance(decision, PlayerCorrected) else None


class RulingBook:
    """All rulings, to which more can only be added. A ruling counts unless a ruling that counts has undone it."""

    def __init__(self) -> None:
        self.entries: dict[str, RulingEntry] = {}
        self._about: defaultdict[Subject, list[RulingEntry]] = defaultdict(list)
        self._undone: set[str] = set()
        self._taken_over_by: dict[str, list[str]] = {}
        """Rulings of a table that count only while one of these others does, by which a head arbiter took them over."""
        self._entered: dict[Subject, str] = {}
        """For plays, the id of the result entered since the last ruling there."""

    def copy(self) -> "RulingBook":
        """Return an independent book with the same rulings."""
        new = RulingBook()
        new.entries, new._undone, new._entered = dict(self.entries), set(self._undone), dict(self._entered)
        new._taken_over_by = {id_: list(rulings) for id_, rulings in self._taken_over_by.items()}
        new._about.update({subject: list(entries) for subject, entries in self._about.items()})
        return new

    def with_decision(self, decision: AnyDecision) -> "RulingBook":
        """Return a copy with one more ruling that names no play and has not been given yet."""
        new = self.copy()
        new.add(
            RulingEntry(id="-", at=0, author="-", account="", role="organiser", reason="-", decision=decision, number=1)
        )
        return new

    def add(self, entry: RulingEntry) -> None:
        """Add a ruling. One that counted only through others counts by itself from now on."""
        if entry.id in self.entries:
            self._taken_over_by.pop(entry.id, None)
            return
        undone = entry.decision.ruling if isinstance(entry.decision, Undo) else None
        known = undone in self.entries  # a ruling cannot undo one that is not there yet, so there are no cycles
        self.entries[entry.id] = entry
        subject = self.subject(entry) if known or undone is None else entry.id
        self._about[subject].append(entry)
        self._entered.pop(subject, None)
        if undone is not None and known:
            self._toggle(undone)

    def add_taken(self, entry: RulingEntry, through: str) -> None:
        """Add a table's ruling that was kept apart. It counts as long as the ruling `through` counts."""
        if entry.id not in self.entries:
            self.add(entry)
            self._taken_over_by[entry.id] = []
        if through not in self._taken_over_by.get(entry.id, (through,)):
            self._taken_over_by[entry.id].append(through)

    def record_result(self, play: PlayKey, result: str) -> None:
        """Record that a play's result counts, by its id."""
        if play in self._about:
            self._entered[play] = result

    def _toggle(self, id_: str) -> None:
        """Toggle whether a ruling counts. If it is an undo, toggle the ruling that it undoes as well, and so on."""
        at: str | None = id_
        while at is not None:
            self._undone ^= {at}
            entry = self.entries.get(at)
            at = entry.decision.ruling if entry and isinstance(entry.decision, Undo) else None

    def counts(self, id_: str) -> bool:
        """Return whether a ruling is in force."""
        taken_over_by = self._taken_over_by.get(id_)
        if taken_over_by is not None and not any(map(self.counts, taken_over_by)):
            return False
        return id_ in self.entries and id_ not in self._undone

    def kinds(self, play: "CountedPlay") -> tuple[str, ...]:
        """Return the kinds of the rulings applied to a play."""
        return tuple(self.entries[id_].kind for id_ in play.rulings)

    def root(self, entry: RulingEntry) -> RulingEntry:
        """Return the ruling that an undo, or an undo of an undo, is ultimately about; otherwise the ruling itself."""
        seen = {entry.id}
        while isinstance(entry.decision, Undo) and entry.decision.ruling in self.entries.keys() - seen:
            entry = self.entries[entry.decision.ruling]
            seen.add(entry.id)
        return entry

    def root_decision(self, decision: AnyDecision) -> AnyDecision:
        """Return the decision that a decision not yet given ultimately undoes; otherwise the decision itself."""
        if isinstance(decision, Undo) and decision.ruling in self.entries:
            return self.root(self.entries[decision.ruling]).decision
        return decision

    def about(self, entry: RulingEntry) -> RulingEntry:
        """Return the ruling that is undone or appealed against; otherwise the ruling itself."""
        decision = entry.decision
        return (
            self.entries.get(decision.ruling, entry) if isinstance(decision, Undo | Appealed | AppealDecided) else entry
        )

    def naming_entry(self, entry: RulingEntry) -> RulingEntry:
        """Return the ruling that names the play or deal of an entry, following all undos and appeals."""
        seen = {entry.id}
        while (about := self.about(entry)).id not in seen:
            entry = about
            seen.add(entry.id)
        return entry

    def subject(self, entry: RulingEntry) -> Subject:
        """Return the subject of a ruling."""
        root = self.root(entry)
        if root.play is not None:
            return root.play
        if isinstance(root.decision, Fouled) and root.deal is not None:
            return root.deal
        return event_subject(root.decision) or root.id  # each award or fine of the event stands for itself

    def last(self, subject: Subject) -> RulingEntry | None:
        """Return the last ruling on a subject, whether it counts or not."""
        return self._about[subject][-1] if self._about.get(subject) else None

    def last_message_id(self, subject: Subject) -> str | None:
        """Return the id of the last ruling on a subject, or of the result entered since."""
        last = self.last(subject)
        return self._entered.get(subject, last.id if last else None)

    def of(self, subject: Subject) -> list[RulingEntry]:
        """Return the rulings on a subject that count, oldest first, without undos."""
        about = self._about.get(subject, [])
        return [one for one in about if self.counts(one.id) and not isinstance(one.decision, Undo)]

    def all_of(self, subject: Subject) -> list[RulingEntry]:
        """Return all rulings on a subject, oldest first."""
        return list(self._about.get(subject, []))

    def plays(self) -> Iterator[PlayKey]:
        """Return the plays that have been ruled on."""
        return (subject for subject in self._about if isinstance(subject, tuple))

    def of_the_event(self) -> Iterator[RulingEntry]:
        """Yield the awards and fines that count and belong to no play."""
        for entry in self.entries.values():
            if entry.play is None and isinstance(entry.decision, Award | FineRuled) and self.counts(entry.id):
                yield entry

    @property
    def deadline(self) -> int | None:
        """The end of the correction period (ms since 1970), if it was set."""
        entries = self.of(DEADLINE)
        last = entries[-1].decision if entries else None
        return last.at if isinstance(last, Deadline) else None

    @property
    def declared(self) -> RulingEntry | None:
        """The declaration of final standings that counts, if nothing was ruled at a table since."""
        declarations = self.of(FINAL)
        if not declarations:
            return None
        since = next(one for one in reversed(self.entries.values()) if one.at_table or one.id == declarations[-1].id)
        return None if since.at_table else since


def settled_by_ruling(plays: Mapping[PlayKey, "CountedPlay"], book: RulingBook) -> dict[PlayKey, int]:
    """Return those of the plays that a ruling has settled, in the order of the rulings, with the rulings' times."""
    by_ruling: dict[str | None, list[PlayKey]] = {}
    for key, play in plays.items():
        if play.settled:
            by_ruling.setdefault(play.source, []).append(key)
    entries = book.entries.values() if by_ruling else ()
    return {key: entry.at for entry in entries for key in by_ruling.get(entry.id, ())}


class CountedPlay(Struct, frozen=True, kw_only=True):
    """One play with its rulings. Without `points` it enters no datum: it is still to come, void, or adjusted."""

    table: int
    round: int
    planned: int
    """The deal planned by the movement."""
    deal: int
    """The deal that was or will be played."""
    players: Mapping[Seat, str]
    result: str | None = None
    """The id of the result that the table entered."""
    source: str | None = None
    """The id of what determines the outcome: the result, or a ruling that replaced it."""
    win: WinKind | None = None
    winners: Mapping[Seat, int] = {}
    discarder: Seat | None = None
    hand: RiichiEvent | None = None
    """How a hand of riichi ended."""
    points: Mapping[Seat, int] | None = None
    settled: bool = False
    """Whether nothing more is to come."""
    replacement_imps: Mapping[str, int] = {}
    """IMPs that each player is given instead of points."""
    awards: Mapping[str, int] = {}
    fines: Mapping[str, int] = {}
    outcome_fines: Mapping[str, int] = {}
    """Fines that came with the outcome, from the table or a sheet. They are removed if the play is reopened."""
    form: str | None = None
    section: str | None = None
    """The part of the field in which the play is compared."""
    rulings: tuple[str, ...] = ()
    """Ids of the rulings that count here, oldest first."""

    @property
    def scoring_table(self) -> int:
        """The table number under which scoring knows the play.

        Scoring lets a table play a deal once. A table that played another deal than planned may later meet that deal
        again where it is planned. Both are then plays of this deal, so the one out of place is given a separate number.
        """
        return self.table if self.deal == self.planned else self.table + TABLE_OFFSET * self.round

    @property
    def was_played(self) -> bool:
        """Whether its players know its deal: also if the play no longer counts, but not if it was never played."""
        return self.points is not None or (self.settled and self.result is not None)

    @property
    def absent_recipients(self) -> set[str]:
        """Players who are given or fined something here without sitting here. It counts for them separately."""
        return {*self.replacement_imps, *self.awards, *self.fines} - set(self.players.values())

    def scored(self) -> ScoredPlay | None:
        """Return the play for scoring; None if there is nothing to count yet."""
        awarded = _sums(self.replacement_imps, self.awards)
        if not self.settled and not awarded and not self.fines:
            return None
        return ScoredPlay(
            deal=self.deal,
            table=self.scoring_table,
            players=self.players,
            points=self.points,
            fines=_by_seat(self.fines, self.players),
            awards=_by_seat(awarded, self.players),
            form=self.form,
            section=self.section,
        )


class Points(Protocol):
    """The part of a result that scoring uses."""

    @property
    def deal(self) -> int:
        """The deal that was played."""

    @property
    def players(self) -> Mapping[Seat, str]:
        """The players by seat."""

    @property
    def points(self) -> Mapping[Seat, int]:
        """The points of each seat."""

    @property
    def fines(self) -> Mapping[Seat, Fine]:
        """The fines, by seat."""


def unruled_play(table: int, result: Points, form: str, section: str | None) -> ScoredPlay:
    """Return a play without rulings, as nearly all are: the same as `CountedPlay.scored` would return."""
    fines = {seat: fine.imp for seat, fine in result.fines.items()} if result.fines else NO_RULINGS
    return ScoredPlay(result.deal, table, result.players, result.points, fines, form, section)


def result_of(message: LogMessage) -> Result:
    """Return the result in a message. Raises TypeError if there is none."""
    if not isinstance(message.fact, Result):
        raise TypeError(f"not a result: {message.id}")
    return message.fact


def riichi_win_of(winners: Container[Seat], hand: RiichiEvent | None, seat: Seat) -> RiichiWin | None:
    """Return the value of a winner's riichi hand; None for other seats, and at MCR tables."""
    return hand.wins.get(seat) if hand is not None and seat in winners else None


def apply_rulings(
    planned: CountedPlay, result: LogMessage | None, entries: Iterable[RulingEntry], awards: AwardRules
) -> CountedPlay:
    """Apply rulings to a play. `planned` is the play as planned, `awards` the profile's IMPs by fault."""
    play = _with_result(planned, result)
    for entry in entries:
        play = _apply_one(play, entry, result, awards)
    return play


def with_points_of_deal(play: CountedPlay, dealer: Seat, rules: Rules) -> CountedPlay:
    """Recompute the points of a riichi hand with the dealer of the deal that counts.

    An arbiter may rule after the result which deal was played, and undo that. The dealer pays and receives more.
    """
    if play.hand is None or play.points is None or not isinstance(rules, RiichiProfile):
        return play
    try:
        return replace(play, points=score_riichi(play.hand, dealer, rules)[1])
    except RuleError:  # under rules other than it was played by ("what if"), keep the points as they were paid
        return play


def _with_result(planned: CountedPlay, message: LogMessage | None) -> CountedPlay:
    if message is None or not isinstance(message.fact, Result):
        return planned
    result = message.fact
    fines = {result.players[seat]: fine.imp for seat, fine in result.fines.items()}
    return replace(
        planned,
        players=result.players,
        deal=result.deal,
        result=message.id,
        source=message.id,
        win=result.win,
        winners=result.winners,
        discarder=result.discarder,
        hand=result.hand,
        points=result.points,
        settled=True,
        fines=fines,
        outcome_fines=fines,
    )


def _apply_one(play: CountedPlay, entry: RulingEntry, result: LogMessage | None, awards: AwardRules) -> CountedPlay:
    decision = entry.decision
    match decision:
        case Correct():
            play = _corrected(play, entry, decision)
        case Void() | Adjusted():
            given = decision.gives if isinstance(decision, Adjusted) else {}
            replacement = {one: imp_of(gift, awards) for one, gift in given.items()}
            play = replace(play, source=entry.id, points=None, settled=True, replacement_imps=replacement)
        case Reopen():
            play = _reopened(play, entry, result)
        case Award():
            gifts = {one: imp_of(gift, awards) for one, gift in decision.gives.items()}
            play = replace(play, awards=_sums(play.awards, gifts))
        case FineRuled():
            play = replace(play, fines=_sums(play.fines, {one: imp for one, imp in decision.takes.items() if imp}))
        case SeatsPlayed():
            play = seated(play, decision.players)
        case DealPlayed() if decision.result == play.result:
            # Otherwise the table has played since, and its new result names its deal.
            play = replace(play, deal=decision.played)
    return replace(play, rulings=(*play.rulings, entry.id))


def seated(play: CountedPlay, players: Mapping[Seat, str]) -> CountedPlay:
    """Replace the players of a play. Points stay with the seats, and so do the fines that came with them."""
    replacement_of = {player: players[seat] for seat, player in play.players.items()}
    removed = {player: -imp for player, imp in play.outcome_fines.items()}
    outcome_fines = {replacement_of.get(player, player): imp for player, imp in play.outcome_fines.items()}
    fines = _sums(_sums(play.fines, removed), outcome_fines)
    nonzero = {player: imp for player, imp in fines.items() if imp}
    return replace(play, players=players, fines=nonzero, outcome_fines=outcome_fines)


def _corrected(play: CountedPlay, entry: RulingEntry, new: Correct) -> CountedPlay:
    outcome = replace(play, win=new.win, winners=new.winners, discarder=new.discarder, hand=new.hand, points=new.points)
    if not play.settled:  # otherwise the table's result, or an earlier sheet, has already set the fines
        outcome = replace(outcome, fines=_sums(play.fines, new.fines), outcome_fines=new.fines)
    return replace(outcome, source=entry.id, settled=True, replacement_imps={})


def _reopened(play: CountedPlay, entry: RulingEntry, result: LogMessage | None) -> CountedPlay:
    """Discard the outcome; a result that the table entered after the reopening stays."""
    fines = _sums(play.fines, {player: -imp for player, imp in play.outcome_fines.items()})
    other_fines = {one: imp for one, imp in fines.items() if imp}
    if result is not None and entry.at_table and result.seq > entry.number:
        replayed = _with_result(play, result)
        return replace(replayed, replacement_imps={}, fines=_sums(other_fines, replayed.outcome_fines))
    outcome = replace(play, win=None, winners={}, discarder=None, hand=None, points=None, source=None, outcome_fines={})
    return replace(outcome, settled=False, replacement_imps={}, fines=other_fines)


def imp_of(gift: AwardGiven, awards: AwardRules) -> int:
    """Return the IMPs of an award: as given, or the profile's for that fault."""
    if isinstance(gift, int):
        return gift
    return {"nobody": awards.nobody, "others": awards.others, "own": awards.own}[gift].value


def form_of(table: int, restored: str | None, entries: Sequence[RulingEntry]) -> str | None:
    """Return the form in which a table's play of a deal is compared, by the last ruling naming the table."""
    for entry in reversed(entries):
        if isinstance(entry.decision, Fouled):
            for number, group in enumerate(entry.decision.groups):
                if table in group:
                    return hashlib.sha256(f"{entry.id} {number}".encode()).hexdigest()
    return restored


def adjustments(
    entries: Iterable[RulingEntry], awards: AwardRules, stage_of: Callable[[RulingEntry], int] = lambda _: 0
) -> list[Adjustment]:
    """Return the IMPs that belong to no play."""
    found = []
    for entry in entries:
        stage = stage_of(entry)
        if isinstance(entry.decision, Award):
            found += [Adjustment(one, imp_of(gift, awards), 0, stage) for one, gift in entry.decision.gives.items()]
        elif isinstance(entry.decision, FineRuled):
            found += [Adjustment(one, 0, imp, stage) for one, imp in entry.decision.takes.items() if imp]
    return found


def imps_of_absent(plays: Iterable[CountedPlay], stages: Mapping[int, int]) -> list[Adjustment]:
    """Return what plays give to and take from players who do not sit there. `stages`: by deal.

    A player named in a ruling may no longer be seated, because the play was reopened and has a new result, or because a
    table began it by an older plan. `validate.py` refuses rulings by which somebody would leave such a seat.
    """
    found = []
    for play in sorted(plays, key=lambda one: (one.table, one.round)):
        for one in sorted(play.absent_recipients):
            given = play.replacement_imps.get(one, 0) + play.awards.get(one, 0)
            found.append(Adjustment(one, given, play.fines.get(one, 0), stages.get(play.deal, 0)))
    return found


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _by_seat(imps: Mapping[str, int], players: Mapping[Seat, str]) -> dict[Seat, int]:
    return {seat: imps[player] for seat, player in players.items() if player in imps}
