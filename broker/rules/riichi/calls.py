"""Calls and kans (RIICHI-PLAY, "Voler une tuile"): chii, pon, kan, and which call takes precedence.

The indicator of an open kan is turned late (MONTREAL). Calls on one tile have time limits: 0.5 s, and 3 s for a ron
(MONTREAL). Kuikae, discarding a tile that would have completed the same set, is forbidden by some house rules
(RIICHI-PLAY, note B).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from broker.errors import RuleError
from broker.protocol import Seat
from broker.rules.deal import NEXT_SEAT, SEAT_INDEX, acting_seat, seat_in_turn, turns_between
from broker.rules.riichi.board import (
    MOST_KANS,
    ActionKind,
    Board,
    RiichiAction,
    SeatBoard,
    abort_after_pass,
    check_sets_left,
    with_meld,
    with_seat,
    without_tiles,
)
from broker.rules.riichi.hand import RiichiHandMeld
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.waits import PassedTile, riichi_waits, tile_kind

KuikaeRule = Literal["allowed", "same_tile", "forbidden"]


def kuikae_tiles(meld: RiichiHandMeld, claimed: str, rule: KuikaeRule) -> frozenset[str]:
    """Return the tiles that may not be discarded straight after a call.

    `same_tile`: the claimed one. `forbidden`: also the tile at the other end, which would have made the same chii with
    the two tiles of the hand: with 23 in hand, a player who claims 4 must not discard 1.
    """
    if rule == "allowed" or meld.kind == "kan":
        return frozenset()
    tile = tile_kind(claimed)
    if rule == "same_tile" or meld.kind == "pon":
        return frozenset({tile})
    ranks = sorted(int(tile_kind(one)[0]) for one in meld.tiles)
    rank, suit = int(tile[0]), tile[1]
    other = {ranks[0]: rank + 3, ranks[2]: rank - 3}.get(rank, 0)
    return frozenset({tile} | ({f"{other}{suit}"} if 1 <= other <= 9 else set()))  # noqa: PLR2004 - ranks


def check_kan_limits(board: Board) -> None:
    """Raise RuleError if nobody can make a kan: after the fourth, or without a tile to replace it."""
    if len(board.kans) == MOST_KANS:
        raise RuleError("fifth_kan", f"{MOST_KANS} kans have been made; there is no tile for another")
    if not board.live:
        raise RuleError("kan_without_wall", "the last tile has been drawn, so no kan can be replaced")


def declare_ankan(board: Board, action: RiichiAction, _: RiichiProfile) -> Board:
    """Lay down four of one's own tiles. Only thirteen orphans may rob them."""
    seat, kind = _own_kan(board, action)
    player = board.player(seat)
    check_sets_left(player, seat)
    if player.riichi:
        _refuse_changed_waits(board, player, kind)
    after = with_meld(player, RiichiHandMeld("kan", (kind,) * 4, open=False), (kind,) * 4)
    return _offer_kan(board, seat, after, PassedTile(SEAT_INDEX[seat], kind, kan="concealed"))


def declare_shouminkan(board: Board, action: RiichiAction, _: RiichiProfile) -> Board:
    """Add the fourth tile to an open pon."""
    seat, kind = _own_kan(board, action)
    player = board.player(seat)
    pons = [meld for meld in player.melds if meld.kind == "pon" and tile_kind(meld.tiles[0]) == kind]
    if not pons:
        raise RuleError("tiles_missing", f"{seat} has no open pon of {kind}")
    added = RiichiHandMeld("kan", (*pons[0].tiles, kind))
    melds = tuple(added if meld is pons[0] else meld for meld in player.melds)
    return _offer_kan(
        board,
        seat,
        replace(player, concealed=without_tiles(player, (kind,)), melds=melds),
        PassedTile(SEAT_INDEX[seat], kind, kan="added"),
    )


def form_kan(board: Board, rules: RiichiProfile) -> Board:
    """Register the kan that lies open, since nobody robbed it. A robbed kan never counts (MONTREAL, chankan)."""
    open_ = board.seen[-1].kan == "added"
    without_ippatsu = tuple(replace(player, ippatsu=False) for player in board.players)
    return count_kan(replace(board, players=without_ippatsu, no_calls_yet=False), board.turn, rules, open_=open_)


