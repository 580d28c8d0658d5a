"""The arbiter at the table must be admitted first; orders of the desk are carried out once each, in order."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from broker.protocol import (
    AT_THE_TABLE,
    MOST_ORDERS_KEPT,
    SEATS,
    Adjusted,
    Call,
    Command,
    Fact,
    FineRuled,
    Left,
    LetIn,
    Order,
    Overridden,
    Paused,
    PinWrong,
    Reopen,
    Result,
    Ruled,
    Seat,
    TimeAdded,
    Void,
)
from broker.protocol.rulings import Measure
from kiosk.table import (
    Event,
    NotNow,
    Phase,
    Table,
    refuse_locked_pin,
)
from kiosk.table.arbiter import event_of_order
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    ButtonPressed,
    CallToggled,
    DeclarationsCorrected,
    ExtraTimeGiven,
    InfractionRuled,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Reopened,
    Restarted,
)
from tests.kiosk.tables import EVENT, TABLE, S, Sitting, play, sitting_in

AT = 10**12
RULINGS: tuple[Event, ...] = (
    PauseRuled(at=AT, begin=True),
    ExtraTimeGiven(at=AT, minutes=5),
    PlayVoided(at=AT, reason="why"),
    PlayAdjusted(at=AT, at_fault=(), reason="why"),
    DeclarationsCorrected(at=AT, seats=("east",), reason="why"),
    InfractionRuled(at=AT, seats=("east",), infraction="sound", measure="warning"),
)
HERE = [phase for phase in Phase if phase not in (Phase.WAITING, Phase.FINISHED)]


def ruled(decision: Void | Adjusted | FineRuled | Reopen, reason: str = "why", author: str = "Anne Arbiter") -> Ruled:
    return Ruled(round=1, deal=1, decision=decision, author=author, role="table_arbiter", reason=reason)


def with_arbiter(phase: Phase) -> Sitting:
    sitting = sitting_in(phase)
    sitting.admit()
    return sitting


@pytest.mark.parametrize("event", RULINGS, ids=lambda event: type(event).__name__)
def test_nobody_rules_before_admission_or_after_leaving(event: Event) -> None:
    sitting = sitting_in(Phase.PLAYING)
    assert sitting.refusal(event) == "arbiter_needed"
    sitting.admit()
    assert sitting.refusal(event) == ""
    sitting.take(ArbiterLeft(at=sitting.wait()))
    assert sitting.refusal(event) == "arbiter_needed"


def test_pause_and_extra_time_at_the_table_act_like_the_desks_and_are_reported() -> None:
    sitting = with_arbiter(Phase.PLAYING)
    sitting.take(PauseRuled(at=sitting.wait(), begin=True, reason="why"))
    sitting.take(PauseRuled(at=sitting.wait(), begin=True, reason="again"))
    sitting.take(ExtraTimeGiven(at=sitting.wait(), minutes=5, reason="late"))
    sitting.take(ExtraTimeGiven(at=sitting.wait(), minutes=10, reason="late"))
    assert (sitting.table.paused, sitting.table.extra_min) == (True, 15)
    sitting.take(PauseRuled(at=sitting.wait(), begin=False))
    assert not sitting.table.paused
    assert sitting.facts[-4:] == [
        Paused(round=1, deal=1, begin=True, author="Anne Arbiter", reason="why"),
        TimeAdded(round=1, deal=1, minutes=5, author="Anne Arbiter", reason="late"),
        TimeAdded(round=1, deal=1, minutes=10, author="Anne Arbiter", reason="late"),
        Paused(round=1, deal=1, begin=False, author="Anne Arbiter"),
    ]


def test_pauses_and_times_in_older_journals_are_replayed() -> None:
    sitting = with_arbiter(Phase.PLAYING)
    for line in (b'{"type":"pause_ruled","at":%d,"begin":true}', b'{"type":"extra_time_given","at":%d,"minutes":5}'):
        sitting.take(msgspec.json.decode(line % sitting.wait(), type=Event))
    assert (sitting.table.paused, sitting.table.extra_min) == (True, 5)


def test_orders_about_time_are_reported_in_the_desks_name() -> None:
    """The desk says in its reader's language that it gave the order."""
    sitting, why = sitting_in(Phase.PLAYING), ""
    assert sitting.order("pause") == (Paused(round=1, deal=1, begin=True, author="desk", reason=why),)
    assert sitting.order("pause") == ()
    assert sitting.order("resume") == (Paused(round=1, deal=1, begin=False, author="desk", reason=why),)
    added = TimeAdded(round=1, deal=1, minutes=3, author="desk", reason=why)
    assert sitting.order("extra_time", minutes=3) == (added,)


