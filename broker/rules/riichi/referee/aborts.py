"""Hands that are broken off, and the fantastic discards (MONTREAL: all aborts, nine terminals that differ)."""

from typing import Final

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.board import MOST_KANS, Board, Over
from broker.rules.riichi.session.settings import AbortReason
from broker.rules.riichi.waits import ORPHANS, kind_of

NINE: Final = 9

WINDS: Final = frozenset({"1z", "2z", "3z", "4z"})


def after_pass(board: Board, rules: RiichiProfile) -> Over | None:
    """Give why a hand is broken off once nobody wants a discard, or None."""
    found: list[tuple[bool, AbortReason, Over]] = [
        (_four_winds(board), "four_winds", "four_winds"),
        (all(own.riichi for own in board.owns), "four_riichi", "four_riichi"),
        (len(board.kans) == MOST_KANS and len({*board.kans}) > 1, "four_kans", "four_kans"),
    ]
    return next((over for true, reason, over in found if true and reason in rules.session.draw.aborts.value), None)


def _four_winds(board: Board) -> bool:
    discards = [kind_of(one.tile) for one in board.seen]
    return board.unbroken and len(discards) == len(SEATS) and len({*discards}) == 1 and discards[0] in WINDS


def nine_terminals(board: Board, seat: Seat, rules: RiichiProfile) -> None:
    """Raise RuleError unless a seat may break the hand off for nine different terminals and honours."""
    if "nine_terminals" not in rules.session.draw.aborts.value:
        raise RuleError("abort_not_played", "nine terminals do not break a hand off under these rules")
    if not board.first_turn(seat) or board.extra != "drawn":
        raise RuleError("first_turn_over", f"{seat} has discarded, or somebody has called")
    held = board.own(seat).concealed
    if held is not None and len({kind_of(tile) for tile in held} & ORPHANS) < NINE:
        raise RuleError("not_nine_terminals", f"{seat} has fewer than {NINE} different terminals and honours")


def nagashi(board: Board) -> tuple[Seat, ...]:
    """Give those with nothing but terminals and honours discarded, none of them called, and no set or kan of their own.

    MONTREAL: no call of theirs or of their tiles, and no concealed kan either. Only an exhaustive draw asks.
    """
    return tuple(
        seat
        for seat in SEATS
        if (river := board.river(seat))
        and all(kind_of(tile) in ORPHANS for tile in river)
        and not board.own(seat).called
        and not board.own(seat).melds
    )
