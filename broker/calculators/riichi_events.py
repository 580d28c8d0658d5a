"""The events of a riichi session as scripts write them."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from broker.rules.errors import RuleError
from broker.rules.riichi.session import events
from broker.rules.riichi.session.events import Event, Win
from broker.rules.riichi.session.state import PLAYERS, Player

Number = Annotated[int, Meta(ge=-999, le=999)]
"""What is out of its bounds by less has a code that says so; what is out by more is not read."""

Players = tuple[Number | bool, ...]
"""Players by number, or yes and no for each of the four."""

REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "nine_terminals": ("kyuushu", "kyuushukyuuhai", "kyushukyuhai", "ninetiles", "nineterminalsandhonours"),
    "four_winds": ("suufonrenda", "suufuurenda", "fourwind", "foursamewinds"),
    "four_riichi": ("suuchariichi", "suuchareach", "fourreach"),
    "four_kans": ("suukansanra", "suukaikan", "suukannagare", "fourkan"),
    "triple_ron": ("sanchahou", "sanchaho", "threeron"),
}
"""Why a hand is broken off, and other ways in which that is written."""

_REASONS: Final = {re.sub("[^a-z]", "", way): reason for reason, ways in REASONS.items() for way in (reason, *ways)}


class _Value(Struct, forbid_unknown_fields=True, kw_only=True):
    """What a winning hand is worth, and who is responsible for it."""

    winner: Number
    han: Number | None = None
    fu: Number | None = None
    yakuman: tuple[str, ...] | Number = ()
    yakuman_count: Number | None = None
    yaku: tuple[str, ...] = ()
    responsible: Number | None = None
    after_eight_counters: bool | None = None
    riichi_declared: bool | Players = ()
    rinshan: bool | None = None
    daiminkan_from: Number | None = None

    @property
    def win(self) -> Win:
        names, number = (self.yakuman, self.yakuman_count) if isinstance(self.yakuman, tuple) else ((), self.yakuman)
        return Win(
            self.winner, self.han, self.fu, names, number, self.yaku, self.responsible, self.after_eight_counters
        )

    @property
    def riichi(self) -> tuple[Player, ...]:
        """Who declared riichi; yes means the winner."""
        if isinstance(self.riichi_declared, bool):
            return (self.winner,) if self.riichi_declared else ()
        return listed(self.riichi_declared)

    def on_discard(self) -> Win:
        """Give the win. Raises RuleError `replacement_on_discard`."""
        if self.rinshan or self.daiminkan_from is not None:
            raise RuleError(
                "replacement_on_discard", f"player {self.winner} cannot win on another's tile with a drawn one"
            )
        return self.win


class _InHand(Struct, forbid_unknown_fields=True, kw_only=True):
    """What any hand may have."""

    riichi_declared: bool | Players = ()
    dead_hands: Players = ()

    @property
    def riichi(self) -> tuple[Player, ...]:
        """Who declared riichi."""
        if isinstance(self.riichi_declared, bool):
            raise RuleError("malformed", "riichi_declared: the players are needed here")
        return listed(self.riichi_declared)


class RonLine(_Value, tag_field="type", tag="ron"):
    """One player wins on a discard."""

    loser: Number
    chombo: Players = ()
    dead_hands: Players = ()

    def event(self) -> Event:
        """Give the event."""
        return events.Ron(
            loser=self.loser,
            wins=(self.on_discard(),),
            riichi=self.riichi,
            chombo=listed(self.chombo),
            dead=listed(self.dead_hands),
        )


class MultiRonLine(_InHand, tag_field="type", tag="multi_ron"):
    """Several win on one discard."""

    loser: Number
    wins: tuple[_Value, ...]
    chombo: Players = ()

    def event(self) -> Event:
        """Give the event."""
        of_wins = (player for win in self.wins for player in win.riichi)
        return events.Ron(
            loser=self.loser,
            wins=tuple(win.on_discard() for win in self.wins),
            riichi=tuple(dict.fromkeys((*self.riichi, *of_wins))),
            chombo=listed(self.chombo),
            dead=listed(self.dead_hands),
        )


class TsumoLine(_Value, tag_field="type", tag="tsumo"):
    """A player wins on a drawn tile."""

    chombo: Players = ()
    dead_hands: Players = ()

    def event(self) -> Event:
        """Give the event. A kan counts only where its replacement tile wins."""
        return events.Tsumo(
            win=self.win,
            kan_from=None if self.rinshan is False else self.daiminkan_from,
            riichi=self.riichi,
            chombo=listed(self.chombo),
            dead=listed(self.dead_hands),
        )


class DrawLine(_InHand, tag_field="type", tag="exhaustive_draw"):
    """The wall is empty."""

    tenpai: Players = ()

    def event(self) -> Event:
        """Give the event."""
        return events.ExhaustiveDraw(tenpai=listed(self.tenpai), riichi=self.riichi, dead=listed(self.dead_hands))


class NagashiLine(_InHand, tag_field="type", tag="nagashi"):
    """The wall is empty, and somebody has discarded nothing but terminals and honours."""

    player: Number | None = None
    players: Players = ()
    tenpai: Players = ()

    def event(self) -> Event:
        """Give the event."""
        fantastic = _one_or_more(self.player, self.players)
        if not fantastic:
            raise RuleError("winner_missing", "nagashi: whose?")
        return events.ExhaustiveDraw(
            tenpai=listed(self.tenpai), nagashi=fantastic, riichi=self.riichi, dead=listed(self.dead_hands)
        )


class AbortLine(_InHand, tag_field="type", tag="abort"):
    """The hand is broken off."""

    reason: str

    def event(self) -> Event:
        """Give the event. Raises RuleError `unknown_abort`."""
        reason = _REASONS.get(re.sub("[^a-z]", "", self.reason.lower()))
        if reason is None:
            raise RuleError("unknown_abort", f"no hand is broken off for {self.reason[:40]!r}; {', '.join(REASONS)}")
        return events.Abort(reason=reason, riichi=self.riichi, dead=listed(self.dead_hands))


class _Fault(Struct, forbid_unknown_fields=True, kw_only=True):
    offender: Number | None = None
    offenders: Players = ()
    player: Number | None = None
    reason: str = ""

    @property
    def all_offenders(self) -> tuple[Player, ...]:
        """Who committed it."""
        one = self.offender if self.player is None else self.player
        return _one_or_more(one, self.offenders)


class ChomboLine(_Fault, tag_field="type", tag="chombo"):
    """A grave fault."""

    dependent: Players = ()
    yakuman_tenpai: Players = ()
    riichi_declared: Players = ()

    def event(self) -> Event:
        """Give the event."""
        return events.Chombo(
            offenders=self.all_offenders,
            dependent=listed(self.dependent),
            yakuman_tenpai=listed(self.yakuman_tenpai),
            riichi=listed(self.riichi_declared),
        )


class MinorFaultLine(_Fault, tag_field="type", tag="minor_fault"):
    """A fault that is fined."""

    def event(self) -> Event:
        """Give the event."""
        return events.MinorFault(offenders=self.all_offenders)


class DeadHandLine(_Fault, tag_field="type", tag="dead_hand"):
    """A player may no longer win."""

    def event(self) -> Event:
        """Give the event."""
        return events.DeadHand(offenders=self.all_offenders)


class EndLine(Struct, tag_field="type", tag="game_end", forbid_unknown_fields=True):
    """The session is ended."""

    def event(self) -> Event:
        """Give the event."""
        return events.SessionEnd()


Line = (
    RonLine
    | MultiRonLine
    | TsumoLine
    | DrawLine
    | NagashiLine
    | AbortLine
    | ChomboLine
    | MinorFaultLine
    | DeadHandLine
    | EndLine
)


def listed(players: Iterable[Any]) -> tuple[Player, ...]:
    """Give the players. Raises RuleError `malformed` where yes and no are not said for each of the four."""
    found = tuple(players)
    if not any(isinstance(one, bool) for one in found):
        return found
    if len(found) != len(PLAYERS) or not all(isinstance(one, bool) for one in found):
        raise RuleError("malformed", "players by number, or yes and no for each of the four")
    return tuple(player for player in PLAYERS if found[player])


def _one_or_more(one: int | None, more: Players) -> tuple[Player, ...]:
    return tuple(dict.fromkeys((*(() if one is None else (one,)), *listed(more))))
