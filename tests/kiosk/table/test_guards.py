"""Guards stop a play before a tile is touched; when a self-test may run."""

import msgspec
import pytest

from broker.protocol import AT_THE_TABLE, SEATS, Assignment, Overridden, Restored, Result
from kiosk.table import (
    BEFORE_PLAY,
    IDLE,
    QUIET,
    Phase,
    Table,
    active_guards,
    handle,
    players_repeating,
)
from kiosk.table.events import (
    ArbiterAdmitted,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    DealBroughtForward,
    GuardOverridden,
    PauseRuled,
    SelfTestBegun,
    SelfTestEnded,
    TrayChecked,
)
from tests.kiosk.table.test_plan import for_others
from tests.kiosk.tables import S, Sitting, plan, play, right, sitting_in


def planned(assignment: Assignment) -> Sitting:
    sitting = Sitting()
    sitting.table = sitting_in(Phase.WAITING).table
    sitting.facts.clear()
    sitting.take(Assigned(at=sitting.wait(), assignment=assignment))
    return sitting


def second_play_of_deal_one() -> Sitting:
    """A plan made in haste: the table has deal 1 twice."""
    sitting = Sitting(play(1), play(2, deal=1))
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    return sitting


def override(sitting: Sitting) -> None:
    sitting.admit()
    sitting.take(GuardOverridden(at=sitting.wait(), reason="head arbiter says so"))


def test_a_deal_already_played_here_stops_the_play_until_the_arbiter_rules() -> None:
    sitting = second_play_of_deal_one()
    stopped = ("deal_played_here", "player_played_deal")
    assert active_guards(sitting.table) == stopped
    assert sitting.refusal(right(sitting.play, "east", sitting.wait())) == "deal_played_here"
    override(sitting)
    assert sitting.facts[-1] == Overridden(
        round=2, deal=1, guards=stopped, reason="head arbiter says so", author="Anne Arbiter"
    )
    sitting.restore()
    assert sitting.table.phase is Phase.CONFIRMING


def test_a_player_who_had_the_deal_elsewhere_stops_the_play() -> None:
    sitting = planned(msgspec.structs.replace(plan(play(1), play(2)), repeats={1: ("p03",), 2: ("p01",)}))
    assert (active_guards(sitting.table), players_repeating(sitting.table)) == (
        ("player_played_deal",),
        ("p03",),
    )


def test_a_player_who_plays_the_deal_elsewhere_later_stops_nothing() -> None:
    sitting = planned(msgspec.structs.replace(plan(play(1)), repeats={1: ("p77",)}))
    assert active_guards(sitting.table) == ()


def test_players_may_sit_down_at_a_stopped_play() -> None:
    sitting = second_play_of_deal_one()
    assert sitting.table.arrived == frozenset(SEATS)
    sitting.hold("east")
    assert sitting.table.calling


def test_without_a_guard_there_is_nothing_to_override() -> None:
    sitting = Sitting()
    assert sitting.refusal(GuardOverridden(at=sitting.wait(), reason="?")) == "arbiter_needed"
    sitting.admit()
    assert sitting.refusal(GuardOverridden(at=sitting.wait(), reason="?")) == "nothing_to_override"


def test_the_carrier_of_another_deal_is_recognised_at_its_first_tray() -> None:
    sitting = Sitting(play(1), play(2))
    sitting.take(right(play(2), "south", sitting.wait()))
    assert sitting.table.check is not None
    assert sitting.table.check.deal == 2


def test_a_faulty_tray_belongs_to_the_deal_of_most_of_its_places() -> None:
    """Seventeen places are enough; sixteen are not."""
    for same, deal in ((17, 2), (16, None)):
        sitting = Sitting(play(1), play(2))
        places = [serial for row in play(2).order["south"] for serial in row]
        read: list[int | None] = [*places[:same], *[None] * (34 - same)]
        rows = (tuple(read[:13]), tuple(read[13:24]), tuple(read[24:]))
        sitting.take(TrayChecked(at=sitting.wait(), seat="south", rows=rows))
        assert sitting.table.check is not None
        assert sitting.table.check.deal == deal


def test_a_tray_of_the_right_deal_with_one_fault_is_not_another_carriers() -> None:
    sitting = Sitting(play(1), play(2))
    (_, *hand), *walls = play(1).order["east"]
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=((None, *hand), *walls)))
    assert sitting.table.check is not None
    assert sitting.table.check.deal is None


def bring(sitting: Sitting, round_: int = 2) -> DealBroughtForward:
    return DealBroughtForward(at=sitting.wait(), round=round_, reason="its carrier is late")


def test_the_arbiter_may_bring_a_deal_forward_and_the_other_comes_after_it() -> None:
    sitting = Sitting(play(1), play(2), play(3))
    sitting.admit()
    sitting.take(bring(sitting))
    forward = Overridden(round=2, deal=2, guards=("out_of_order",), reason="its carrier is late", author="Anne Arbiter")
    assert sitting.facts[1:] == [forward]
    for _ in range(3):
        sitting.begin()
        sitting.draw()
        sitting.press(*SEATS)
        sitting.next_deal()
    assert sitting.table.phase is Phase.FINISHED
    results = [(fact.round, fact.deal) for fact in sitting.facts if isinstance(fact, Result)]
    assert results == [(2, 2), (1, 1), (3, 3)]
    assert [fact.round for fact in sitting.facts if isinstance(fact, Restored)] == [2, 1, 3]