def test_admissions_departures_and_wrong_pins_are_reported() -> None:
    sitting = sitting_in(Phase.PLAYING)
    at: dict[str, Any] = {"round": 1, "deal": 1}
    tries = [sitting.take(PinRefused(at=sitting.wait())) for _ in range(2)]
    assert tries == [(PinWrong(tries=count, **at),) for count in (1, 2)]
    here = sitting.take(ArbiterAdmitted(at=sitting.wait(), by=AT_THE_TABLE))
    assert here == (LetIn(author=AT_THE_TABLE, by="pin", **at),)
    assert sitting.take(ArbiterLeft(at=sitting.wait())) == (Left(author=AT_THE_TABLE, **at),)
    assert sitting.order("admit") == (LetIn(author="desk", by="desk", **at),)
    assert sitting.take(PinRefused(at=sitting.wait())) == (PinWrong(tries=1, **at),)


@pytest.mark.parametrize(
    ("phase", "told"), [(Phase.WAITING, ()), (Phase.FINISHED, (PinWrong(round=2, deal=2, tries=1),))]
)
def test_between_plays_reports_name_the_last_play_if_there_was_one(phase: Phase, told: tuple[Fact, ...]) -> None:
    sitting = sitting_in(phase)
    assert sitting.take(PinRefused(at=sitting.wait())) == told


@pytest.mark.parametrize("phase", HERE)
def test_a_play_can_be_voided_at_any_time_and_the_next_deal_follows(phase: Phase) -> None:
    sitting = with_arbiter(phase)
    assert sitting.take(PlayVoided(at=sitting.wait(), reason="why")) == (ruled(Void()),)
    assert (sitting.table.phase, sitting.table.ruled, sitting.table.outcome) == (Phase.RECORDED, "void", None)
    sitting.next_deal()
    assert (sitting.table.phase, sitting.play) == (Phase.RESTORING, play(2))


@pytest.mark.parametrize(
    ("at_fault", "gives"),
    [
        ((), {"p01": "nobody", "p02": "nobody", "p03": "nobody", "p04": "nobody"}),
        (("west",), {"p01": "others", "p02": "others", "p03": "own", "p04": "others"}),
        (("east", "west"), {"p01": "own", "p02": "others", "p03": "own", "p04": "others"}),
    ],
)
def test_an_adjusted_play_awards_each_player_by_fault(at_fault: tuple[Seat, ...], gives: dict[str, str]) -> None:
    sitting = with_arbiter(Phase.PLAYING)
    (fact,) = sitting.take(PlayAdjusted(at=sitting.wait(), at_fault=at_fault, reason="why"))
    assert fact == ruled(msgspec.convert({"kind": "adjusted", "gives": gives}, Adjusted))


def test_a_fine_in_a_voided_play_stays() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.admit()
    told = sitting.take(PlayVoided(at=sitting.wait(), reason="why"))
    assert told == (ruled(Void()), ruled(FineRuled(takes={"p02": 8}), reason="not enough fan"))


def infraction(measure: Measure, imp: int = 0, what: str = "sound", seat: Seat = "west") -> InfractionRuled:
    return InfractionRuled(at=AT, seats=(seat,), infraction=what, measure=measure, imp=imp)


@pytest.mark.parametrize("phase", HERE)
@pytest.mark.parametrize(("measure", "imp"), [("warning", 0), ("fine", 4), ("fine", 8)])
def test_an_infraction_is_reported_and_leaves_the_play_as_it_is(phase: Phase, measure: Measure, imp: int) -> None:
    sitting = with_arbiter(phase)
    before = sitting.table
    told = sitting.take(infraction(measure, imp))
    decision = FineRuled(takes={"p03": imp}, measure=measure, infraction="sound")
    assert told == (ruled(decision, reason="Hu or its value told aloud"),)
    assert sitting.table == before


@pytest.mark.parametrize("strange", [infraction("fine", 5), infraction("dead_hand"), infraction("warning", 0, "spat")])
def test_an_infraction_or_penalty_that_the_rules_lack_is_refused(strange: InfractionRuled) -> None:
    sitting = with_arbiter(Phase.PLAYING)
    assert code_of(sitting, strange) == "fine_not_in_profile"


