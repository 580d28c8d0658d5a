"""`homologue referee`: which actions of a play are legal, judged from the number of tiles in each wall.

In riichi it also considers the tiles. `homologue rules furiten` says whether a player may win on a discard.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, Final, Literal

import click
from msgspec import Meta, Raw, Struct, field

from broker.cli.rules_input import (
    PlayerNumber,
    RiichiMeldLine,
    answer_each,
    json_lines_option,
    load_profile_once,
    load_riichi_rules,
    profile_option,
    read_line,
    riichi_rules_of_line,
    riichi_rules_option,
)
from broker.protocol import SEATS, Seat
from broker.rules import SEAT_INDEX, McrPaymentRules, RuleError
from broker.rules.deal import DEAD_WALL
from broker.rules.mcr import Action, StartPhase, TurnState, apply_turn, begin_turns, settle_claims
from broker.rules.riichi import RiichiProfile, check_player
from broker.rules.riichi.board import (
    LIVE_WALL,
    Board,
    Phase,
    RiichiAction,
    SeatBoard,
    check_board,
    nagashi_seats,
)
from broker.rules.riichi.calls import TimedCall, settle_calls
from broker.rules.riichi.referee import apply_riichi_action
from broker.rules.riichi.waits import PassedTile, furiten, may_ron, orphans_wait, riichi_waits, tile_kind


class PlayStart(Struct, forbid_unknown_fields=True):
    """The position before the first step."""

    walls: dict[Seat, int]
    turn: Seat
    phase: StartPhase
    ltw: bool = False


class RefereeQuestion(Struct, forbid_unknown_fields=True):
    """A position, and the steps from there. Each step is decoded separately, so that a bad one does not affect others.

    With `rules`, the id of a riichi profile, the question is about riichi.
    """

    start: Raw
    steps: list[Raw]
    rules: str | None = None


def _answer(
    question: RefereeQuestion, payments: Callable[[], McrPaymentRules], own: Callable[[], RiichiProfile]
) -> dict[str, list[dict[str, Any]]]:
    start = bytes(question.start).decode()
    if question.rules is not None:
        return {"steps": answer_riichi(start, question.steps, riichi_rules_of_line(own, question.rules))}
    return {"steps": _answer_mcr(read_line(start, PlayStart), question.steps, payments())}


def _answer_mcr(start: PlayStart, steps: list[Raw], payments: McrPaymentRules) -> list[dict[str, Any]]:
    nearest_only = payments.several_hu.value == "nearest"
    state = begin_turns(start.walls, start.turn, start.phase, ltw=start.ltw, nearest_only=nearest_only)
    rows = []
    for step in steps:
        try:
            state = apply_turn(state, _nearest_winner(state, read_line(bytes(step).decode(), Action)))
            rows.append(_row(state, None))
        except RuleError as problem:
            rows.append(_row(state, problem.code))
    return rows


def _nearest_winner(state: TurnState, action: Action) -> Action:
    """If the profile allows one winner, let several players declare on a discard; the nearest in turn order wins."""
    seats = set(action.actors)
    fits = action.do == "hu_on_discard" and seats and len(seats) == len(action.actors) and state.turn not in seats
    return settle_claims(state, [action]) if fits and state.nearest_only else action


def _row(state: TurnState, reason: str | None) -> dict[str, Any]:
    """Return the answer to a step with the position after it; `reason` is why an illegal step left it unchanged."""
    return {
        "legal": reason is None,
        "reason": reason,
        "ltw": state.ltw,
        "walls": dict(zip(SEATS, state.walls, strict=True)),
        "turn": state.turn,
        "over": state.over,
        "situation_fans": state.situation_fans if reason is None else (),
    }


@click.command(short_help="Check which actions of a play are legal.")
@profile_option("Rule profile: sets how many players may win at once.")
@riichi_rules_option("Riichi: file of your own profile, which lines refer to by its id.")
@json_lines_option
def referee(profile: str, rules: str) -> None:
    """Check which actions of a play are legal, and when the last tile of the wall is reached.

    Each line is one question. An illegal step changes nothing, and the next one is checked. See docs/referee.md.

    \b
    {"start": {"walls": {"east": 1, "south": 1, "west": 2, "north": 2}, "turn": "east", "phase": "draw"},
     "steps": [{"do": "draw", "seat": "east"}, {"do": "discard", "seat": "east"}, {"do": "pung", "seat": "north"}]}
    {"do": "no_claim"}    {"do": "hu_on_discard", "seats": ["south", "west"]}
    riichi: {"rules": "montreal", "start": {"dealer": "east"}, "steps": [{"do": "draw", "seat": "east"}]}
    """
    mcr, own = load_profile_once(profile), cache(lambda: load_riichi_rules(rules))
    answer_each(RefereeQuestion, lambda question: _answer(question, lambda: mcr().payments, own))


Score = Annotated[int, Meta(ge=-10_000_000, le=10_000_000)]

Milliseconds = Annotated[int, Meta(ge=-60_000, le=3_600_000)]


class DiscardLine(Struct, forbid_unknown_fields=True):
    """A discard. `called`: whether another player claimed it for a meld."""

    seat: Seat
    tile: str
    riichi: bool = False
    called: bool = False


class RiichiStart(Struct, forbid_unknown_fields=True):
    """A position in a hand. Tiles or points of a seat that are not given are not checked in later steps."""

    dealer: Seat = "east"
    turn: Seat | None = None
    phase: Phase = "draw"
    live: PlayerNumber = LIVE_WALL
    hands: dict[Seat, tuple[str, ...]] = field(default_factory=dict)
    melds: dict[Seat, tuple[RiichiMeldLine, ...]] = field(default_factory=dict)
    discards: tuple[DiscardLine, ...] = ()
    points: dict[Seat, Score] = field(default_factory=dict)

    def board(self) -> Board:
        """Return the board. Raises RuleError if the position is impossible."""
        turn = self.turn or self.dealer
        if self.phase == "kan" or (self.phase == "claim" and (not self.discards or self.discards[-1].seat != turn)):
            raise RuleError("bad_start", "a hand starts at draw, hold, or claim with the turn's discard as the last")
        kans = tuple(seat for seat in SEATS for meld in self.melds.get(seat, ()) if meld.kind == "kan")
        hand = self.hands.get(turn, ())
        return check_board(
            Board(
                dealer=self.dealer,
                turn=turn,
                phase=self.phase,
                live=self.live,
                players=tuple(map(self._own, SEATS)),
                seen=tuple(
                    PassedTile(SEAT_INDEX[one.seat], tile_kind(one.tile) and one.tile, one.riichi)
                    for one in self.discards
                ),
                drawn=hand[-1] if hand and self.phase == "hold" else "",
                kans=kans,
                indicators=1 + len(kans),
                no_calls_yet=not any(self.melds.values()) and not any(one.called for one in self.discards),
            )
        )

    def _own(self, seat: Seat) -> SeatBoard:
        own = [one for one in self.discards if one.seat == seat]
        double = bool(own) and own[0].riichi
        return SeatBoard(
            melds=tuple(meld.laid() for meld in self.melds.get(seat, ())),
            concealed=self.hands.get(seat),
            points=self.points.get(seat),
            riichi="double_riichi" if double else "riichi" if any(one.riichi for one in own) else "",
            discard_called=any(one.called for one in own),
        )


class CallLine(RiichiAction, frozen=True):
    """One of several calls on a tile, with its time in milliseconds from the discard."""

    ms: Milliseconds = 0


class Calls(Struct, forbid_unknown_fields=True):
    """All calls on one tile."""

    calls: tuple[CallLine, ...]


def answer_riichi(start: str, steps: Iterable[Raw], profile: RiichiProfile) -> list[dict[str, Any]]:
    """Return the answer to each step. Raises RuleError if the start cannot be read or is impossible."""
    board = read_line(start, RiichiStart).board()
    rows = []
    for step in steps:
        refused: dict[Seat, str] = {}
        try:
            board = _after_riichi_step(board, bytes(step).decode(), profile, refused)
            rows.append(_riichi_row(board, None, refused))
        except RuleError as problem:
            rows.append(_riichi_row(board, problem.code, refused))
    return rows


def _after_riichi_step(board: Board, step: str, rules: RiichiProfile, refused: dict[Seat, str]) -> Board:
    """Apply a step, and add each seat whose call was refused, with the code, to `refused`."""
    try:
        made = read_line(step, Calls).calls
    except RuleError:
        return apply_riichi_action(board, read_line(step, RiichiAction), rules)
    legal = []
    for line in made:
        call = TimedCall(RiichiAction(line.do, line.seat, line.tile, line.tiles), line.ms)
        try:
            apply_riichi_action(board, call.action, rules)
            legal.append(call)
        except RuleError as problem:
            refused[call.seat] = problem.code
    settled = settle_calls(board.turn, legal, rules)
    refused.update(settled.refused)
    return apply_riichi_action(board, settled.action, rules)


def _riichi_row(board: Board, reason: str | None, refused: dict[Seat, str]) -> dict[str, Any]:
    """Return the answer to a step with the hand after it; `reason` is why an illegal step left it unchanged."""
    row: dict[str, Any] = {
        "legal": reason is None,
        "reason": reason,
        "turn": board.turn,
        "phase": board.phase,
        "live": board.live,
        "dead": DEAD_WALL,
        "indicators": board.indicators,
        "riichi": [seat for seat in SEATS if board.player(seat).riichi],
        "over": board.over,
        "situation": board.situation,
    }
    if refused:
        row["refused"] = refused
    if board.over == "exhaustive_draw":
        row["nagashi"] = nagashi_seats(board)
    return row


class SeenLine(Struct, forbid_unknown_fields=True):
    """A discard or, with `kan`, a tile `added` to a pon (true means the same) or of a `concealed` kan."""

    player: PlayerNumber
    tile: str
    riichi: bool = False
    kan: bool | Literal["added", "concealed"] = False
    called: bool = False
    """Accepted because records have it, but not used: a claimed discard counts like any other."""


_KAN: Final[dict[bool | str, Literal["", "added", "concealed"]]] = {
    False: "",
    True: "added",
    "added": "added",
    "concealed": "concealed",
}


class FuritenQuestion(Struct, forbid_unknown_fields=True):
    """A player's wait, or the hand from which it follows, and the discards of all players in order."""

    player: PlayerNumber
    discards: tuple[SeenLine, ...] = ()
    wait: tuple[str, ...] | None = None
    concealed: tuple[str, ...] | None = None
    melds: tuple[RiichiMeldLine, ...] = ()
    tile: str | None = None