def count_kan(board: Board, seat: Seat, rules: RiichiProfile, *, open_: bool) -> Board:
    """Turn the indicators that are due, and turn or schedule the one of this kan."""
    late = open_ and rules.play.open_kan_dora.value == "with_discard"
    turned = board.indicators + board.indicators_due + (0 if late else 1)
    return replace(board, kans=(*board.kans, seat), indicators=turned, indicators_due=1 if late else 0)


def _own_kan(board: Board, action: RiichiAction) -> tuple[Seat, str]:
    """Return the seat that makes a kan, and the tile of the kan."""
    seat, tile = seat_in_turn(board.turn, action), action.tile
    if tile is None:
        raise RuleError("tile_missing", f"{seat} makes a kan: of which tile?")
    if board.extra == "claimed":
        raise RuleError("kong_after_claim", f"{seat} has claimed a tile, not drawn one, and must discard")
    check_kan_limits(board)
    return seat, tile_kind(tile)


def _refuse_changed_waits(board: Board, player: SeatBoard, kind: str) -> None:
    """Raise RuleError if a kan in riichi is not of the drawn tile, or changes the waits of the hand."""
    if board.drawn and tile_kind(board.drawn) != kind:
        raise RuleError("drawn_tile_only", "in riichi a kan is made of the drawn tile")
    if player.concealed is None:
        return
    melds = [meld.tiles for meld in player.melds]
    before = riichi_waits(player.concealed[:-1], melds)
    after = riichi_waits(without_tiles(player, (kind,) * 4) or (), [*melds, (kind,) * 4])
    if before != after:
        raise RuleError("kan_changes_waits", f"a kan of {kind} would change what the hand in riichi waits for")


def _offer_kan(board: Board, seat: Seat, player: SeatBoard, kan: PassedTile) -> Board:
    players = with_seat(board, seat, player)
    return replace(board, phase="kan", extra="replacement", players=players, seen=(*board.seen, kan), drawn="")