DEAD = infraction("dead_hand", 0, "false_call")


def test_a_dead_hand_can_no_longer_declare_in_its_play() -> None:
    sitting = with_arbiter(Phase.PLAYING)
    sitting.take(DEAD)
    assert code_of(sitting, ButtonPressed(at=AT + S, seat="west")) == "press_of_dead_hand"
    sitting.press("east")
    assert sitting.table.phase is Phase.CLAIMING


def test_the_declaration_of_a_dead_hand_is_dropped_and_the_play_goes_on() -> None:
    sitting = with_arbiter(Phase.PLAYING)
    sitting.declare("west")
    told = sitting.take(DEAD)
    assert [type(one) for one in told] == [Ruled, Overridden]
    assert (sitting.table.phase, sitting.table.declarations) == (Phase.PLAYING, ())


def test_a_dead_hand_that_pressed_silently_is_not_announced_and_wins_nothing() -> None:
    sitting = with_arbiter(Phase.PLAYING)
    sitting.press("west")
    others = sitting.table.declarations
    (told,) = sitting.take(DEAD)
    assert (isinstance(told, Ruled), sitting.table.declarations) == (True, others)
    sitting.close_window()
    with pytest.raises(NotNow) as refused:
        sitting.value(west=8)
    assert refused.value.code == "dead_hand_won"


def test_a_winner_cannot_be_ruled_dead_before_the_result_is_entered_again() -> None:
    sitting = with_arbiter(Phase.RECORDED)
    assert sitting.table.outcome
    winner, *_ = sitting.table.outcome.winners
    assert code_of(sitting, infraction("dead_hand", 0, "false_call", winner)) == "dead_hand_won"


def code_of(sitting: Sitting, event: Event) -> str:
    with pytest.raises(NotNow) as refused:
        sitting.take(event)
    return refused.value.code


def test_a_fine_reported_with_a_result_is_not_reported_again() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.draw()
    sitting.press(*SEATS)
    sitting.admit()
    assert sitting.take(PlayVoided(at=sitting.wait(), reason="why")) == (ruled(Void()),)


def recorded() -> Sitting:
    sitting = Sitting(play(1), play(2))
    sitting.declare("west")
    sitting.value("east", west=12)
    sitting.press(*SEATS)
    return sitting


def results(facts: list[Fact]) -> list[dict[Seat, int]]:
    return [fact.winners for fact in facts if isinstance(fact, Result)]


def test_a_reopened_result_stays_in_the_record_and_another_follows() -> None:
    sitting = recorded()
    sitting.admit()
    assert sitting.take(Reopened(at=sitting.wait(), reason="why")) == (ruled(Reopen()),)
    assert (sitting.table.phase, sitting.table.played) == (Phase.DECLARED, ())
    sitting.value("east", west=18)
    sitting.press(*SEATS)
    assert results(sitting.facts) == [{"west": 12}, {"west": 18}]
    assert [type(fact).__name__ for fact in sitting.facts if not isinstance(fact, LetIn)][-3:] == [
        "Result",
        "Ruled",
        "Result",
    ]
    assert len(sitting.table.played) == 1


def test_the_desk_reopens_a_result_in_its_own_name() -> None:
    sitting = recorded()
    assert sitting.order("reopen") == (ruled(Reopen(), reason="ordered by the desk", author="desk"),)
    assert (sitting.table.phase, sitting.table.arbiter) == (Phase.DECLARED, None)


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.RECORDED])
def test_a_play_without_a_result_cannot_be_reopened(phase: Phase) -> None:
    sitting = with_arbiter(phase)
    assert sitting.refusal(Reopened(at=sitting.wait(), reason="why")) == "not_now"
    refused = "next_deal_begun" if phase is Phase.FINISHED else "nothing_recorded"
    assert order_refused(sitting, "reopen") == refused


def order_refused(sitting: Sitting, command: Command, minutes: int = 0) -> str | None:
    """Return the code with which the desk's next order was refused, changing nothing else; None if it was not."""
    before, seq = sitting.table, sitting.table.last_order + 1
    order = Ordered(at=sitting.wait(), seq=seq, id=f"order-{seq:04}", command=command, minutes=minutes)
    facts, refused = sitting.take(order), sitting.table.refused_orders.get(seq)
    if refused is not None:
        assert facts == ()
        orders, codes = (*before.handled_orders, (seq, order.id)), {**before.refused_orders, seq: refused}
        assert sitting.table == replace(before, last_order=seq, handled_orders=orders, refused_orders=codes)
    return refused


