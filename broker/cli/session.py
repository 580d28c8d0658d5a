"""`homologue session`: what a hand of riichi pays and how the session continues, with its events as JSON lines."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Final

import click
from msgspec import Meta, Struct

from broker.cli.rules_input import (
    PlayerNumber,
    answer_each,
    json_lines_option,
    load_riichi_rules,
    riichi_rules_of_line,
    riichi_rules_option,
)
from broker.protocol import SEATS
from broker.rules import RuleError, score_alone
from broker.rules.riichi import (
    PLAYERS,
    PlayerNo,
    PlayerPoints,
    RiichiProfile,
    RoundWind,
    SessionEvent,
    SessionState,
    SessionWin,
    SettledEvent,
    events,
    settle_event,
)

SmallNumber = Annotated[int, Meta(ge=-9999, le=9999)]
Score = Annotated[int, Meta(ge=-100_000_000, le=100_000_000)]


class SessionStart(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a session. Defaults are those of a new session; `next` of an answer can be used as it is."""

    round_wind: RoundWind = "E"
    dealer: PlayerNumber = 0
    honba: SmallNumber = 0
    riichi_sticks: SmallNumber = 0
    scores: tuple[Score, Score, Score, Score] | None = None
    game_over: bool = False

    def state(self, rules: RiichiProfile) -> SessionState:
        """Return the state."""
        start = rules.session.scores.start.value
        scores: PlayerPoints = (start, start, start, start) if self.scores is None else self.scores
        return SessionState(self.round_wind, self.dealer, self.honba, self.riichi_sticks, scores, self.game_over)


Players = tuple[PlayerNumber | bool, ...]
"""Players by number, or true or false for each of the four."""

REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "nine_terminals": ("kyuushu", "kyuushukyuuhai", "kyushukyuhai", "ninetiles", "nineterminalsandhonours"),
    "four_winds": ("suufonrenda", "suufuurenda", "fourwind", "foursamewinds"),
    "four_riichi": ("suuchariichi", "suuchareach", "fourreach"),
    "four_kans": ("suukansanra", "suukaikan", "suukannagare", "fourkan"),
    "triple_ron": ("sanchahou", "sanchaho", "threeron"),
}
"""Reasons for abortive draws, and other ways to write them."""

_REASONS: Final = {re.sub("[^a-z]", "", way): reason for reason, ways in REASONS.items() for way in (reason, *ways)}


class _Value(Struct, forbid_unknown_fields=True, kw_only=True):
    """The value of a winning hand, and who is responsible for it."""

    winner: PlayerNumber
    han: PlayerNumber | None = None
    fu: PlayerNumber | None = None
    yakuman: tuple[str, ...] | PlayerNumber = ()
    yakuman_count: PlayerNumber | None = None
    yaku: tuple[str, ...] = ()
    responsible: PlayerNumber | None = None
    after_eight_counters: bool | None = None
    riichi_declared: bool | Players = ()
    rinshan: bool | None = None
    daiminkan_from: PlayerNumber | None = None

    @property
    def win(self) -> SessionWin:
        names, number = (self.yakuman, self.yakuman_count) if isinstance(self.yakuman, tuple) else ((), self.yakuman)
        return SessionWin(
            self.winner, self.han, self.fu, names, number, self.yaku, self.responsible, self.after_eight_counters
        )

    @property
    def riichi(self) -> tuple[PlayerNo, ...]:
        """Players who declared riichi; true means the winner."""
        if isinstance(self.riichi_declared, bool):
            return (self.winner,) if self.riichi_declared else ()
        return listed_players(self.riichi_declared)

    def on_discard(self) -> SessionWin:
        """Return a win on a discard. Raises RuleError `replacement_on_discard`."""
        if self.rinshan or self.daiminkan_from is not None:
            raise RuleError(
                "replacement_on_discard", f"player {self.winner} cannot win on another's tile with a drawn one"
            )
        return self.win


class _InHand(Struct, forbid_unknown_fields=True, kw_only=True):
    """Fields of every end of a hand."""

    riichi_declared: bool | Players = ()
    dead_hands: Players = ()

    @property
    def riichi(self) -> tuple[PlayerNo, ...]:
        """Players who declared riichi."""
        if isinstance(self.riichi_declared, bool):
            raise RuleError("malformed", "riichi_declared: the players are needed here")
        return listed_players(self.riichi_declared)


