"""The state of a session between two hands, and the events of a hand, as values and as messages.

What an event is worth is decided elsewhere. Messages name seats; the rules number players from 0 to 3, as the seats in
turn order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS, RiichiEvent, RiichiStanding, RiichiWin, Seat
from broker.rules.deal import SEAT_INDEX

PlayerNo = int
"""0 to 3 in turn order. Player 0 deals the first hand."""

PLAYERS: Final = range(4)

RoundWind = Literal["E", "S", "W", "N"]

ROUNDS: Final[tuple[RoundWind, ...]] = get_args(RoundWind)

PlayerPoints = tuple[int, int, int, int]

NO_POINTS: Final[PlayerPoints] = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SessionState:
    """Round, dealer, counters (honba), deposits (sticks of 1000 on the table) and the four scores."""

    round_wind: RoundWind
    dealer: PlayerNo
    counters: int
    deposits: int
    scores: PlayerPoints
    over: bool = False

    def __post_init__(self) -> None:
        """Raise RuleError if no such state is possible."""
        check_player(self.dealer)
        if self.counters < 0:
            raise RuleError("negative_counters", f"{self.counters} counters")
        if self.deposits < 0:
            raise RuleError("negative_deposits", f"{self.deposits} deposits")

    @property
    def round(self) -> int:
        """The number of rounds before this one."""
        return ROUNDS.index(self.round_wind)


def check_player(player: PlayerNo) -> PlayerNo:
    """Return the player unchanged. Raises RuleError `no_such_player`."""
    if player not in PLAYERS:
        raise RuleError("no_such_player", f"player {player}: there are 0, 1, 2 and 3, in turn order")
    return player


def player_points(of_players: Iterable[int]) -> PlayerPoints:
    """Return the points of the four players as a tuple, in turn order."""
    east, south, west, north = of_players
    return east, south, west, north


def add_points(*parts: PlayerPoints) -> PlayerPoints:
    """Add points player by player."""
    return player_points(sum(of_player) for of_player in zip(*parts, strict=True))


def pay_one(amounts: dict[PlayerNo, int], receiver: PlayerNo) -> PlayerPoints:
    """Return the gains and losses when players pay one of them. An amount owed by the receiver is dropped."""
    owed = [0 if player == receiver else amounts.get(player, 0) for player in PLAYERS]
    return player_points(sum(owed) if player == receiver else -owed[player] for player in PLAYERS)


@dataclass(frozen=True, slots=True)
class SessionWin:
    """One player's winning hand."""

    winner: PlayerNo
    han: int | None = None
    fu: int | None = None
    yakuman: tuple[str, ...] = ()
    """Names, as they are written in the profile."""
    yakuman_count: int | None = None
    """The total number of yakuman; None to count them by the names."""
    yaku: tuple[str, ...] = ()
    """Only yaku with a value of their own matter here (renhou)."""
    responsible: PlayerNo | None = None
    """The player who fed the set that made the yakuman certain (pao)."""
    after_eight_counters: bool | None = None
    """Whether this is the win after the last counter of paarenchan; None to decide by the state's counters."""

    def __post_init__(self) -> None:
        """Raise RuleError if no such win is possible."""
        check_player(self.winner)
        if self.responsible is not None and check_player(self.responsible) == self.winner:
            raise RuleError(
                "responsible_wins", N_("player {player} is responsible for their own hand", player=self.winner)
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandEnd:
    """What the end of any hand may include: riichi declared in it, each with its deposit, and dead hands."""

    riichi: tuple[PlayerNo, ...] = ()
    dead: tuple[PlayerNo, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError if these are not players, each named once."""
        _each_once(self.riichi)
        _each_once(self.dead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ron(HandEnd):
    """One to three players win on one tile."""

    loser: PlayerNo
    wins: tuple[SessionWin, ...]
    chombo: tuple[PlayerNo, ...] = ()
    """Players who committed a grave fault in the same hand."""

    def __post_init__(self) -> None:
        """Raise RuleError if no such win is possible."""
        HandEnd.__post_init__(self)
        check_player(self.loser)
        _each_once(self.chombo)
        winners = _each_once(win.winner for win in self.wins)
        if not winners:
            raise RuleError("winner_missing", "name the winner")
        if self.loser in winners:
            raise RuleError("loser_wins", N_("player {player} wins on their own discard", player=self.loser))
        _check_alive(winners, self.dead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tsumo(HandEnd):
    """A player wins on the drawn tile. `kan_from`: who discarded the tile of a live kan, if its replacement wins."""

    win: SessionWin
    kan_from: PlayerNo | None = None
    chombo: tuple[PlayerNo, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError if no such win is possible."""
        HandEnd.__post_init__(self)
        _each_once(self.chombo)
        _check_alive((self.win.winner,), self.dead)
        if self.kan_from is not None and check_player(self.kan_from) == self.win.winner:
            raise RuleError(
                "responsible_wins",
                N_("player {player} has not made a kan of their own discard", player=self.win.winner),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustiveDraw(HandEnd):
    """The wall is empty. `nagashi`: players who discarded only terminals and honours, none of them called."""

    tenpai: tuple[PlayerNo, ...] = ()
    nagashi: tuple[PlayerNo, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError if no such draw is possible."""
        HandEnd.__post_init__(self)
        _each_once(self.tenpai)
        _each_once(self.nagashi)
        _check_alive(self.tenpai, self.dead)
        noten = sorted({*self.riichi} - {*self.tenpai})
        if noten:
            raise RuleError("riichi_noten", f"player {noten[0]} declared riichi and is not tenpai: that is a chombo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(HandEnd):
    """The hand is aborted."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chombo(HandEnd):
    """A grave fault ends the hand.

    `dependent`: offenders who do not pay because their fault followed from another's. `yakuman_tenpai`: players whose
    hands could still have become a yakuman.
    """

    offenders: tuple[PlayerNo, ...]
    dependent: tuple[PlayerNo, ...] = ()
    yakuman_tenpai: tuple[PlayerNo, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError if no such fault is possible."""
        HandEnd.__post_init__(self)
        _check_offenders(self.offenders)
        _each_once(self.yakuman_tenpai)
        if not {*_each_once(self.dependent)} < {*self.offenders}:
            raise RuleError("no_first_fault", "a dependent fault needs a first fault by another offender")


@dataclass(frozen=True, slots=True, kw_only=True)
class MinorFault:
    """A fault that is fined; the hand continues."""

    offenders: tuple[PlayerNo, ...]

    def __post_init__(self) -> None:
        """Raise RuleError if no such fault is possible."""
        _check_offenders(self.offenders)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadHand:
    """A player may no longer win; the hand continues."""

    offenders: tuple[PlayerNo, ...]

    def __post_init__(self) -> None:
        """Raise RuleError if no such fault is possible."""
        _check_offenders(self.offenders)


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The last hand has been played or time is up. Points on the table are distributed."""


def _each_once(players: Iterable[PlayerNo]) -> tuple[PlayerNo, ...]:
    """Return the players unchanged. Raises RuleError `no_such_player` or `player_named_twice`."""
    found = tuple(map(check_player, players))
    if len({*found}) < len(found):
        raise RuleError("player_named_twice", f"a player is named twice in {list(found)}")
    return found


def _check_offenders(offenders: tuple[PlayerNo, ...]) -> None:
    if not _each_once(offenders):
        raise RuleError("offender_missing", "name the player who committed the fault")


def _check_alive(players: Iterable[PlayerNo], dead: Iterable[PlayerNo]) -> None:
    late = sorted({*players} & {*dead})
    if late:
        raise RuleError("dead_hand_counts", f"player {late[0]} has a dead hand, which neither wins nor is tenpai")


SessionEvent = Ron | Tsumo | ExhaustiveDraw | Abort | Chombo | MinorFault | DeadHand | SessionEnd


def event_from_message(message: RiichiEvent) -> SessionEvent:
    """Return a message's event. Raises RuleError if impossible, `winner_missing`, `loser_missing`, `reason_missing`."""
    return _EVENTS[message.kind](message)


def _ron(message: RiichiEvent) -> SessionEvent:
    if message.loser is None:
        raise RuleError("loser_missing", "a ron needs the player who discarded the tile")
    wins = tuple(_win(seat, win) for seat, win in message.wins.items())
    return Ron(
        loser=SEAT_INDEX[message.loser],
        wins=wins,
        riichi=players_on_seats(message.riichi),
        chombo=players_on_seats(message.offenders),
    )


def _tsumo(message: RiichiEvent) -> SessionEvent:
    if len(message.wins) != 1:
        raise RuleError("winner_missing", "exactly one player wins on a drawn tile")
    ((seat, win),) = message.wins.items()
    kan_from = None if message.kan_from is None else SEAT_INDEX[message.kan_from]
    return Tsumo(
        win=_win(seat, win),
        kan_from=kan_from,
        riichi=players_on_seats(message.riichi),
        chombo=players_on_seats(message.offenders),
    )


def _abort(message: RiichiEvent) -> SessionEvent:
    if message.reason is None:
        raise RuleError("reason_missing", "an aborted hand needs its reason")
    return Abort(reason=message.reason, riichi=players_on_seats(message.riichi))


def _win(seat: Seat, win: RiichiWin) -> SessionWin:
    responsible = None if win.responsible is None else SEAT_INDEX[win.responsible]
    if win.yakuman:
        return SessionWin(SEAT_INDEX[seat], yakuman_count=win.yakuman, responsible=responsible)
    return SessionWin(SEAT_INDEX[seat], han=win.han or None, fu=win.fu or None, responsible=responsible)


def players_on_seats(seats: Iterable[Seat]) -> tuple[PlayerNo, ...]:
    """Return the players on these seats."""
    return tuple(SEAT_INDEX[seat] for seat in seats)


_EVENTS: Final[Mapping[str, Callable[[RiichiEvent], SessionEvent]]] = {
    "ron": _ron,
    "tsumo": _tsumo,
    "draw": lambda message: ExhaustiveDraw(
        tenpai=players_on_seats(message.tenpai),
        nagashi=players_on_seats(message.nagashi),
        riichi=players_on_seats(message.riichi),
    ),
    "abort": _abort,
    "chombo": lambda message: Chombo(
        offenders=players_on_seats(message.offenders),
        dependent=players_on_seats(message.dependent),
        yakuman_tenpai=players_on_seats(message.yakuman_tenpai),
        riichi=players_on_seats(message.riichi),
    ),
    "minor_fault": lambda message: MinorFault(offenders=players_on_seats(message.offenders)),
    "end": lambda _: SessionEnd(),
}


def state_from_standing(standing: RiichiStanding) -> SessionState:
    """Return the state that a message reports. Raises RuleError if it is impossible."""
    round_wind = ROUNDS[SEATS.index(standing.round_wind)]
    scores = player_points(standing.scores.get(seat, 0) for seat in SEATS)
    return SessionState(
        round_wind, SEAT_INDEX[standing.dealer], standing.counters, standing.deposits, scores, standing.over
    )


def standing_from_state(state: SessionState, hand: int) -> RiichiStanding:
    """Return the message that reports a session's state before a hand."""
    return RiichiStanding(
        hand=hand,
        round_wind=SEATS[state.round],
        dealer=SEATS[state.dealer],
        counters=state.counters,
        deposits=state.deposits,
        scores=points_by_seat(state.scores),
        over=state.over,
    )


def points_by_seat(points: PlayerPoints) -> dict[Seat, int]:
    """Return each seat's points."""
    return dict(zip(SEATS, points, strict=True))
