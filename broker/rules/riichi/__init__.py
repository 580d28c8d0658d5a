"""Riichi, the second rule book: the value of a hand, its payments, the referee, and sessions."""

from broker.rules.deal import CommonWall, common_wall, wall_of
from broker.rules.riichi.events import (
    PLAYERS,
    ROUNDS,
    Abort,
    Chombo,
    DeadHand,
    ExhaustiveDraw,
    HandEnd,
    MinorFault,
    PlayerNo,
    PlayerPoints,
    Ron,
    RoundWind,
    SessionEnd,
    SessionEvent,
    SessionState,
    SessionWin,
    Tsumo,
    add_points,
    check_player,
    event_from_message,
    player_points,
    points_by_seat,
    standing_from_state,
    state_from_standing,
)
from broker.rules.riichi.names import (
    LANGUAGES,
    Language,
    ids_by_number,
    riichi_name,
)
from broker.rules.riichi.payments import EIGHT, wins_that_count
from broker.rules.riichi.points import (
    SEVEN_PAIRS_FU,
    WINNING_FU,
    Limit,
    PaidWin,
    RiichiPayments,
    possible_wins,
    refuse_impossible_win,
    riichi_payments,
)
from broker.rules.riichi.profile import (
    AbortReason,
    PointRules,
    RiichiProfile,
)
from broker.rules.riichi.session import RecordedEvent, SettledEvent, first_state, play_session, settle_event