class RonLine(_Value, tag_field="type", tag="ron"):
    """One player wins on a discard."""

    loser: PlayerNumber
    chombo: Players = ()
    dead_hands: Players = ()

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.Ron(
            loser=self.loser,
            wins=(self.on_discard(),),
            riichi=self.riichi,
            chombo=listed_players(self.chombo),
            dead=listed_players(self.dead_hands),
        )


class MultiRonLine(_InHand, tag_field="type", tag="multi_ron"):
    """Several players win on one discard."""

    loser: PlayerNumber
    wins: tuple[_Value, ...]
    chombo: Players = ()

    def event(self) -> SessionEvent:
        """Return the event."""
        of_wins = (player for win in self.wins for player in win.riichi)
        return events.Ron(
            loser=self.loser,
            wins=tuple(win.on_discard() for win in self.wins),
            riichi=tuple(dict.fromkeys((*self.riichi, *of_wins))),
            chombo=listed_players(self.chombo),
            dead=listed_players(self.dead_hands),
        )


class TsumoLine(_Value, tag_field="type", tag="tsumo"):
    """A player wins on a drawn tile."""

    chombo: Players = ()
    dead_hands: Players = ()

    def event(self) -> SessionEvent:
        """Return the event. The kan's discarder matters only if its replacement tile wins."""
        return events.Tsumo(
            win=self.win,
            kan_from=None if self.rinshan is False else self.daiminkan_from,
            riichi=self.riichi,
            chombo=listed_players(self.chombo),
            dead=listed_players(self.dead_hands),
        )


class DrawLine(_InHand, tag_field="type", tag="exhaustive_draw"):
    """The wall is empty."""

    tenpai: Players = ()

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.ExhaustiveDraw(
            tenpai=listed_players(self.tenpai), riichi=self.riichi, dead=listed_players(self.dead_hands)
        )


class NagashiLine(_InHand, tag_field="type", tag="nagashi"):
    """The wall is empty, and a player has discarded only terminals and honours."""

    player: PlayerNumber | None = None
    players: Players = ()
    tenpai: Players = ()

    def event(self) -> SessionEvent:
        """Return the event."""
        fantastic = _one_or_more(self.player, self.players)
        if not fantastic:
            raise RuleError("winner_missing", "nagashi: whose?")
        return events.ExhaustiveDraw(
            tenpai=listed_players(self.tenpai),
            nagashi=fantastic,
            riichi=self.riichi,
            dead=listed_players(self.dead_hands),
        )


class AbortLine(_InHand, tag_field="type", tag="abort"):
    """The hand ends in an abortive draw."""

    reason: str

    def event(self) -> SessionEvent:
        """Return the event. Raises RuleError `unknown_abort`."""
        reason = _REASONS.get(re.sub("[^a-z]", "", self.reason.lower()))
        if reason is None:
            raise RuleError("unknown_abort", f"no hand is broken off for {self.reason[:40]!r}; {', '.join(REASONS)}")
        return events.Abort(reason=reason, riichi=self.riichi, dead=listed_players(self.dead_hands))


class _Fault(Struct, forbid_unknown_fields=True, kw_only=True):
    offender: PlayerNumber | None = None
    offenders: Players = ()
    player: PlayerNumber | None = None
    reason: str = ""

    @property
    def all_offenders(self) -> tuple[PlayerNo, ...]:
        """Players who committed the fault."""
        one = self.offender if self.player is None else self.player
        return _one_or_more(one, self.offenders)


class ChomboLine(_Fault, tag_field="type", tag="chombo"):
    """A grave fault."""

    dependent: Players = ()
    yakuman_tenpai: Players = ()
    riichi_declared: Players = ()

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.Chombo(
            offenders=self.all_offenders,
            dependent=listed_players(self.dependent),
            yakuman_tenpai=listed_players(self.yakuman_tenpai),
            riichi=listed_players(self.riichi_declared),
        )


class MinorFaultLine(_Fault, tag_field="type", tag="minor_fault"):
    """A fault that is fined."""

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.MinorFault(offenders=self.all_offenders)


