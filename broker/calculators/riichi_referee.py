"""The riichi half of `homologue referee`: a hand's start and its steps, as scripts write them."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct, field

from broker.calculators.riichi_events import Number
from broker.calculators.stream import read_line
from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.referee.actions import AT
from broker.rules.riichi.furiten import Seen
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.aborts import nagashi
from broker.rules.riichi.referee.actions import Action
from broker.rules.riichi.referee.board import DEAD_WALL, LIVE_WALL, Board, Meld, MeldKind, Own, Phase, begin
from broker.rules.riichi.referee.calls import Call, settle
from broker.rules.riichi.referee.turns import apply
from broker.rules.riichi.waits import kind_of

Score = Annotated[int, Meta(ge=-10_000_000, le=10_000_000)]

Milliseconds = Annotated[int, Meta(ge=-60_000, le=3_600_000)]


class MeldLine(Struct, forbid_unknown_fields=True):
    """A set laid down."""

    kind: MeldKind
    tiles: tuple[str, ...]
    open: bool = True


class DiscardLine(Struct, forbid_unknown_fields=True):
    """A discard; `called`: another made a set with it."""

    seat: Seat
    tile: str
    riichi: bool = False
    called: bool = False


class Start(Struct, forbid_unknown_fields=True):
    """Where a hand stands. What is not told of a seat's tiles or points is believed later."""

    dealer: Seat = "east"
    turn: Seat | None = None
    phase: Phase = "draw"
    live: Number = LIVE_WALL
    hands: dict[Seat, tuple[str, ...]] = field(default_factory=dict)
    melds: dict[Seat, tuple[MeldLine, ...]] = field(default_factory=dict)
    discards: tuple[DiscardLine, ...] = ()
    points: dict[Seat, Score] = field(default_factory=dict)

    def board(self) -> Board:
        """Give the board. Raises RuleError where there can be none."""
        turn = self.turn or self.dealer
        if self.phase == "kan" or (self.phase == "claim" and (not self.discards or self.discards[-1].seat != turn)):
            raise RuleError("bad_start", "a hand starts at draw, hold, or claim with the turn's discard as the last")
        kans = tuple(seat for seat in SEATS for meld in self.melds.get(seat, ()) if meld.kind == "kan")
        hand = self.hands.get(turn, ())
        return begin(
            Board(
                dealer=self.dealer,
                turn=turn,
                phase=self.phase,
                live=self.live,
                owns=tuple(map(self._own, SEATS)),
                seen=tuple(Seen(AT[one.seat], kind_of(one.tile) and one.tile, one.riichi) for one in self.discards),
                drawn=hand[-1] if hand and self.phase == "hold" else "",
                kans=kans,
                indicators=1 + len(kans),
                unbroken=not any(self.melds.values()) and not any(one.called for one in self.discards),
            )
        )

    def _own(self, seat: Seat) -> Own:
        own = [one for one in self.discards if one.seat == seat]
        double = bool(own) and own[0].riichi
        return Own(
            melds=tuple(Meld(meld.kind, meld.tiles, meld.open) for meld in self.melds.get(seat, ())),
            concealed=self.hands.get(seat),
            points=self.points.get(seat),
            riichi="double_riichi" if double else "riichi" if any(one.riichi for one in own) else "",
            called=any(one.called for one in own),
        )


class CallLine(Action, frozen=True):
    """One of several calls on a tile, with its time in milliseconds from the discard."""

    ms: Milliseconds = 0


class Calls(Struct, forbid_unknown_fields=True):
    """Calls that were made on one tile."""

    calls: tuple[CallLine, ...]


def judged(start: str, steps: Iterable[Raw], profile: RiichiProfile) -> list[dict[str, Any]]:
    """Give the answer to each step. Raises RuleError where there is nothing to start from."""
    board = read_line(start, Start).board()
    rows = []
    for step in steps:
        refused: dict[Seat, str] = {}
        try:
            board = _after(board, bytes(step).decode(), profile, refused)
            rows.append(_row(board, None, refused))
        except RuleError as problem:
            rows.append(_row(board, problem.code, refused))
    return rows


def _after(board: Board, step: str, rules: RiichiProfile, refused: dict[Seat, str]) -> Board:
    """Apply a step, and tell whose calls were refused for what."""
    try:
        made = read_line(step, Calls).calls
    except RuleError:
        return apply(board, read_line(step, Action), rules)
    legal = []
    for line in made:
        call = Call(Action(line.do, line.seat, line.tile, line.tiles), line.ms)
        try:
            apply(board, call.action, rules)
            legal.append(call)
        except RuleError as problem:
            refused[call.seat] = problem.code
    came = settle(board.turn, legal, rules)
    refused.update(came.refused)
    return apply(board, came.action, rules)


def _row(board: Board, reason: str | None, refused: dict[Seat, str]) -> dict[str, Any]:
    """Tell where the hand stands after a step, or where it stays for a reason."""
    row: dict[str, Any] = {
        "legal": reason is None,
        "reason": reason,
        "turn": board.turn,
        "phase": board.phase,
        "live": board.live,
        "dead": DEAD_WALL,
        "indicators": board.indicators,
        "riichi": [seat for seat in SEATS if board.own(seat).riichi],
        "over": board.over,
        "situation": board.situation,
    }
    if refused:
        row["refused"] = refused
    if board.over == "exhaustive_draw":
        row["nagashi"] = nagashi(board)
    return row
