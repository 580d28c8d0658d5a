"""How a table's program handles a slow device, and the plans and messages of scorer and desk."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from broker.protocol import SEATS, NextSeat, Order, TableState, decode_on_topic, topics
from firmware.reports import Pressed, Released
from kiosk.camera.observations import CameraHealth
from kiosk.screens import RecordedView, RestoringView
from kiosk.table import Phase, active_guards
from kiosk.table.arbiter import event_of_order
from kiosk.table.events import ArbiterAdmitted, Assigned, GuardOverridden
from tests.broker.protocol.other_versions import grown_bytes
from tests.kiosk.connected import Table, begin, connected, restore
from tests.kiosk.journals import receipt
from tests.kiosk.riichi_tables import session_plan
from tests.kiosk.standing import phase_view, standing
from tests.kiosk.tables import EVENT, MS, TABLE, S, plan, play


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with connected(tmp_path) as made:
        yield made


def test_a_second_push_at_a_confirmation_is_no_hu_however_slow_the_device(table: Table) -> None:
    """The four presses lie in the queue while the device hangs; somebody pushes again, having seen nothing happen."""
    restore(table)
    table.time.now += 2 * S
    for seat in SEATS:
        table.program.report(Pressed(seat, table.time.now))
        table.program.report(Released(seat, table.time.now + MS))
    again = table.time.now + 3 * S
    table.time.now += 5 * S
    table.program.step(timeout=0)
    assert table.program.state.phase is Phase.PLAYING
    table.program.report(Pressed("north", again))
    table.program.step(timeout=0)
    assert table.program.state.declarations == ()


def test_a_hold_while_tenpai_is_asked_calls_and_says_nothing_about_the_hand(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.CONFIRMING, session_plan())
        table.press(*SEATS)
        table.time.wait(5 * S)
        table.type("d")
        table.pass_time(9 * S)
        table.press("east")
        table.hold("south")
        state = table.program.state
        assert (state.phase, state.calling, [*state.hand.tenpai]) == (Phase.DECLARED, True, ["east"])


def test_a_plan_waits_for_the_receipt_of_its_own_store(table: Table) -> None:
    """A broker may still have the plan of a store that is gone."""
    table.hello()
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1), store="store-of-yesterday"))
    table.tell(msgspec.structs.replace(plan(play(1, deal=7)), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_a_plan_of_another_store_is_played_even_if_its_rounds_were_rehearsed_here(table: Table) -> None:
    begin(table)
    table.time.now += 2 * S
    table.program.key("d")
    table.time.now += 6 * S
    table.until(Phase.ACCEPTING)
    table.press(*SEATS)
    table.until(Phase.RECORDED)
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1, deal=7), play(2, deal=8), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_refused_facts_are_sent_again_once_the_plan_is_corrected(table: Table) -> None:
    begin(table)
    table.said("Restored", "Confirmed")
    journal = table.program._table.journal
    table.tell(receipt(refused={one.seq: (one.id, "not_planned") for one in journal.unsent()}))
    while len(journal.refused()) < 2:
        table.program.step(timeout=0.01)
    table.tell(plan(play(1), play(2)))
    while journal.refused():
        table.program.step(timeout=0.01)
    assert set(table.said("Restored", "Confirmed")) >= {"Restored", "Confirmed"}


def test_orders_are_carried_out_once_and_the_table_publishes_the_last(table: Table) -> None:
    begin(table)
    pause = Order(id="order-0007-3", event=EVENT, table=TABLE, seq=7, command="pause", author="Anne")
    resume = msgspec.structs.replace(pause, id="order-0008-3", seq=8, command="resume")
    longer = msgspec.structs.replace(pause, id="order-0009-3", seq=9, command="extra_time", minutes=5)
    table.order(pause)
    table.order(resume)
    table.order(pause, longer)
    states = [decode_on_topic(one.topic, one.payload)[1] for one in table.hear_until_marked()]
    told = [(one.paused, one.ordered) for one in states if isinstance(one, TableState)]
    assert list(dict.fromkeys(told)) == [(False, 0), (True, 7), (False, 8), (False, 9)]
    assert table.program.state.extra_min == 5
    assert {one.minutes for one in states if isinstance(one, TableState)} == {40}


def test_a_table_plays_on_with_a_newer_scorer_and_ignores_orders_it_does_not_know(table: Table) -> None:
    table.encode = grown_bytes
    begin(table)
    pause = Order(id="order-0008-3", event=EVENT, table=TABLE, seq=8, command="pause", author="Anne")
    unknown = (
        grown_bytes(pause).replace(b'"pause"', b'"sing"').replace(b"0008", b"0007").replace(b'"seq": 8', b'"seq": 7')
    )
    table._desk.say(topics.ORDER.at(EVENT, table=TABLE), unknown)
    table.order(pause)
    assert table.program.state.paused
    journal = table.program._table.journal
    table.tell(receipt(taken={one.seq: one.id for one in journal.unsent()}))
    while journal.unsent():
        table.program.step(timeout=0.01)


def test_the_light_that_the_desk_orders_is_on_the_screen_and_survives_a_restart(tmp_path: Path) -> None:
    with connected(tmp_path) as table:
        table.hello()
        assert table.program.view().light is None
        table.order(
            Order(id="order-0007-3", event=EVENT, table=TABLE, seq=7, command="quiet_light", author="Anne"),
            Order(id="order-0008-3", event=EVENT, table=TABLE, seq=8, command="pause", author="Anne"),
        )
        assert table.program.view().light == "quiet"
    with connected(tmp_path) as again:
        assert again.program.view().light == "quiet"
        again.hello()
        again.order(Order(id="order-0009-3", event=EVENT, table=TABLE, seq=9, command="normal_light", author="Anne"))
        assert again.program.view().light == "normal"


def test_a_settled_play_is_skipped_and_played_after_all_if_it_is_no_longer_settled(
    tmp_path: Path,
) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        table.program._server.facts.apply_receipt(receipt(), now=0)
        whole = plan(play(1), play(2), play(3), recorded=(1,))
        table.program._server.take_plan(whole, table.time.now)
        table.program.step(timeout=0)
        table.type("enter")
        assert table.program.state.play == play(2)
        table.program._server.take_plan(msgspec.structs.replace(whole, recorded=(1, 2), settled=(2,)), table.time.now)
        table.program.step(timeout=0)
        assert (table.program.state.phase, table.program.state.play) == (Phase.RESTORING, play(3))
        table.program._server.take_plan(
            msgspec.structs.replace(whole, recorded=(1, 2, 3), settled=(2, 3)), table.time.now
        )
        table.program.step(timeout=0)
        assert table.program.state.phase is Phase.FINISHED
        table.program._server.take_plan(msgspec.structs.replace(whole, recorded=(1, 3), settled=(3,)), table.time.now)
        table.program.step(timeout=0)
        assert (table.program.state.phase, table.program.state.play) == (Phase.RESTORING, play(2))


def test_a_plan_in_which_only_repeats_are_new_stops_the_next_play(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        table.program._server.facts.apply_receipt(receipt(), now=0)
        given = msgspec.structs.replace(plan(play(1), play(2)), repeats={2: ("p03",)})
        table.program._server.take_plan(given, table.time.now)
        table.program.step(timeout=0)
        table.type("enter")
        assert active_guards(table.program.state) == ("player_played_deal",)
        assert phase_view(table.program.view(), RestoringView).repeating == ("west",)


def test_a_plan_in_which_only_other_tables_change_shows_where_the_four_go_next(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        table.program._server.facts.apply_receipt(receipt(), now=0)
        there = {player.id: NextSeat(round=2, table=9, seat=seat) for seat, player in play(1).players.items()}
        table.program._server.take_plan(
            msgspec.structs.replace(plan(play(1), play(2)), onward={1: there}), table.time.now
        )
        table.program.step(timeout=0)
        onward = phase_view(table.program.view(), RecordedView).onward
        assert onward == {seat: there[player.id] for seat, player in play(1).players.items()}


def test_trays_are_checked_again_when_the_arbiter_allows_a_stopped_play(tmp_path: Path) -> None:
    """The camera reports an untouched tray only once, so it must not do so while that would be refused."""
    with standing(tmp_path) as table:
        stopped = msgspec.structs.replace(plan(play(1)), repeats={1: ("p03",)})
        table.program._apply(Assigned(at=table.time.wait(), assignment=stopped))
        assert table.program.camera_target is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne Arbiter", session="0" * 32))
        table.program._apply(GuardOverridden(at=table.time.wait(), reason="he saw no tile"))
        assert table.program.camera_target == play(1)


@pytest.mark.parametrize(
    ("phase", "typed"),
    [(Phase.RESTORING, "h123"), (Phase.DECLARED, ("1", "8", "enter", "n")), (Phase.RECORDED, ("enter",))],
)
def test_in_a_pause_that_fills_the_screen_no_key_has_its_usual_effect(
    tmp_path: Path, phase: Phase, typed: Sequence[str]
) -> None:
    with standing(tmp_path) as table:
        table.come_to(phase)
        table.program.observe(CameraHealth("camera_unplugged"))
        table.program.step(timeout=0)
        pause = Order(id="order-0001-3", event=EVENT, table=TABLE, seq=1, command="pause", author="Anne")
        table.program._apply(event_of_order(pause, table.time.wait()))
        paused = table.program.state, table.program.view()
        table.type(*typed)
        assert (table.program.state, table.program.view()) == paused
        resume = msgspec.structs.replace(pause, id="order-0002-3", seq=2, command="resume")
        table.program._apply(event_of_order(resume, table.time.wait()))
        before = table.program.state
        table.type(*typed)
        assert table.program.state != before
