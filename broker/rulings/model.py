"""Rulings, from the desk or a table: the draft of one, one that was given, the book of all, and a play as it counts.

A play counts as the table reported it, with every ruling applied to it, in the order in which they were given. Pure.
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
from broker.scoring import APART, NOTHING, Adjustment, ScoredPlay

PlayKey = tuple[int, int]
"""Table and round."""

Subject = PlayKey | int | str
"""What rulings are about, and what two arbiters may not rule on at once: a play, a deal, or a word for the event."""

DEADLINE = "deadline"
FINAL = "the final standings"

WHO_PLAYS = "who_plays"
"""Who is gone, and who sits there instead: of the event, since what is ruled last of a round holds."""

TITLE = "the title"
SESSIONS = "the sessions"
"""With a space, as no id has one."""


def appeal_subject(ruling: str) -> Subject:
    """Return what an appeal against a ruling, and the decision on it, are about."""
    return f"appeal {ruling}"


def player_subject(player: str) -> Subject:
    """Return what corrections of a player are about."""
    return f"player {player}"


class RulingAuthor(Struct, frozen=True):
    """Who rules."""

    name: Name
    account: str
    role: DeskRole


class RulingDraft(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A ruling that somebody is about to give. Its id is made with the form: sent twice it is given once."""

    id: MessageId
    after: MessageId | None
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    reason: Reason


decoder(RulingDraft)  # several threads of the desk read them


class RulingEntry(Struct, frozen=True, kw_only=True):
    """One ruling that was given."""

    id: str
    at: int
    """Wall clock of the desk or the table, ms since 1970 (UTC)."""
    author: str
    account: str
    """Login name; empty for one given at a table."""
    role: DeskRole
    reason: str
    decision: AnyDecision
    number: int
    """Of the desk's rulings, or the table's fact."""
    at_table: bool = False
    table: int | None = None
    round: int | None = None
    deal: int | None = None
    back: bool = False
    """Whether it names who is gone by their own name, as it was when it was taken: the player sits there again."""

    @property
    def kind(self) -> str:
        """The word for what was decided."""
        return decision_kind(self.decision)

    @property
    def play(self) -> PlayKey | None:
        """The play that it is about, if it is about one."""
        return (self.table, self.round) if self.table is not None and self.round is not None else None


