"""A riichi session at a table, hand after hand: what holds in every session, and the arbiter's part in it."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.protocol import SEATS, RiichiEvent, RiichiRecorded, RiichiStanding, RiichiTakenBack, RiichiWin, Seat
from broker.rules.riichi import event_from_message, first_state, settle_event
from kiosk.table import (
    Event,
    Phase,
    Table,
    handle,
)
from kiosk.table.events import (
    Assigned,
    ButtonPressed,
    DeclarationsCorrected,
    DepositLaid,
    FalseHuRuled,
    HandEntered,
    LastTakenBack,
    Ordered,
    PinRefused,
    PlayAdjusted,
    PlayVoided,
    Reopened,
    Restarted,
    ResultRefused,
    SeatsSwapped,
    SessionStopped,
    ValueEntered,
)
from tests.examples import COSTLY
from tests.kiosk.riichi_tables import RiichiSitting, fu30, riichi_in, session_plan
from tests.kiosk.tables import plan, play


@pytest.fixture
def table() -> RiichiSitting:
    """Four people who have sat down."""
    sitting = RiichiSitting()
    sitting.begin()
    return sitting


def test_a_table_plays_riichi_where_its_plan_has_a_session() -> None:
    sitting = RiichiSitting()
    assert (sitting.table.phase, sitting.scores) == (Phase.CONFIRMING, (25_000,) * 4)
    sitting.begin()
    assert (sitting.table.phase, sitting.table.claim_ms) == (Phase.PLAYING, 3000)


def test_a_ron_is_valued_accepted_by_four_and_reported_with_the_sessions_standing(table: RiichiSitting) -> None:
    table.ron("south", "west")
    assert table.table.phase is Phase.ACCEPTING
    table.record()
    fact = table.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    assert fact.deltas == {"east": 0, "south": 3900, "west": -3900, "north": 0}
    assert (fact.entry, fact.deal, fact.standing.hand, fact.standing.dealer) == (1, 1, 2, "south")
    table.next_deal()
    assert (table.table.phase, table.session.hand) == (Phase.PLAYING, 2)


def test_a_long_press_lays_a_deposit_that_shows_at_once_and_claims_nothing(table: RiichiSitting) -> None:
    table.hold("north")
    assert (table.table.phase, table.session.riichi) == (Phase.PLAYING, ("north",))
    assert table.scores == (25_000, 25_000, 25_000, 24_000)
    assert table.table.calling is False


def test_a_long_press_during_a_claim_lays_its_deposit_and_leaves_the_claim(table: RiichiSitting) -> None:
    table.press("south")
    table.hold("east")
    assert (table.table.phase, table.session.riichi) == (Phase.CLAIMING, ("east",))
    table.close_window()
    assert [one.seat for one in table.table.declarations] == ["south"]


def test_at_a_result_a_long_press_calls_the_arbiter_and_declares_no_riichi(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.hold("east")
    assert (table.table.calling, table.session.riichi) == (True, ())


def test_a_deposit_can_be_laid_and_taken_back_on_the_screen(table: RiichiSitting) -> None:
    table.take(DepositLaid(at=table.wait(), seat="east", laid=True))
    table.take(DepositLaid(at=table.wait(), seat="east", laid=False))
    assert (table.session.riichi, table.scores) == ((), (25_000,) * 4)


def test_a_seat_with_less_than_a_deposit_cannot_declare_riichi() -> None:
    poor = RiichiStanding(
        hand=5,
        round_wind="south",
        dealer="east",
        counters=0,
        deposits=0,
        scores={"east": 900, "south": 33_000, "west": 33_000, "north": 33_100},
    )
    table = RiichiSitting(session_plan(standing=poor))
    table.begin()
    assert table.refusal(DepositLaid(at=table.wait(), seat="east", laid=True)) == "riichi_without_points"
    table.hold("east")
    assert table.session.riichi == ()


def test_a_riichi_whose_declaration_tile_was_won_on_is_void(table: RiichiSitting) -> None:
    table.hold("west")
    table.ron("south", "west", on_riichi_tile=True)
    table.record()
    assert table.scores == (25_000, 28_900, 21_100, 25_000)


def test_any_other_deposit_goes_to_the_winner(table: RiichiSitting) -> None:
    table.hold("west")
    table.ron("south", "west")
    table.record()
    assert tuple(table.session.state.scores) == (25_000, 29_900, 20_100, 25_000)


def test_two_ron_are_both_valued_and_three_abort_the_hand(table: RiichiSitting) -> None:
    table.declare("south", "north")
    table.tell("ron", wins={"south": fu30(1), "north": fu30(2)}, loser="west")
    table.record()
    assert tuple(table.session.state.scores) == (25_000, 26_000, 22_000, 27_000)
    table.next_deal()
    table.declare("south", "north", "east")
    table.tell("ron", wins={seat: fu30(1) for seat in ("south", "north", "east")}, loser="west")
    table.record()
    assert tuple(table.session.state.scores) == (25_000, 26_000, 22_000, 27_000)


def test_if_only_the_nearest_wins_the_window_takes_all_claims_and_one_is_paid() -> None:
    table = RiichiSitting(session_plan(profile="riichi-basic"))
    table.begin()
    table.declare("south", "north")
    table.tell("ron", wins={"south": fu30(1), "north": fu30(2)}, loser="west")
    table.record()
    assert tuple(table.session.state.scores) == (25_000, 25_000, 23_000, 27_000)


def test_a_tsumo_is_paid_by_all(table: RiichiSitting) -> None:
    table.declare("east")
    table.tell("tsumo", wins={"east": RiichiWin(han=3, fu=30)})
    table.record()
    assert tuple(table.session.state.scores) == (31_000, 23_000, 23_000, 23_000)


def test_only_those_who_declared_can_win(table: RiichiSitting) -> None:
    table.declare("south")
    wrong = RiichiEvent(kind="ron", wins={"north": fu30(1)}, loser="west")
    assert table.refusal(HandEntered(at=table.wait(), told=wrong)) == "winners_differ"


def test_in_a_drawn_hand_each_seat_declares_tenpai_and_riichi_already_counts_as_tenpai(table: RiichiSitting) -> None:
    table.hold("west")
    table.draw()
    assert (table.table.phase, table.table.hand.asks_tenpai) == (Phase.DECLARED, True)
    table.press("east", "south", "south", "west")
    assert table.table.hand.tenpai == {"east", "west"}
    table.tell("draw")
    table.record()
    assert tuple(table.session.state.scores) == (26_500, 23_500, 25_500, 23_500)
    assert table.session.state.deposits == 1


def test_a_nagashi_replaces_tenpai(table: RiichiSitting) -> None:
    table.draw()
    table.wait()
    table.tell("draw", nagashi=["south"])
    table.record()
    assert tuple(table.session.state.scores) == (21_000, 33_000, 23_000, 23_000)


@pytest.mark.parametrize("reason", ["nine_terminals", "four_winds", "four_riichi", "four_kans"])
def test_a_hand_is_aborted_only_after_winners_could_press(table: RiichiSitting, reason: str) -> None:
    table.tell("abort", reason=reason)
    assert table.table.phase is Phase.CLAIMING
    table.close_window()
    table.record()
    assert (table.session.state.dealer, table.session.state.counters) == (0, 1)


def test_a_win_comes_before_a_reported_end_of_the_hand(table: RiichiSitting) -> None:
    table.press("south")
    table.tell("abort", reason="four_winds")
    table.close_window()
    assert (table.table.phase, table.table.hand.ending) == (Phase.DECLARED, None)


def test_a_chombo_pays_a_reversed_mangan_and_returns_deposits(table: RiichiSitting) -> None:
    table.hold("north")
    table.tell("chombo", offenders=["south"])
    table.close_window()
    table.record()
    assert tuple(table.session.state.scores) == (29_000, 17_000, 27_000, 27_000)


def test_a_false_declaration_is_a_chombo(table: RiichiSitting) -> None:
    table.declare("east")
    table.tell("chombo", offenders=["east"])
    table.record()
    assert (tuple(table.session.state.scores), table.session.state.dealer) == ((13_000, 29_000, 29_000, 29_000), 1)


def test_a_minor_fault_costs_a_deposit_and_the_hand_goes_on(table: RiichiSitting) -> None:
    table.tell("minor_fault", offenders=["south"])
    assert (table.table.phase, table.session.hand, table.session.deposits) == (Phase.PLAYING, 1, 1)
    assert table.scores == (25_000, 24_000, 25_000, 25_000)


def test_a_minor_fault_after_a_declaration_leaves_it_to_be_valued(
    table: RiichiSitting,
) -> None:
    table.declare("south")
    table.tell("minor_fault", offenders=["north"])
    assert (table.table.phase, table.scores[3]) == (Phase.DECLARED, 24_000)
    table.tell("ron", wins={"south": fu30(3)}, loser="west")
    table.record()
    assert tuple(table.session.state.scores) == (25_000, 29_900, 21_100, 24_000)


def test_a_minor_fault_in_a_drawn_hand_keeps_the_declared_tenpai(table: RiichiSitting) -> None:
    table.draw()
    table.press("south")
    table.tell("minor_fault", offenders=["north"])
    hand = table.table.hand
    assert (table.table.phase, hand.asks_tenpai, [*hand.tenpai]) == (Phase.DECLARED, True, ["south"])
    table.tell("draw")
    table.record()
    assert tuple(table.session.state.scores) == (24_000, 28_000, 24_000, 23_000)


def test_a_minor_fault_after_a_hand_shows_its_payment_and_taken_back_that_of_the_hand(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    hand = table.table.hand.result, table.session.settled
    table.tell("minor_fault", offenders=["north"])
    fault = RiichiEvent(kind="minor_fault", offenders=("north",))
    assert table.table.hand.result == fault
    table.take(LastTakenBack(at=table.wait()))
    assert (table.table.phase, table.table.hand.result, table.session.settled) == (Phase.RECORDED, *hand)
    table.next_deal()
    assert (table.table.phase, table.session.hand) == (Phase.PLAYING, 2)


def test_the_last_entry_can_be_taken_back_and_the_hand_entered_again(table: RiichiSitting) -> None:
    table.hold("west")
    table.ron("south", "west")
    table.record()
    table.next_deal()
    table.take(LastTakenBack(at=table.wait()))
    assert table.facts[-1] == RiichiTakenBack(round=1, deal=1, entry=1)
    assert (table.table.phase, table.session.hand, table.session.riichi) == (Phase.PLAYING, 1, ("west",))
    table.ron("south", "west", 4)
    table.record()
    fact = table.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    assert (fact.entry, fact.deltas["south"]) == (1, 8700)


def test_the_desk_cannot_reopen_a_hand_of_a_session(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    before = table.table
    order = Ordered(at=table.wait(), seq=1, id="order-0001", command="reopen")
    assert table.take(order) == ()
    refused = {1: "riichi_take_back"}
    assert table.table == replace(before, last_order=1, handled_orders=((1, "order-0001"),), refused_orders=refused)


def test_nothing_can_be_taken_back_before_the_first_entry(table: RiichiSitting) -> None:
    assert table.refusal(LastTakenBack(at=table.wait())) == "nothing_to_take_back"


def test_a_refused_result_returns_to_where_it_was_entered(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.take(ResultRefused(at=table.wait()))
    assert (table.table.phase, table.table.hand.result) == (Phase.DECLARED, None)


def test_a_negative_score_ends_the_session_with_places_and_deposits_paid(table: RiichiSitting) -> None:
    table.declare("south")
    table.tell("ron", wins={"south": RiichiWin(yakuman=1)}, loser="west")
    table.record()
    table.next_deal()
    assert table.table.phase is Phase.FINISHED
    fact = table.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    assert (fact.event.kind, fact.entry, fact.standing.over) == ("end", 2, True)
    assert table.session.settled is not None
    assert table.session.settled.places == (2, 1, 4, 2)


def test_when_time_is_up_the_session_can_be_ended_between_two_hands(table: RiichiSitting) -> None:
    assert table.refusal(SessionStopped(at=table.wait())) == "not_now"
    table.drawn("east")
    table.record()
    table.take(SessionStopped(at=table.wait()))
    assert table.table.phase is Phase.FINISHED


def test_the_end_of_a_session_can_be_taken_back(table: RiichiSitting) -> None:
    table.drawn("east")
    table.record()
    table.take(SessionStopped(at=table.wait()))
    table.take(LastTakenBack(at=table.wait()))
    assert (table.table.phase, table.session.state.over) == (Phase.RECORDED, False)
    assert table.session.settled is not None
    assert (table.session.settled.deltas, table.session.settled.places) == ((3000, -1000, -1000, -1000), None)
    table.next_deal()
    assert table.session.hand == 2


def test_a_device_without_a_journal_continues_from_the_scorers_standing(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    fact = table.facts[-1]
    assert isinstance(fact, RiichiRecorded)
    other = RiichiSitting(session_plan(standing=fact.standing))
    assert (other.session.state, other.session.hand, other.session.recorded) == (table.session.state, 2, 7)


def test_a_session_continues_with_renamed_players(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    had, came = table.session, session_plan()
    assert came.session is not None
    named = {seat: structs.replace(one, name=f"{one.name} II") for seat, one in came.session.players.items()}
    came = structs.replace(came, session=structs.replace(came.session, players=named))
    table.take(Assigned(at=table.wait(), assignment=came))
    assert table.session.planned.players == named
    assert (table.session.entries, table.session.state) == (had.entries, had.state)


def test_another_session_waits_until_this_one_is_over(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    another = Assigned(at=table.wait(), assignment=session_plan(round_=2))
    assert table.refusal(another) == "plan_rewrites_past"
    table.take(SessionStopped(at=table.wait()))
    table.take(another)
    assert (table.table.phase, table.session.hand) == (Phase.CONFIRMING, 1)


def test_planning_the_same_session_again_changes_nothing(table: RiichiSitting) -> None:
    table.ron("south", "west")
    table.record()
    before = table.session
    standing = msgspec.structs.replace(session_plan(), seq=9)
    table.take(Assigned(at=table.wait(), assignment=standing))
    assert (table.session, table.table.phase) == (before, Phase.RECORDED)


def test_after_a_riichi_session_a_table_can_play_duplicate_deals(table: RiichiSitting) -> None:
    table.drawn()
    table.record()
    table.take(SessionStopped(at=table.wait()))
    unknown = Assigned(at=table.wait(), assignment=plan(profile="nowhere"))
    assert table.refusal(unknown) == "unknown_profile"  # the journal must not store it: no program could start with it
    table.take(Assigned(at=table.wait(), assignment=plan(play(1), play(2)), first=1))
    assert (table.table.phase, table.table.session, table.play.round) == (Phase.RESTORING, None, 2)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (session_plan(profile="riichi-nowhere"), "unknown_profile"),
        (session_plan(rules="id = 3"), "bad_profile"),
    ],
)
def test_a_session_with_unknown_rules_is_refused(given: object, code: str) -> None:
    sitting = RiichiSitting.__new__(RiichiSitting)
    sitting.table = Table()
    assert sitting.refusal(Assigned(at=1, assignment=given)) == code  # type: ignore[arg-type]  # a plan


def test_a_table_without_a_session_refuses_its_events() -> None:
    table = Table()
    sitting = RiichiSitting.__new__(RiichiSitting)
    sitting.table = table
    for event in (LastTakenBack(at=1), SessionStopped(at=1), DepositLaid(at=1, seat="east", laid=True)):
        assert sitting.refusal(event) == "not_now"


def test_a_restart_during_a_hand_loses_nothing(table: RiichiSitting) -> None:
    table.hold("west")
    table.take(ButtonPressed(at=table.wait(), seat="south"))
    before = table.session
    table.take(Restarted(at=table.wait(), same_clock=True))
    assert (table.session, table.table.phase) == (before, Phase.CLAIMING)


def test_wrong_pins_and_the_arbiter_outlast_hands_take_backs_and_sessions(
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
    """Return what is known of the arbiter and the PIN."""
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
def test_rulings_on_duplicate_plays_are_refused_in_a_session_and_lose_no_hand(event: Event, phase: Phase) -> None:
    table = riichi_in(phase)
    table.admit()
    assert table.refusal(event) == "not_now"


seats = st.sampled_from(SEATS)
hands = st.one_of(
    st.tuples(st.just("ron"), seats, seats, st.integers(1, 13)),
    st.tuples(st.just("tsumo"), seats, seats, st.integers(1, 13)),
    st.tuples(st.just("draw"), seats, seats, st.just(0)),
    st.tuples(st.just("chombo"), seats, seats, st.just(0)),
    st.tuples(st.just("minor_fault"), seats, seats, st.just(0)),
)


def played(table: RiichiSitting, how: str, seat: Seat, other: Seat, han: int) -> None:
    """Play one hand with this ending, and go on."""
    if how == "ron" and seat != other:
        table.ron(seat, other, han)
    elif how == "tsumo":
        table.declare(seat)
        table.tell("tsumo", wins={seat: fu30(han)})
    elif how == "chombo":
        table.tell("chombo", offenders=[seat])
        table.close_window()
    elif how == "minor_fault":
        table.tell("minor_fault", offenders=[seat])
        return
    else:
        table.drawn(*{seat, other})
    table.record()
    if not table.session.state.over:
        table.next_deal()


@COSTLY
@given(st.lists(hands, min_size=1, max_size=4))
def test_facts_match_the_rules_and_replaying_the_events_gives_the_same_table(
    steps: list[tuple[str, Seat, Seat, int]],
) -> None:
    table = RiichiSitting()
    table.begin()
    for step in steps:
        if table.table.phase is Phase.PLAYING:
            played(table, *step)
    state = first_state(table.session.profile)
    for fact in table.facts:
        if isinstance(fact, RiichiRecorded):
            settled = settle_event(state, event_from_message(fact.event), table.session.profile)
            assert tuple(fact.deltas.values()) == settled.deltas
            state = settled.state
    assert state == table.session.state
    again = Table()
    for event in table.events:
        again, _ = handle(again, event)
    assert again == table.table