def _furiten_answer(question: FuritenQuestion) -> dict[str, Any]:
    player, wait = check_player(question.player), _wait(question)
    seen = [
        PassedTile(check_player(one.player), tile_kind(one.tile), one.riichi, _KAN[one.kan])
        for one in question.discards
    ]
    # A wait for thirteen orphans may also rob a concealed kan. It is only recognised from the hand's tiles.
    orphans = not question.melds and orphans_wait(question.concealed or ())
    why = furiten(player, wait, seen, orphans=orphans)
    if question.tile is None:
        return {"may_ron": bool(wait) and not why, "furiten": why, "wait": wait}
    return {"may_ron": may_ron(player, wait, seen, question.tile, orphans=orphans), "furiten": why, "wait": wait}


def _wait(question: FuritenQuestion) -> tuple[str, ...]:
    if (question.wait is None) == (question.concealed is None):
        raise RuleError("wait_or_hand", "either the wait or the concealed tiles are needed")
    if question.wait is not None:
        return tuple(map(tile_kind, question.wait))
    return riichi_waits(question.concealed or (), [meld.tiles for meld in question.melds])


@click.command("furiten", short_help="Riichi: say whether a player may win on a discard.")
@json_lines_option
def furiten_command() -> None:
    """Check whether furiten keeps a player from winning on a discard (riichi).

    Players are 0 to 3 in turn order. `discards` lists the discards of all players in order, including claimed ones but
    not `tile` itself; `kan` marks a tile `added` to a pon (it could have been robbed) or of a `concealed` kan (thirteen
    orphans could have robbed it). Instead of `wait` you can give `concealed` (13 tiles, three fewer for each of
    `melds`, written as for `homologue riichi`). The answer names each reason: `own_discard`, `same_turn`, `riichi`.

    \b
    {"player": 1, "wait": ["1m", "4m"], "tile": "4m", "discards": [{"player": 0, "tile": "9p"},
     {"player": 1, "tile": "3z", "riichi": true}, {"player": 2, "tile": "1m"}, {"player": 1, "tile": "2s"}]}
    """
    answer_each(FuritenQuestion, _furiten_answer)