def entry_of(message: Ruling | LogMessage) -> RulingEntry:
    """Return the ruling in a message. Raises TypeError for a fact that is none."""
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
    """Return what a decision of the event as a whole is about; None if it is none, or stands for itself."""
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
    """Grows only. A ruling counts unless a ruling that counts has taken it back."""

    def __init__(self) -> None:
        self.entries: dict[str, RulingEntry] = {}
        self._about: defaultdict[Subject, list[RulingEntry]] = defaultdict(list)
        self._undone: set[str] = set()
        self._through: dict[str, list[str]] = {}
        """Rulings at a table that count only through others, by which the head arbiter has taken them over."""
        self._entered: dict[Subject, str] = {}
        """Of plays the id of a result that was entered since something was ruled there last."""

    def copy(self) -> "RulingBook":
        """Return another that begins with the same rulings."""
        new = RulingBook()
        new.entries, new._undone, new._entered = dict(self.entries), set(self._undone), dict(self._entered)
        new._through = {id_: list(rulings) for id_, rulings in self._through.items()}
        new._about.update({subject: list(entries) for subject, entries in self._about.items()})
        return new

    def with_decision(self, decision: AnyDecision) -> "RulingBook":
        """Return another with one more ruling that is of no play by itself, and that nobody has given yet."""
        new = self.copy()
        new.add(
            RulingEntry(id="-", at=0, author="-", account="", role="organiser", reason="-", decision=decision, number=1)
        )
        return new

    def add(self, entry: RulingEntry) -> None:
        """Take one ruling in; one that is there already counts by itself from now on."""
        if entry.id in self.entries:
            self._through.pop(entry.id, None)
            return
        undone = entry.decision.ruling if isinstance(entry.decision, Undo) else None
        known = undone in self.entries  # what is not there before cannot be taken back: there are no circles
        self.entries[entry.id] = entry
        subject = self.subject(entry) if known or undone is None else entry.id
        self._about[subject].append(entry)
        self._entered.pop(subject, None)
        if undone is not None and known:
            self._turn(undone)

    def add_taken(self, entry: RulingEntry, through: str) -> None:
        """Take in a ruling of a table that was kept apart: it counts as long as the ruling `through` counts."""
        if entry.id not in self.entries:
            self.add(entry)
            self._through[entry.id] = []
        if through not in self._through.get(entry.id, (through,)):
            self._through[entry.id].append(through)

    def enter(self, play: PlayKey, result: str) -> None:
        """Take in that a result of a play counts, by its id."""
        if play in self._about:
            self._entered[play] = result

    def _turn(self, id_: str) -> None:
        """Let a ruling count no longer, or again; what it took back itself turns the other way, and so on down."""
        at: str | None = id_
        while at is not None:
            self._undone ^= {at}
            taken = self.entries.get(at)
            at = taken.decision.ruling if taken and isinstance(taken.decision, Undo) else None

    def counts(self, id_: str) -> bool:
        """Return whether a ruling is in force."""
        through = self._through.get(id_)
        if through is not None and not any(map(self.counts, through)):
            return False
        return id_ in self.entries and id_ not in self._undone

    def kinds(self, play: "CountedPlay") -> tuple[str, ...]:
        """Return the kinds of the rulings that a play counts under."""
        return tuple(self.entries[id_].kind for id_ in play.rulings)

    def root(self, entry: RulingEntry) -> RulingEntry:
        """Return what an undo, or an undo of an undo, is about in the end; else the ruling itself."""
        seen = {entry.id}
        while isinstance(entry.decision, Undo) and entry.decision.ruling in self.entries.keys() - seen:
            entry = self.entries[entry.decision.ruling]
            seen.add(entry.id)
        return entry

    def root_decision(self, decision: AnyDecision) -> AnyDecision:
        """Return the decision that one which may not be given yet takes back in the end; else that one itself."""
        if isinstance(decision, Undo) and decision.ruling in self.entries:
            return self.root(self.entries[decision.ruling]).decision
        return decision

    def about(self, entry: RulingEntry) -> RulingEntry:
        """Return the ruling that is taken back or appealed against; else the ruling itself."""
        said = entry.decision
        return self.entries.get(said.ruling, entry) if isinstance(said, Undo | Appealed | AppealDecided) else entry

    def placed(self, entry: RulingEntry) -> RulingEntry:
        """Return the ruling that says of which play or deal an entry is, however often it was undone or appealed."""
        seen = {entry.id}
        while (about := self.about(entry)).id not in seen:
            entry = about
            seen.add(entry.id)
        return entry

    def subject(self, entry: RulingEntry) -> Subject:
        """Return what a ruling is about."""
        root = self.root(entry)
        if root.play is not None:
            return root.play
        if isinstance(root.decision, Fouled) and root.deal is not None:
            return root.deal
        return event_subject(root.decision) or root.id  # IMPs of the event: each stands for itself

    def last(self, subject: Subject) -> RulingEntry | None:
        """Return the last ruling on something, whether it counts or not."""
        return self._about[subject][-1] if self._about.get(subject) else None

    def last_word(self, subject: Subject) -> str | None:
        """Return the id of the last ruling on something, or of the result that was entered since."""
        last = self.last(subject)
        return self._entered.get(subject, last.id if last else None)

    def of(self, subject: Subject) -> list[RulingEntry]:
        """Return the rulings on something that count, oldest first; an undo is not among them."""
        about = self._about.get(subject, [])
        return [one for one in about if self.counts(one.id) and not isinstance(one.decision, Undo)]

    def all_of(self, subject: Subject) -> list[RulingEntry]:
        """Return everything that was ruled on something, oldest first."""
        return list(self._about.get(subject, []))

    def plays(self) -> Iterator[PlayKey]:
        """Return the plays that something was ruled on."""
        return (subject for subject in self._about if isinstance(subject, tuple))

    def of_the_event(self) -> Iterator[RulingEntry]:
        """Return the awards and fines that count and belong to no play."""
        for entry in self.entries.values():
            if entry.play is None and isinstance(entry.decision, Award | FineRuled) and self.counts(entry.id):
                yield entry

    @property
    def deadline(self) -> int | None:
        """When the correction period ends (ms since 1970), if it was set."""
        entries = self.of(DEADLINE)
        last = entries[-1].decision if entries else None
        return last.at if isinstance(last, Deadline) else None

    @property
    def declared(self) -> RulingEntry | None:
        """The declaration that the standings are final, if there is one that counts."""
        said = self.of(FINAL)
        if not said:
            return None
        since = next(one for one in reversed(self.entries.values()) if one.at_table or one.id == said[-1].id)
        return None if since.at_table else since