class DeadHandLine(_Fault, tag_field="type", tag="dead_hand"):
    """A player may no longer win."""

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.DeadHand(offenders=self.all_offenders)


class EndLine(Struct, tag_field="type", tag="game_end", forbid_unknown_fields=True):
    """The session ends."""

    def event(self) -> SessionEvent:
        """Return the event."""
        return events.SessionEnd()


def listed_players(players: Iterable[Any]) -> tuple[PlayerNo, ...]:
    """Return the players' numbers. Raises RuleError `malformed` if true and false are not given for all four."""
    found = tuple(players)
    if not any(isinstance(one, bool) for one in found):
        return found
    if len(found) != len(PLAYERS) or not all(isinstance(one, bool) for one in found):
        raise RuleError("malformed", "players by number, or yes and no for each of the four")
    return tuple(player for player in PLAYERS if found[player])


def _one_or_more(one: int | None, more: Players) -> tuple[PlayerNo, ...]:
    return tuple(dict.fromkeys((*(() if one is None else (one,)), *listed_players(more))))


EventLine = (
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


class SessionQuestion(Struct, forbid_unknown_fields=True):
    """A state and an event. `alone` asks for the points of a duplicate play, which only needs the start's dealer."""

    event: EventLine
    start: SessionStart = SessionStart()
    rules: str | None = None
    alone: bool = False


def _answer_of(settled: SettledEvent) -> dict[str, Any]:
    state = settled.state
    answer: dict[str, Any] = {
        "deltas": settled.deltas,
        "next": {
            "round_wind": state.round_wind,
            "dealer": state.dealer,
            "honba": state.counters,
            "riichi_sticks": state.deposits,
            "game_over": state.over,
            "scores": state.scores,
        },
    }
    return answer if settled.places is None else answer | {"places": settled.places}


@click.command(short_help="Riichi: what a hand pays, and how the session continues.")
@riichi_rules_option("Riichi profile for lines that name none, by id or as a file.")
@json_lines_option
def session(rules: str) -> None:
    """Settle a hand of riichi: what it pays, who deals next, and whether the session is over.

    Players are 0 to 3 in turn order; 0 deals first. `next` is the `start` of the next line. With `"alone": true` the
    answer is the points of a duplicate play, in hundreds, for `homologue score --profile riichi-montreal`. See
    docs/riichi-session.md for events and rules.

    \b
    {"rules": "montreal", "start": {"round_wind": "E", "dealer": 0, "honba": 0, "riichi_sticks": 0,
     "scores": [25000, 25000, 25000, 25000]}, "event": {"type": "ron", "winner": 1, "loser": 2, "han": 3, "fu": 30}}
    {"type": "tsumo", "winner": 0, "han": 2, "fu": 40, "riichi_declared": [0, 3]}
    {"type": "exhaustive_draw", "tenpai": [0, 2]}    {"type": "chombo", "offender": 3}    {"type": "game_end"}

    \b
    ron              winner, loser, a value
    multi_ron        loser, wins: a winner and a value each
    tsumo            winner, a value; may have rinshan, daiminkan_from
    exhaustive_draw  tenpai
    nagashi          player or players, tenpai
    abort            reason: nine_terminals, four_winds, four_riichi, four_kans, triple_ron
    chombo           offender or offenders; may have reason, dependent (on another's fault: pays nothing),
                     yakuman_tenpai (whose hand was spoilt: paid twice)
    minor_fault, dead_hand  offender or offenders; may have reason

    A value is `han`, with `fu` under 5 han; or `yakuman`, a list of names; or `yakuman_count`; or `yaku` with a value
    of its own. A win may have `responsible`, `after_eight_counters` and `chombo`; every end of a hand may have
    `riichi_declared` and `dead_hands`.
    """
    own_rules = cache(lambda: load_riichi_rules(rules))

    def answer(question: SessionQuestion) -> dict[str, Any]:
        chosen = own_rules() if question.rules is None else riichi_rules_of_line(own_rules, question.rules)
        state, event = question.start.state(chosen), question.event.event()
        if question.alone:
            return {"points": score_alone(event, SEATS[state.dealer], chosen)}
        return _answer_of(settle_event(state, event, chosen))

    answer_each(SessionQuestion, answer)