def test_a_plan_renewed_after_a_deal_was_brought_forward_does_not_change_it() -> None:
    sitting = Sitting(play(1), play(2))
    sitting.admit()
    sitting.take(bring(sitting))
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    rewritten = plan(play(1), play(2, deal=9))
    assert sitting.refusal(Assigned(at=sitting.wait(), assignment=rewritten)) == "plan_rewrites_past"
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1, deal=5), play(2))))
    sitting.next_deal()
    assert sitting.play == play(1, deal=5)


@pytest.mark.parametrize(
    ("round_", "code"), [(1, "no_such_play"), (9, "no_such_play"), (2, "other_players"), (3, "deal_played_here")]
)
def test_only_a_later_play_of_the_same_four_can_be_brought_forward(round_: int, code: str) -> None:
    sitting = Sitting(play(1), for_others(2), play(3))
    sitting.admit()
    sitting.take(bring(sitting, 3))
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    sitting.next_deal()
    assert sitting.refusal(bring(sitting, round_)) == code


def test_a_play_recorded_from_another_device_is_not_brought_forward() -> None:
    sitting = Sitting(play(1), play(2), play(3))
    sitting.take(Assigned(at=sitting.wait(), assignment=plan(play(1), play(2), play(3), recorded=(3,), store="other")))
    sitting.admit()
    assert (sitting.play.round, sitting.refusal(bring(sitting, 3))) == (1, "deal_played_here")


def ruled(sitting: Sitting) -> Sitting:
    """Admit an arbiter."""
    sitting.take(ArbiterAdmitted(at=sitting.wait(), by=AT_THE_TABLE))
    return sitting


def running_in(phase: Phase) -> Sitting:
    """Start a self-test at an arbiter's request; a play is paused for it."""
    sitting = ruled(sitting_in(phase))
    if phase in QUIET:
        sitting.take(PauseRuled(at=sitting.wait(), begin=True))
    sitting.take(SelfTestBegun(at=sitting.wait(), asked=True))
    assert sitting.table.self_test == "running"
    return sitting


@pytest.mark.parametrize("phase", Phase)
def test_during_a_play_only_the_arbiter_may_ask_for_a_self_test(phase: Phase) -> None:
    sitting = sitting_in(phase)
    refused = sitting.refusal(SelfTestBegun(at=sitting.wait(), asked=True))
    assert refused == ("" if phase in IDLE else "arbiter_needed")


@pytest.mark.parametrize("phase", QUIET)
def test_during_a_play_the_arbiter_must_pause_first(phase: Phase) -> None:
    sitting = ruled(sitting_in(phase))
    assert sitting.refusal(SelfTestBegun(at=sitting.wait(), asked=True)) == "not_now"
    running_in(phase)


@pytest.mark.parametrize("phase", Phase)
def test_the_daily_self_test_starts_only_before_a_play(phase: Phase) -> None:
    sitting = sitting_in(phase)
    assert sitting.refusal(SelfTestBegun(at=sitting.wait())) == ("" if phase in BEFORE_PLAY else "not_now")


@pytest.mark.parametrize("phase", Phase)
def test_no_button_has_a_meaning_during_a_self_test(phase: Phase) -> None:
    sitting = running_in(phase)
    in_pause = "press_in_pause" if phase in QUIET else "press_in_test"
    for seat in SEATS:
        assert sitting.refusal(ButtonPressed(at=sitting.wait(), seat=seat)) == in_pause
        assert sitting.refusal(ButtonHeld(at=sitting.wait(), seat=seat)) == "press_in_test"


@pytest.mark.parametrize("phase", Phase)
def test_after_a_self_test_the_table_is_as_before(phase: Phase) -> None:
    sitting = running_in(phase)
    before = sitting.table
    sitting.take(SelfTestEnded(at=sitting.wait(), verdict="passed"))
    assert (before.self_test, sitting.table.self_test) == ("running", "passed")
    assert sitting.refusal(SelfTestEnded(at=sitting.wait(), verdict="passed")) == "not_now"
    assert {name for name in Table.__slots__ if getattr(before, name) != getattr(sitting.table, name)} == {"self_test"}


@pytest.mark.parametrize("phase", QUIET)
def test_a_resumed_play_ends_the_self_test(phase: Phase) -> None:
    """The desk can end the pause: then buttons declare, and the screen shows the play."""
    sitting = running_in(phase)
    sitting.take(PauseRuled(at=sitting.wait(), begin=False))
    assert sitting.table.self_test == "skipped"


def test_a_plan_that_arrives_during_a_self_test_is_accepted_and_the_test_goes_on() -> None:
    state, _ = handle(Table(), SelfTestBegun(at=S))
    state, _ = handle(state, Assigned(at=2 * S, assignment=plan(play(1))))
    assert (state.phase, state.self_test) == (Phase.RESTORING, "running")
