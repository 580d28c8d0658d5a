"""What may happen in a hand, as values. Nothing here says what it is worth: that is the rules' matter."""

from collections.abc import Iterable
from dataclasses import dataclass

from broker.rules.errors import RuleError
from broker.rules.riichi.session.state import Player, known


@dataclass(frozen=True, slots=True)
class Win:
    """One player's winning hand."""

    winner: Player
    han: int | None = None
    fu: int | None = None
    yakuman: tuple[str, ...] = ()
    """Names, as they are written in the profile."""
    yakuman_count: int | None = None
    """How many yakuman it is worth in all; None: what the names are worth."""
    yaku: tuple[str, ...] = ()
    """Only those matter that have a value of their own (renhou)."""
    responsible: Player | None = None
    """Who fed the set that made the yakuman certain (pao)."""
    after_eight_counters: bool | None = None
    """Whether it is the win that follows the last counter of paarenchan; None: as the counters say."""

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such win."""
        known(self.winner)
        if self.responsible is not None and known(self.responsible) == self.winner:
            raise RuleError("responsible_wins", f"player {self.winner} is responsible for the own hand")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """What any hand may have: riichi declared in it, each with its deposit, and hands that were dead."""

    riichi: tuple[Player, ...] = ()
    dead: tuple[Player, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such players."""
        once(self.riichi)
        once(self.dead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ron(Hand):
    """One to three players win on one tile."""

    loser: Player
    wins: tuple[Win, ...]
    chombo: tuple[Player, ...] = ()
    """Who committed a grave fault in the same hand."""

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such win."""
        Hand.__post_init__(self)
        known(self.loser)
        once(self.chombo)
        winners = once(win.winner for win in self.wins)
        if not winners:
            raise RuleError("winner_missing", "nobody is named who wins")
        if self.loser in winners:
            raise RuleError("loser_wins", f"player {self.loser} wins on the own tile")
        _alive(winners, self.dead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tsumo(Hand):
    """A player wins on the tile drawn. `kan_from`: whose discard was made a kan, when its replacement wins."""

    win: Win
    kan_from: Player | None = None
    chombo: tuple[Player, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such win."""
        Hand.__post_init__(self)
        once(self.chombo)
        _alive((self.win.winner,), self.dead)
        if self.kan_from is not None and known(self.kan_from) == self.win.winner:
            raise RuleError("responsible_wins", f"player {self.win.winner} has made no kan of the own discard")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustiveDraw(Hand):
    """The wall is empty. `nagashi`: whose discards were all terminals and honours, none of them called."""

    tenpai: tuple[Player, ...] = ()
    nagashi: tuple[Player, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such draw."""
        Hand.__post_init__(self)
        once(self.tenpai)
        once(self.nagashi)
        _alive(self.tenpai, self.dead)
        noten = sorted({*self.riichi} - {*self.tenpai})
        if noten:
            raise RuleError("riichi_noten", f"player {noten[0]} declared riichi and is not tenpai: that is a chombo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort(Hand):
    """The hand is broken off."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chombo(Hand):
    """A grave fault ends the hand.

    `dependent`: offenders whose fault followed from another's, who do not pay. `yakuman_tenpai`: whose hands could
    still have become a yakuman.
    """

    offenders: tuple[Player, ...]
    dependent: tuple[Player, ...] = ()
    yakuman_tenpai: tuple[Player, ...] = ()

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such fault."""
        Hand.__post_init__(self)
        _named(self.offenders)
        once(self.yakuman_tenpai)
        if not {*once(self.dependent)} < {*self.offenders}:
            raise RuleError("no_first_fault", "a fault depends on that of another offender, who pays")


@dataclass(frozen=True, slots=True, kw_only=True)
class MinorFault:
    """A fault that is fined; the hand goes on."""

    offenders: tuple[Player, ...]

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such fault."""
        _named(self.offenders)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadHand:
    """A player may no longer win; the hand goes on."""

    offenders: tuple[Player, ...]

    def __post_init__(self) -> None:
        """Raise RuleError where there can be no such fault."""
        _named(self.offenders)


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The last hand has been played, or the time is up: what lies on the table is given out."""


Event = Ron | Tsumo | ExhaustiveDraw | Abort | Chombo | MinorFault | DeadHand | SessionEnd


def once(players: Iterable[Player]) -> tuple[Player, ...]:
    """Give the players back. Raises RuleError `no_such_player`, `player_named_twice`."""
    found = tuple(map(known, players))
    if len({*found}) < len(found):
        raise RuleError("player_named_twice", f"a player is named twice in {list(found)}")
    return found


def _named(offenders: tuple[Player, ...]) -> None:
    if not once(offenders):
        raise RuleError("offender_missing", "nobody is named who committed the fault")


def _alive(players: Iterable[Player], dead: Iterable[Player]) -> None:
    late = sorted({*players} & {*dead})
    if late:
        raise RuleError("dead_hand_counts", f"player {late[0]} has a dead hand, which neither wins nor is tenpai")
