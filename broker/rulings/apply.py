"""A play as it counts: the table's result with every ruling applied to it, in the order in which they were given."""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from broker.protocol import (
    Adjusted,
    Award,
    AwardGiven,
    Correct,
    DealPlayed,
    FineRuled,
    Fouled,
    LogMessage,
    Reopen,
    Result,
    RiichiEvent,
    RiichiWin,
    Seat,
    SeatsPlayed,
    Void,
    WinKind,
)
from broker.rules import AwardRules, RuleError, Rules
from broker.rules.points import score_riichi
from broker.rules.riichi import RiichiProfile
from broker.rulings.model import RulingEntry
from broker.scoring import APART, NOTHING, Adjustment, ScoredPlay


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
    """What each player is given in the place of points."""
    awards: Mapping[str, int] = {}
    fines: Mapping[str, int] = {}
    confirmed: Mapping[str, int] = {}
    """Those of the fines that came with the outcome, from the table or a sheet: reopened, it takes them along."""
    form: str | None = None
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

    def scored(self) -> ScoredPlay | None:
        """Return the play as scoring takes it; None where nothing is to be counted yet."""
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
        )


def unruled_play(table: int, result: Result, form: str) -> ScoredPlay:
    """Return a play that nobody has ruled on, as nearly all are: what `CountedPlay.scored` would say of it."""
    return ScoredPlay(
        deal=result.deal,
        table=table,
        players=result.players,
        points=result.points,
        fines={seat: fine.imp for seat, fine in result.fines.items()} if result.fines else NOTHING,
        form=form,
    )


def result_of(message: LogMessage) -> Result:
    """Return the result in a message. Raises TypeError where it is none."""
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
            play = _without_points(play, entry, {one: imp_of(gift, awards) for one, gift in given.items()})
        case Reopen():
            play = _reopened(play, entry, result)
        case Award():
            gifts = {one: imp_of(gift, awards) for one, gift in decision.gives.items()}
            play = replace(play, awards=_sums(play.awards, gifts))
        case FineRuled():
            play = replace(play, fines=_sums(play.fines, decision.takes))
        case SeatsPlayed():
            play = replace(play, players=decision.players)
        case DealPlayed() if decision.result == play.result:
            # Else the table has played since, and its new result says which deal it was.
            play = replace(play, deal=decision.played)
    return replace(play, rulings=(*play.rulings, entry.id))


def _corrected(play: CountedPlay, entry: RulingEntry, now: Correct) -> CountedPlay:
    outcome = replace(play, win=now.win, winners=now.winners, discarder=now.discarder, hand=now.hand, points=now.points)
    if not play.settled:  # else a table's own result, or a sheet before it, has said what the fines are
        outcome = replace(outcome, fines=_sums(play.fines, now.fines), confirmed=now.fines)
    return replace(outcome, source=entry.id, settled=True, instead={})


def _without_points(play: CountedPlay, entry: RulingEntry, instead: Mapping[str, int]) -> CountedPlay:
    return replace(play, source=entry.id, points=None, settled=True, instead=instead)


def _reopened(play: CountedPlay, entry: RulingEntry, result: LogMessage | None) -> CountedPlay:
    """Take back what came before; a result that the table entered afterwards stays."""
    if result is not None and entry.at_table and result.seq > entry.number:
        return replace(_with_result(play, result), instead={}, fines=play.fines)
    fines = _sums(play.fines, {player: -imp for player, imp in play.confirmed.items()})
    outcome = replace(play, win=None, winners={}, discarder=None, hand=None, points=None, source=None, confirmed={})
    return replace(outcome, settled=False, instead={}, fines={one: imp for one, imp in fines.items() if imp})


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


def adjustments(entries: Iterable[RulingEntry], awards: AwardRules) -> list[Adjustment]:
    """Return the IMPs that belong to no play."""
    found = []
    for entry in entries:
        if isinstance(entry.decision, Award):
            found += [Adjustment(one, imp_of(gift, awards)) for one, gift in entry.decision.gives.items()]
        elif isinstance(entry.decision, FineRuled):
            found += [Adjustment(one, fine=imp) for one, imp in entry.decision.takes.items()]
    return found


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _by_seat(imps: Mapping[str, int], players: Mapping[Seat, str]) -> dict[Seat, int]:
    return {seat: imps[player] for seat, player in players.items() if player in imps}
