"""What holds of a hand of riichi whatever anybody tries."""

import re
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.referee.actions import DOES, Action
from broker.rules.riichi.referee.board import LIVE_WALL, Board
from broker.rules.riichi.referee.calls import Call, settle
from broker.rules.riichi.referee.turns import apply
from broker.rules.tiles import FULL_SET, KINDS
from tests.broker.rules.riichi.referee.playing import BASIC, MONTREAL, OPEN, TENHOU, holding

CODES: Final = (Path(__file__).parents[5] / "docs" / "codes.md").read_text(encoding="utf-8")
SECTION: Final = CODES.split("## broker/rules\n")[1].split("\n## ")[0]
DOCUMENTED: Final = frozenset(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))

SEAT = st.sampled_from(SEATS)
TILE = st.sampled_from(["1m", "2m", "3m", "5z", "1z"])
ACTIONS = st.builds(
    Action,
    st.sampled_from(DOES),
    st.none() | SEAT,
    st.none() | TILE,
    st.lists(TILE, max_size=2).map(tuple),
    st.lists(SEAT, max_size=3).map(tuple),
)
LIKELY = st.builds(Action, st.sampled_from(["draw", "discard", "no_call", "pon", "daiminkan", "ankan"]), SEAT, TILE)
TRIES = st.lists(ACTIONS | LIKELY, max_size=80)
RULES = st.sampled_from([MONTREAL, TENHOU, BASIC])


@given(TRIES, RULES)
def test_the_walls_and_indicators_hold_together_and_refusals_are_documented(
    tries: list[Action], rules: RiichiProfile
) -> None:
    board, draws = OPEN, 0
    for action in tries:
        try:
            came = apply(board, action, rules)
        except RuleError as refused:
            assert refused.code in DOCUMENTED  # noqa: PT017 - which code it is matters only here
            continue
        draws += action.do == "draw"
        assert came.live == LIVE_WALL - draws
        if came.over is None:
            assert came.indicators + came.to_turn == 1 + len(came.kans) <= 5
        board = came


def tried(board: Board, luck: Random, wall: list[str]) -> Board:
    """Do the first thing that is legal, of all that a seat may do with tiles that are known."""
    return next(came for action in candidates(board, luck, wall) if (came := after(board, action)) is not None)


def candidates(board: Board, luck: Random, wall: list[str]) -> list[Action]:
    if board.phase == "draw":
        return [Action("draw", board.turn, wall[-1])]
    held = list(board.own(board.turn).concealed or ())
    luck.shuffle(held)
    if board.phase == "hold":
        own = [Action(do, board.turn, tile) for tile in held for do in ("ankan", "shouminkan", "riichi", "discard")]
        return [Action("tsumo", board.turn), *own]
    others = [seat for seat in SEATS if seat != board.turn]
    calls = [Action(do, seat) for seat in others for do in ("daiminkan", "pon")]
    wanted = calls if luck.random() < 0.3 else []
    return [*(Action("ron", seats=(seat,)) for seat in others), *wanted, Action("no_call")]


def after(board: Board, action: Action) -> Board | None:
    try:
        return apply(board, action, TENHOU)
    except RuleError:
        return None


@pytest.mark.parametrize("seed", range(12))
def test_every_hand_that_is_played_with_known_tiles_ends_with_each_tile_in_one_place(seed: int) -> None:
    luck = Random(seed)
    mixed = list(FULL_SET)
    luck.shuffle(mixed)
    board = OPEN
    for seat in SEATS:
        board = holding(board, seat, "".join(mixed.pop() for _ in range(13)), points=25000)
    while board.over is None:
        drawing = board.live
        board = tried(board, luck, mixed)
        if board.live < drawing:
            mixed.pop()
    assert len(mixed) == 14 + board.live
    where = [tile for own in board.owns for tile in own.concealed or ()]
    where += [tile for own in board.owns for meld in own.melds for tile in meld.tiles]
    called = [meld for own in board.owns for meld in own.melds if meld.open]
    rivers = [tile for seat in SEATS for tile in board.river(seat)]
    # A claimed tile lies in the caller's set and counts as the discarder's too.
    assert len(where) + len(rivers) + len(mixed) == len(FULL_SET) + len(called)
    assert {*where} <= {*KINDS}


@given(st.integers(0, 60_000), st.integers(0, 60_000))
def test_of_equal_calls_the_nearest_has_precedence_in_time_and_afterwards_the_first(first: int, second: int) -> None:
    near, far = Call(Action("pon", "south"), first), Call(Action("pon", "north"), second)
    came = settle("east", [far, near], MONTREAL).action.seat
    in_time = max(first, second) <= MONTREAL.play.priority_ms.value
    assert came == ("south" if in_time or first <= second else "north")