def test_a_result_is_not_reopened_once_the_next_deal_has_begun() -> None:
    sitting = recorded()
    sitting.next_deal()
    assert order_refused(sitting, "reopen") == "next_deal_begun"
    sitting.begin()
    sitting.declare("south")
    assert order_refused(sitting, "reopen") == "next_deal_begun"
    sitting.value("east", south=9)
    sitting.press(*SEATS)
    assert results(sitting.facts) == [{"west": 12}, {"south": 9}]


def test_reopening_again_while_a_result_is_being_entered_changes_nothing() -> None:
    sitting = recorded()
    assert order_refused(sitting, "reopen") is None
    before = sitting.table
    assert order_refused(sitting, "reopen") is None
    assert sitting.table == replace(before, last_order=2, handled_orders=((1, "order-0001"), (2, "order-0002")))


def test_a_table_remembers_which_of_its_last_orders_it_refused() -> None:
    sitting = sitting_in(Phase.PLAYING)
    for number in range(MOST_ORDERS_KEPT + 2):
        sitting.take(Ordered(at=sitting.wait(), seq=number + 1, id=f"order-{number}", command="reopen"))
    assert sitting.table.refused_orders == dict.fromkeys(range(3, MOST_ORDERS_KEPT + 3), "nothing_recorded")


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.RECORDED, Phase.FINISHED])
def test_no_time_is_added_when_nothing_is_played(phase: Phase) -> None:
    assert order_refused(sitting_in(phase), "extra_time", 5) == "no_play"


def test_a_voided_play_has_nothing_to_reopen() -> None:
    sitting = recorded()
    sitting.admit()
    sitting.take(PlayVoided(at=sitting.wait(), reason="why"))
    assert sitting.refusal(Reopened(at=sitting.wait(), reason="why")) == "nothing_recorded"
    assert order_refused(sitting, "reopen") == "nothing_recorded"


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CLAIMING, Phase.DECLARED, Phase.ACCEPTING])
def test_declarations_can_be_corrected_and_are_reported(phase: Phase) -> None:
    sitting = with_arbiter(phase)
    (fact,) = sitting.take(DeclarationsCorrected(at=sitting.wait(), seats=("south",), reason="the button failed"))
    assert fact == Overridden(
        round=1, deal=1, guards=("declarations_corrected",), reason="south: the button failed", author="Anne Arbiter"
    )
    sitting.value("east", south=9)
    sitting.press(*SEATS)
    assert results(sitting.facts) == [{"south": 9}]


def test_if_nobody_declared_after_all_the_play_goes_on() -> None:
    sitting = with_arbiter(Phase.DECLARED)
    sitting.take(DeclarationsCorrected(at=sitting.wait(), seats=(), reason="why"))
    assert (sitting.table.phase, sitting.table.declarations) == (Phase.PLAYING, ())


def test_neither_a_dead_hand_nor_a_seat_twice_can_be_declared() -> None:
    sitting = Sitting()
    sitting.declare("south")
    sitting.false_hu("south")
    sitting.admit()
    dead = DeclarationsCorrected(at=AT, seats=("south",), reason="why")
    assert sitting.refusal(dead) == "press_of_dead_hand"
    assert sitting.refusal(msgspec.structs.replace(dead, seats=("east", "east"))) == "press_again"


def test_the_desk_admits_an_arbiter_who_stays_until_leaving() -> None:
    sitting = sitting_in(Phase.RECORDED)
    sitting.order("admit")
    sitting.next_deal()
    assert sitting.table.arbiter == "desk"


def locked(sitting: Sitting, now: int) -> str:
    try:
        refuse_locked_pin(sitting.table, now)
    except NotNow as refused:
        return refused.code
    return ""


@pytest.mark.parametrize(("wrong", "wait_s"), [(1, 0), (2, 0), (3, 60), (4, 120), (5, 240), (9, 3600), (99, 3600)])
def test_wrong_pins_make_the_next_one_wait(wrong: int, wait_s: int) -> None:
    sitting = Sitting()
    for _ in range(wrong):
        sitting.take(PinRefused(at=sitting.now))
    last = sitting.now
    assert locked(sitting, last + wait_s * S) == ""
    if wait_s:
        assert locked(sitting, last + wait_s * S - 1) == "pin_locked"