def call_chii(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Claim the previous player's discard for a run."""
    seat, used = _caller(board, action, rules), action.tiles
    if seat != NEXT_SEAT[board.turn]:
        raise RuleError("chow_not_next", f"{seat} does not sit next after {board.turn}")
    return _after_call(board, seat, RiichiHandMeld("chii", (*used, board.offered)), used, rules)


def call_pon(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Claim a discard for three alike."""
    seat = _caller(board, action, rules)
    tiles = action.tiles or (tile_kind(board.offered),) * 2
    return _after_call(board, seat, RiichiHandMeld("pon", (*tiles, board.offered)), tiles, rules)


def call_daiminkan(board: Board, action: RiichiAction, rules: RiichiProfile) -> Board:
    """Claim a discard for four alike. It cannot complete an open pon (RIICHI-PLAY)."""
    seat = _caller(board, action, rules)
    check_kan_limits(board)
    tile = tile_kind(board.offered)
    if any(meld.kind == "pon" and tile_kind(meld.tiles[0]) == tile for meld in board.player(seat).melds):
        raise RuleError("kan_of_open_pon", f"{seat} has an open pon of {tile}, which only a drawn tile completes")
    after = _after_call(board, seat, RiichiHandMeld("kan", (tile,) * 4), (tile,) * 3, rules)
    return count_kan(replace(after, phase="draw", extra="replacement", forbidden=frozenset()), seat, rules, open_=True)


def _caller(board: Board, action: RiichiAction, rules: RiichiProfile) -> Seat:
    """Return the calling seat. Raises RuleError if it may not call."""
    seat = acting_seat(action)
    if seat == board.turn:
        raise RuleError("own_discard", f"{seat} has discarded this tile")
    if not board.live or abort_after_pass(board, rules):
        raise RuleError("last_discard", "the last discard of a hand can only be won on")
    if board.player(seat).riichi:
        raise RuleError("call_in_riichi", f"{seat} is in riichi")
    check_sets_left(board.player(seat), seat)
    return seat


def _after_call(board: Board, seat: Seat, meld: RiichiHandMeld, used: Sequence[str], rules: RiichiProfile) -> Board:
    """Move the turn to the caller, skipping the seats between. A call ends all ippatsu and first turns."""
    discarder = replace(board.player(board.turn), discard_called=True)
    players = with_seat(
        replace(board, players=with_seat(board, board.turn, discarder)), seat, with_meld(board.player(seat), meld, used)
    )
    barred = kuikae_tiles(meld, board.offered, rules.play.kuikae.value)
    return replace(
        board,
        turn=seat,
        phase="hold",
        extra="claimed",
        players=tuple(replace(player, ippatsu=False) for player in players),
        no_calls_yet=False,
        forbidden=_refuse_if_no_discard_left(barred, players[SEAT_INDEX[seat]].concealed),
    )


def _refuse_if_no_discard_left(barred: frozenset[str], left: Sequence[str] | None) -> frozenset[str]:
    """Return the forbidden discards. A call after which nothing could be discarded is refused."""
    if left is not None and left and not Counter(tile_kind(tile) for tile in left).keys() - barred:
        raise RuleError("kuikae", "after this call no tile could be discarded")
    return barred


PRECEDENCE: Final[Mapping[ActionKind, int]] = {"ron": 0, "pon": 1, "daiminkan": 1, "chii": 2}
"""Ron goes before pon and kan, which go before chii (RIICHI-PLAY)."""

RefusalReason = Literal["too_late", "other_call"]


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call and its time, in milliseconds from the discard (taken at the edge of the seat's button)."""

    action: RiichiAction
    ms: int

    @property
    def seat(self) -> Seat:
        """The calling seat. Raises RuleError `seat_missing`."""
        if self.action.seat is None:
            raise RuleError("seat_missing", f"{self.action.do}: whose?")
        return self.action.seat


@dataclass(frozen=True, slots=True)
class SettledCalls:
    """The action that results from the calls on a tile (`no_call` for none), and why each other call was refused."""

    action: RiichiAction
    refused: Mapping[Seat, RefusalReason]


def settle_calls(discarder: Seat, calls: Iterable[TimedCall], rules: RiichiProfile) -> SettledCalls:
    """Return what the calls result in, in whatever order they are given.

    A ron is accepted until `ron_ms`, and several of them as the rules say. Of the other calls, the one with the highest
    precedence wins among those made until `priority_ms`; if there are none, the earliest call wins. A player may turn a
    call into a ron in time (MONTREAL, note 1). Each call must already be legal by itself. Raises RuleError
    `not_a_claim`, `seat_missing`, `own_discard`, `claimed_twice` or `time_negative`.
    """
    made = tuple(calls)
    _check_calls(discarder, made)
    in_time = [call for call in made if call.action.do == "ron" and call.ms <= rules.play.ron_ms.value]
    if in_time:
        return _settle_ron(discarder, made, in_time, rules)
    others = [call for call in made if call.action.do != "ron"]
    if not others:
        return SettledCalls(RiichiAction("no_call"), {call.seat: "too_late" for call in made})
    prompt = [call for call in others if call.ms <= rules.play.priority_ms.value]
    if prompt:
        first = min(prompt, key=lambda call: (PRECEDENCE[call.action.do], turns_between(discarder, call.seat)))
    else:
        first = min(others, key=lambda call: (call.ms, PRECEDENCE[call.action.do], turns_between(discarder, call.seat)))
    return SettledCalls(
        first.action, {call.seat: _why_refused(call, first) for call in made if call.seat != first.seat}
    )


def _settle_ron(
    discarder: Seat, made: tuple[TimedCall, ...], ron: list[TimedCall], rules: RiichiProfile
) -> SettledCalls:
    seats = sorted((call.seat for call in ron), key=lambda seat: turns_between(discarder, seat))
    winners = seats[:1] if rules.session.ron.several.value == "nearest" else seats
    refused: dict[Seat, RefusalReason] = {}
    for call in made:
        if call.seat not in winners:
            refused[call.seat] = "too_late" if call.action.do == "ron" and call not in ron else "other_call"
    return SettledCalls(RiichiAction("ron", seats=tuple(winners)), refused)


def _why_refused(call: TimedCall, first: TimedCall) -> RefusalReason:
    late = call.action.do == "ron" or PRECEDENCE[call.action.do] < PRECEDENCE[first.action.do]
    return "too_late" if late else "other_call"


def _check_calls(discarder: Seat, made: tuple[TimedCall, ...]) -> None:
    for call in made:
        if call.action.do not in PRECEDENCE:
            raise RuleError("not_a_claim", f"{call.action.do} calls no tile")
        if call.seat == discarder:
            raise RuleError("own_discard", f"{discarder} has discarded this tile")
        if call.ms < 0:
            raise RuleError("time_negative", f"{call.ms} ms: no call comes before the discard")
    declared = [(call.seat, call.action.do == "ron") for call in made]
    if len({*declared}) < len(declared):
        raise RuleError("claimed_twice", "each seat may call once, and may turn the call into a ron")