def settled_by_ruling(plays: Mapping[PlayKey, "CountedPlay"], book: RulingBook) -> dict[PlayKey, int]:
    """Return which of the plays without a result a ruling has settled, in the order of rulings, with its time."""
    by_ruling: dict[str | None, list[PlayKey]] = {}
    for key, play in plays.items():
        if play.settled:
            by_ruling.setdefault(play.source, []).append(key)
    entries = book.entries.values() if by_ruling else ()
    return {key: entry.at for entry in entries for key in by_ruling.get(entry.id, ())}


class CountedPlay(Struct, frozen=True, kw_only=True):
    """One play with its rulings. Without `points` it is in no datum: still to come, void, or adjusted."""

    table: int
    round: int
    planned: int
    """The deal that the movement has here."""
    deal: int
    """The deal that was played, or is to be."""
    players: Mapping[Seat, str]
    result: str | None = None
    """Id of the result that the table entered."""
    source: str | None = None
    """Id of what its outcome comes from: the result, or a ruling in its place."""
    win: WinKind | None = None
    winners: Mapping[Seat, int] = {}
    discarder: Seat | None = None
    hand: RiichiEvent | None = None
    """How a hand of riichi ended."""
    points: Mapping[Seat, int] | None = None
    settled: bool = False
    """Whether there is nothing more to come."""
    instead: Mapping[str, int] = {}
    """What each player is given in place of points."""
    awards: Mapping[str, int] = {}
    fines: Mapping[str, int] = {}
    confirmed: Mapping[str, int] = {}
    """Those of the fines that came with the outcome, from the table or a sheet: reopened, it takes them along."""
    form: str | None = None
    section: str | None = None
    """The part of the field in which it is compared."""
    rulings: tuple[str, ...] = ()
    """Ids of the rulings that count here, oldest first."""

    @property
    def line(self) -> int:
        """The number under which scoring knows the play.

        Scoring lets a table play a deal once. A table that played another deal than it was planned to may meet that
        deal again where it is planned; then both are plays of this deal, so the one out of place has a number apart.
        """
        return self.table if self.deal == self.planned else self.table + APART * self.round

    @property
    def was_played(self) -> bool:
        """Whether its players know its deal: they do where the play counts no longer, not where it never was."""
        return self.points is not None or (self.settled and self.result is not None)

    @property
    def left_out(self) -> set[str]:
        """Who is given or fined something here without sitting here: it counts for them beside the play."""
        return {*self.instead, *self.awards, *self.fines} - set(self.players.values())

    def scored(self) -> ScoredPlay | None:
        """Return the play as scoring takes it; None if nothing is to be counted yet."""
        awarded = _sums(self.instead, self.awards)
        if not self.settled and not awarded and not self.fines:
            return None
        return ScoredPlay(
            deal=self.deal,
            table=self.line,
            players=self.players,
            points=self.points,
            fines=_by_seat(self.fines, self.players),
            awards=_by_seat(awarded, self.players),
            form=self.form,
            section=self.section,
        )


class Points(Protocol):
    """What scoring takes from a result."""

    @property
    def deal(self) -> int:
        """Which was played."""

    @property
    def players(self) -> Mapping[Seat, str]:
        """Who played."""

    @property
    def points(self) -> Mapping[Seat, int]:
        """Of each."""

    @property
    def fines(self) -> Mapping[Seat, Fine]:
        """Of some."""


def unruled_play(table: int, result: Points, form: str, section: str | None) -> ScoredPlay:
    """Return a play that nobody has ruled on, as nearly all are: what `CountedPlay.scored` would say of it."""
    fines = {seat: fine.imp for seat, fine in result.fines.items()} if result.fines else NOTHING
    return ScoredPlay(result.deal, table, result.players, result.points, fines, form, section)


def result_of(message: LogMessage) -> Result:
    """Return the result in a message. Raises TypeError if it is none."""
    if not isinstance(message.fact, Result):
        raise TypeError(f"not a result: {message.id}")
    return message.fact


def riichi_win_of(winners: Container[Seat], hand: RiichiEvent | None, seat: Seat) -> RiichiWin | None:
    """Return what a winner's hand of riichi is worth; None for anybody else, and at other tables."""
    return hand.wins.get(seat) if hand is not None and seat in winners else None


def apply_rulings(
    begun: CountedPlay, result: LogMessage | None, entries: Iterable[RulingEntry], awards: AwardRules
) -> CountedPlay:
    """Lay rulings over a play. `begun` is as it was planned, `awards` what the profile gives by fault."""
    play = _with_result(begun, result)
    for entry in entries:
        play = _apply_one(play, entry, result, awards)
    return play