def test_a_power_cycle_saves_no_waiting_and_a_right_pin_ends_it() -> None:
    sitting = Sitting()
    for _ in range(3):
        sitting.take(PinRefused(at=sitting.now))
    sitting.take(Restarted(at=5))
    assert (locked(sitting, 5 + 60 * S - 1), locked(sitting, 5 + 60 * S)) == ("pin_locked", "")
    sitting.admit()
    assert locked(sitting, 5) == ""


def ordered(sitting: Sitting, seq: int, command: Command, minutes: int = 0) -> tuple[object, ...]:
    return tuple(sitting.take(Ordered(at=sitting.wait(), seq=seq, command=command, minutes=minutes)))


@pytest.mark.parametrize("phase", Phase)
def test_a_table_is_paused_and_resumed_in_every_phase_without_leaving_it(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before = sitting.table
    ordered(sitting, 7, "pause")
    assert (sitting.table.phase, sitting.table.paused, sitting.table.last_order) == (phase, True, 7)
    ordered(sitting, 8, "resume")
    assert (sitting.table.phase, sitting.table.paused, sitting.table.play) == (phase, False, before.play)


def test_clearing_a_call_is_reported_as_a_fact() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    assert ordered(sitting, 1, "clear_call") == (Call(round=1, deal=1, open=False),)
    assert sitting.table.calling is False


def test_a_repeated_or_outdated_order_is_ignored() -> None:
    sitting = sitting_in(Phase.PLAYING)
    ordered(sitting, 5, "clear_call")
    sitting.take(CallToggled(at=sitting.wait(), open=True))
    ordered(sitting, 5, "clear_call")
    ordered(sitting, 4, "pause")
    assert (sitting.table.calling, sitting.table.paused) == (True, False)


def test_a_table_remembers_its_last_orders_in_the_next_play_too() -> None:
    sitting = sitting_in(Phase.RECORDED)
    for seq in range(1, MOST_ORDERS_KEPT + 3):
        order = Order(id=f"order-{seq:04}", event=EVENT, table=TABLE, seq=seq, command="quiet_light", author="Anne")
        sitting.take(event_of_order(order, sitting.wait()))
    last = tuple((seq, f"order-{seq:04}") for seq in range(3, MOST_ORDERS_KEPT + 3))
    sitting.next_deal()
    assert sitting.table.handled_orders == last


def test_a_call_still_open_after_the_last_play_can_be_cleared() -> None:
    sitting = sitting_in(Phase.FINISHED)
    sitting.table = replace(sitting.table, calling=True, discreet=True)
    assert ordered(sitting, 1, "clear_call") == (Call(round=2, deal=2, open=False),)
    assert (sitting.table.calling, sitting.table.discreet) == (False, False)


def test_an_order_in_an_older_journal_is_known_by_its_number_only() -> None:
    sitting = sitting_in(Phase.PLAYING)
    ordered(sitting, 5, "pause")
    assert (sitting.table.last_order, sitting.table.handled_orders) == (5, ())


def test_without_a_play_there_is_no_call_to_clear() -> None:
    sitting = sitting_in(Phase.FINISHED)
    assert ordered(sitting, 1, "clear_call") == ()
    assert sitting.table.last_order == 1


def test_extra_time_adds_up_within_one_play() -> None:
    sitting = sitting_in(Phase.ACCEPTING)
    ordered(sitting, 1, "extra_time", 5)
    ordered(sitting, 2, "extra_time", 3)
    assert sitting.table.extra_min == 8
    sitting.press(*SEATS)
    ordered(sitting, 3, "pause")
    sitting.next_deal()
    assert (sitting.table.extra_min, sitting.table.paused, sitting.table.last_order) == (0, True, 3)


@pytest.mark.parametrize("phase", Phase)
def test_the_light_ordered_by_the_desk_stays_through_all_phases_and_the_next_play(phase: Phase) -> None:
    sitting = sitting_in(phase)
    before = sitting.table
    assert ordered(sitting, 1, "quiet_light") == ()
    assert sitting.table == replace(before, light="quiet", last_order=1)
    if phase is Phase.RECORDED:
        sitting.next_deal()
        assert (sitting.table.light, sitting.table.last_order) == ("quiet", 1)
    ordered(sitting, 2, "normal_light")
    assert sitting.table.light == "normal"


def test_a_table_begins_without_any_order() -> None:
    assert (Table().paused, Table().extra_min, Table().last_order) == (False, 0, 0)
