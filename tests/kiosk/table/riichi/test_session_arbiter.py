"""What an arbiter is, may and may not in a riichi session."""

import pytest

from kiosk.table.events import (
    Assigned,
    DeclarationsCorrected,
    Event,
    FalseHuRuled,
    LastTakenBack,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Reopened,
    SeatsSwapped,
    SessionStopped,
    ValueEntered,
)
from kiosk.table.state import Phase
from tests.kiosk.riichi_tables import RiichiSitting, riichi_in, session_plan


@pytest.fixture
def table() -> RiichiSitting:
    """Four people who have sat down."""
    sitting = RiichiSitting()
    sitting.begin()
    return sitting


def test_wrong_pins_stay_counted_and_the_arbiter_here_through_hands_take_backs_and_sessions(
    table: RiichiSitting,
) -> None:
    table.admit()
    for _ in range(4):
        table.take(PinRefused(at=table.wait()))
    locked = kept_of(table)
    table.ron("south", "west")
    table.record()
    table.next_deal()
    assert (table.session.hand, kept_of(table)) == (2, locked)
    table.take(LastTakenBack(at=table.wait()))
    assert (table.session.hand, kept_of(table)) == (1, locked)
    table.ron("south", "west")
    table.record()
    table.take(SessionStopped(at=table.wait()))
    table.take(Assigned(at=table.wait(), assignment=session_plan(round_=2)))
    assert (table.table.phase, kept_of(table)) == (Phase.CONFIRMING, locked)


def kept_of(table: RiichiSitting) -> tuple[str | None, int, int]:
    """Give what is known of the arbiter and the PIN."""
    return table.table.arbiter, table.table.pins_wrong, table.table.pin_wrong_at


AT = 10**12
OF_DUPLICATE: tuple[Event, ...] = (
    SeatsSwapped(at=AT, one="east", other="south", reason="why"),
    FalseHuRuled(at=AT, seat="south", imp=4, reason="why"),
    ValueEntered(at=AT, win="self_drawn", winners={"south": 8}),
    Reopened(at=AT, reason="why"),
    DeclarationsCorrected(at=AT, seats=("east",), reason="why"),
    PlayVoided(at=AT, reason="why"),
    PlayAdjusted(at=AT, at_fault=(), reason="why"),
)


@pytest.mark.parametrize("phase", [Phase.CONFIRMING, Phase.PLAYING, Phase.DECLARED, Phase.ACCEPTING, Phase.RECORDED])
@pytest.mark.parametrize("event", OF_DUPLICATE, ids=lambda event: type(event).__name__)
def test_what_is_ruled_on_a_duplicate_play_is_refused_in_a_session_and_loses_no_hand(
    event: Event, phase: Phase
) -> None:
    table = riichi_in(phase)
    table.admit()
    assert table.refusal(event) == "not_now"