def with_points_of_deal(play: CountedPlay, dealer: Seat, rules: Rules) -> CountedPlay:
    """Return a hand of riichi the points that it pays with the dealer of the deal that counts.

    Which deal was played may be ruled after its result, and taken back; whoever deals pays and gets more.
    """
    if play.hand is None or play.points is None or not isinstance(rules, RiichiProfile):
        return play
    try:
        return replace(play, points=score_riichi(play.hand, dealer, rules)[1])
    except RuleError:  # other rules than it was played by, to see what if: it pays what it paid
        return play


def _with_result(begun: CountedPlay, message: LogMessage | None) -> CountedPlay:
    if message is None or not isinstance(message.fact, Result):
        return begun
    result = message.fact
    fines = {result.players[seat]: fine.imp for seat, fine in result.fines.items()}
    return replace(
        begun,
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
        confirmed=fines,
    )


def _apply_one(play: CountedPlay, entry: RulingEntry, result: LogMessage | None, awards: AwardRules) -> CountedPlay:
    decision = entry.decision
    match decision:
        case Correct():
            play = _corrected(play, entry, decision)
        case Void() | Adjusted():
            given = decision.gives if isinstance(decision, Adjusted) else {}
            instead = {one: imp_of(gift, awards) for one, gift in given.items()}
            play = replace(play, source=entry.id, points=None, settled=True, instead=instead)
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
            # Else the table has played since, and its new result says which deal it was.
            play = replace(play, deal=decision.played)
    return replace(play, rulings=(*play.rulings, entry.id))


def seated(play: CountedPlay, players: Mapping[Seat, str]) -> CountedPlay:
    """Seat others there: points stay with the seats, and so do the fines that came with them."""
    instead_of = {who: players[seat] for seat, who in play.players.items()}
    taken = {who: -imp for who, imp in play.confirmed.items()}
    confirmed = {instead_of.get(who, who): imp for who, imp in play.confirmed.items()}
    fines = _sums(_sums(play.fines, taken), confirmed)
    return replace(play, players=players, fines={who: imp for who, imp in fines.items() if imp}, confirmed=confirmed)


def _corrected(play: CountedPlay, entry: RulingEntry, now: Correct) -> CountedPlay:
    outcome = replace(play, win=now.win, winners=now.winners, discarder=now.discarder, hand=now.hand, points=now.points)
    if not play.settled:  # else a table's own result, or a sheet before it, has said what the fines are
        outcome = replace(outcome, fines=_sums(play.fines, now.fines), confirmed=now.fines)
    return replace(outcome, source=entry.id, settled=True, instead={})


def _reopened(play: CountedPlay, entry: RulingEntry, result: LogMessage | None) -> CountedPlay:
    """Take back what came before; a result that the table entered afterwards stays."""
    fines = _sums(play.fines, {player: -imp for player, imp in play.confirmed.items()})
    beside = {one: imp for one, imp in fines.items() if imp}
    if result is not None and entry.at_table and result.seq > entry.number:
        now = _with_result(play, result)
        return replace(now, instead={}, fines=_sums(beside, now.confirmed))
    outcome = replace(play, win=None, winners={}, discarder=None, hand=None, points=None, source=None, confirmed={})
    return replace(outcome, settled=False, instead={}, fines=beside)


def imp_of(gift: AwardGiven, awards: AwardRules) -> int:
    """Return the IMPs of an award: freely said, or what the profile has for that fault."""
    if isinstance(gift, int):
        return gift
    return {"nobody": awards.nobody, "others": awards.others, "own": awards.own}[gift].value


def form_of(table: int, restored: str | None, entries: Sequence[RulingEntry]) -> str | None:
    """The form that a table's play of a deal is compared in: the last ruling on the deal that names the table."""
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


def gifts_of_others(plays: Iterable[CountedPlay], stages: Mapping[int, int]) -> list[Adjustment]:
    """Return what plays give and take of those who do not sit there. `stages`: by deal.

    Whoever was named when it was ruled may not be seated any more: by the result of a play that was reopened since, or
    that a table has begun by an older plan. `validate.py` refuses rulings by which somebody would leave such a seat.
    """
    found = []
    for play in sorted(plays, key=lambda one: (one.table, one.round)):
        for one in sorted(play.left_out):
            given = play.instead.get(one, 0) + play.awards.get(one, 0)
            found.append(Adjustment(one, given, play.fines.get(one, 0), stages.get(play.deal, 0)))
    return found


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _by_seat(imps: Mapping[str, int], players: Mapping[Seat, str]) -> dict[Seat, int]:
    return {seat: imps[player] for seat, player in players.items() if player in imps}
