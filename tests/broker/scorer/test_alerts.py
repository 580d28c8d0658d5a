"""Alerts for arbiters: each once, without floods, and for rulings and results that differ from what the desk knows."""

import pytest
from msgspec.structs import replace

from broker.protocol import Adjusted, AnyDecision, Deadline, Fine, Lifecycle, Ruled, Seated, Undo, Void
from broker.protocol.link import Incoming
from broker.scorer.alerts import MOST_AT_ONCE, MOST_PER_CODE, PAUSE_MS, AlertBook, Concern
from broker.scorer.devices import TableStates
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer.hall import NOW, Hall
from tests.broker.scorer.small import (
    OTHER_FORM,
    OUTCOMES,
    event,
    fact,
    log,
    restored,
    result,
    state,
    steps,
    whole_play,
)


def test_of_one_kind_and_table_one_alert_is_made_of_a_batch() -> None:
    book = AlertBook()
    found = Concern("device_waits", 1, values={"device": "a1"}), Concern("device_waits", 1, values={"device": "b2"})
    others = Concern("device_waits", 2, values={"device": "c3"}), Concern("two_devices", 1)
    assert book.add([*found, *others], 7) == (found[1], *others)


def test_a_flood_of_alerts_is_cut_short() -> None:
    book = AlertBook()
    assert len(book.add([Concern("two_devices", table) for table in range(1, 100)], 7)) == MOST_AT_ONCE


def test_the_last_alerts_are_kept_newest_first() -> None:
    book = AlertBook()
    for table in range(1, MOST_PER_CODE + 6):
        book.add([Concern("two_devices", table)], 7)
    assert [alert.table for alert in book.newest_first()] == list(range(MOST_PER_CODE + 5, 5, -1))


def test_what_devices_say_of_themselves_pushes_no_fouled_deal_out() -> None:
    book = AlertBook()
    book.add([Concern("fouled", 1, values={"deal": 1})], 7)
    for about in range(2 * MOST_PER_CODE):
        book.add([Concern("device_unwell", 2, about=about, values={"what": "button: stuck"})], 7)
    codes = [alert.code for alert in book.newest_first()]
    assert codes == ["device_unwell"] * MOST_PER_CODE + ["fouled"]


def test_what_one_device_says_of_itself_again_and_again_pushes_no_other_tables_alert_out(hall: Hall) -> None:
    """For instance a loose contact, or somebody with the table's password."""
    hall.hear(replace(state(2), health={"camera": "camera_gone"}))
    for count in range(4 * MOST_PER_CODE):
        hall.hear(replace(state(1, count=count + 1), health={} if count % 2 else {"buttons": "device_unplugged"}))
    unwell = [one.table for one in hall.scorer.feed.current.alerts if one.code == "device_unwell"]
    assert (len(unwell), unwell[-1]) == (MOST_PER_CODE, 2)


def test_the_same_thing_is_told_again_only_after_a_pause_without_it() -> None:
    book = AlertBook()
    times = [0, PAUSE_MS - 1, 2 * PAUSE_MS - 2, 3 * PAUSE_MS - 2, 3 * PAUSE_MS - 1]
    assert [len(book.add([Concern("two_devices", 1)], now)) for now in times] == [1, 0, 0, 1, 0]


def test_another_thing_or_another_table_does_not_wait() -> None:
    book = AlertBook()
    kinds = (("two_devices", 1), ("two_devices", 2), ("table_lost", 1), ("two_devices", 1))
    told = [book.add([Concern(code, table)], 7) for code, table in kinds]
    assert [len(one) for one in told] == [1, 1, 1, 0]


def test_a_clock_that_is_put_back_silences_nothing() -> None:
    book = AlertBook()
    assert [len(book.add([Concern("two_devices", 1)], now)) for now in (3_600_000, 0)] == [1, 1]


def test_a_flood_of_rubbish_is_one_alert(hall: Hall) -> None:
    for _ in range(30):
        hall.scorer._inbox.put(Incoming("hm/cup/table/1/log", b"?", lambda: None))
    hall.scorer.step(timeout=0)
    hall.arrive("hm/cup/table/1/log", b"?")
    assert hall.alerts() == [("malformed", 1)]


def test_rubbish_of_one_table_hides_not_that_of_another(hall: Hall) -> None:
    for table in (1, 2):
        hall.arrive(f"hm/cup/table/{table}/log", b"?")
    assert hall.alerts() == [("malformed", 1), ("malformed", 2)]


def test_a_refused_message_is_named_by_its_topic(hall: Hall) -> None:
    hall.arrive("hm/cup/table/3/log", b"?")
    assert hall.ear.told("alert")["topic"] == "hm/cup/table/3/log"


def test_two_fouled_deals_of_one_table_are_two_alerts(hall: Hall) -> None:
    _, *rest = steps(1)
    hall.hear(*log(1, restored(1, 1, OTHER_FORM), *rest, restored(1, 2, OTHER_FORM)))
    assert hall.alerts() == [("fouled", 1), ("fouled", 1)]


def test_each_fact_that_is_told_in_two_ways_is_an_alert(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)), fact(1, 2, restored(1)))
    hall.hear(fact(1, 1, restored(1), at=2), fact(1, 2, restored(1), at=2))
    assert hall.alerts() == [("conflict", 1), ("conflict", 1)]


def test_what_was_one_too_many_is_told_when_it_comes_again() -> None:
    book = AlertBook()
    flood = [Concern("two_devices", table) for table in range(1, MOST_AT_ONCE + 2)]
    assert [len(book.add(flood, now)) for now in (7, 8)] == [MOST_AT_ONCE, 1]


def test_an_alert_says_when_and_why(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1, form=OTHER_FORM)))
    told = hall.ear.told("alert")
    assert {key: told[key] for key in ("at", "code", "table", "topic", "text", "event")} == {
        "at": NOW,
        "code": "fouled",
        "table": 1,
        "topic": None,
        "text": "Table 1: deal 1 is being played with another arrangement of tiles.",
        "event": "cup",
    }
    assert [(one.at, one.code, one.table) for one in hall.scorer.feed.current.alerts] == [(NOW, "fouled", 1)]


def test_what_goes_well_alerts_nobody(hall: Hall) -> None:
    hall.hear(*whole_play(1), state(1), state(2))
    assert hall.alerts() == []


def test_each_thing_that_an_arbiter_must_know_has_its_code(hall: Hall) -> None:
    _, seated, *_ = steps(2)
    assert isinstance(seated, Seated)
    swapped = {**seated.players, "east": seated.players["south"], "south": seated.players["east"]}
    hall.hear(
        fact(1, 2, restored(1)),
        fact(2, 1, restored(2, verified=False)),
        fact(2, 2, replace(seated, players=swapped)),
        fact(3, 1, restored(3, form=OTHER_FORM)),
        fact(4, 1, restored(4)),
        fact(4, 1, restored(4), at=2),
        state(3),
        state(3, device="kiosk-0002"),
    )
    assert sorted(hall.alerts()) == [
        ("conflict", 4),
        ("fouled", 3),
        ("gap", 1),
        ("seating_differs", 2),
        ("two_devices", 3),
        ("unverified", 2),
    ]


def test_two_devices_at_one_table_are_told_once() -> None:
    watch = TableStates()
    first, second = state(1), state(1, device="kiosk-0002")
    third = state(1, device="kiosk-0003")
    told = [list(watch.apply(one)) for one in (first, second, first, second, third)]
    concern = Concern("two_devices", 1)
    assert told == [[], [concern], [], [], [concern]]


@pytest.mark.parametrize("end", ["lost", "disconnected"])
def test_a_device_in_place_of_one_that_has_gone_is_no_alert(end: Lifecycle) -> None:
    watch = TableStates()
    watch.apply(state(1, lifecycle=end))
    assert list(watch.apply(state(1, device="kiosk-0002"))) == []
    assert watch.last[1].device == "kiosk-0002"


def test_the_desk_sees_what_a_table_last_said_and_before_that_who_plays_there_first(hall: Hall) -> None:
    names = {seat: f"Player {int(player[1:])}" for seat, player in event().bookings[1, 1].players.items()}
    before = hall.scorer.feed.current.tables[0]
    assert (before.lifecycle, before.state, before.players) == (None, None, names)
    hall.hear(state(1))
    table = hall.scorer.feed.current.tables[0]
    assert (table.lifecycle, table.state, table.round, table.players) == ("ready", "playing", 1, names)


def test_a_state_that_comes_late_changes_nothing() -> None:
    """A broker may deliver a message that was not acknowledged after the retained one."""
    watch = TableStates()
    for count in (2, 1):
        watch.apply(state(1, count=count, calling=count == 2))
    assert watch.last[1].calling
    watch.apply(state(1, start=2, count=1))
    assert not watch.last[1].calling


def test_a_lost_device_keeps_what_it_said_last() -> None:
    watch = TableStates()
    watch.apply(state(1, count=5, calling=True))
    watch.apply(replace(state(1, lifecycle="lost", count=0), state="waiting", round=None, deal=None))
    last = watch.last[1]
    assert (last.lifecycle, last.state, last.round, last.calling) == ("lost", "playing", 1, True)
    watch.apply(state(1, count=6))
    assert watch.last[1].lifecycle == "ready"


def test_the_will_of_a_start_before_this_one_is_not_believed() -> None:
    watch = TableStates()
    watch.apply(state(1, start=2))
    watch.apply(state(1, lifecycle="lost", start=1, count=0))
    assert watch.last[1].lifecycle == "ready"


def test_a_file_of_standings_that_cannot_be_written_is_an_alert_and_no_more(hall: Hall) -> None:
    (hall.folder / "standings.csv").unlink()
    (hall.folder / "standings.csv").mkdir()
    hall.hear(*whole_play(1))
    assert hall.alerts() == [("standings_unwritten", None)]
    assert hall.scorer.feed.current.plays_in == 1


def test_a_device_that_is_not_the_present_one_cannot_be_lost(hall: Hall) -> None:
    hall.hear(state(1, device="kiosk-0002"), state(1, device="kiosk-0001", lifecycle="lost"))
    assert hall.alerts() == []
    assert hall.scorer.feed.current.tables[0].lifecycle == "ready"


def test_a_device_that_came_back_with_an_older_journal_is_believed() -> None:
    watch = TableStates()
    for one in (state(1, start=17), state(1, start=17, lifecycle="lost"), state(1, start=3, calling=True)):
        watch.apply(one)
    assert (watch.last[1].lifecycle, watch.last[1].calling) == ("ready", True)


def test_the_same_refusal_is_told_once_however_often_it_is_sent(hall: Hall) -> None:
    """Otherwise an unreliable cable would push all other alerts out of the book."""
    strange = fact(1, 1, restored(2))
    for _ in range(3):
        hall.hear(strange)
    assert hall.alerts() == [("not_planned", 1)]


def test_a_table_that_is_lost_is_told_once(hall: Hall) -> None:
    hall.hear(state(1))
    for _ in range(2):
        hall.hear(state(1, lifecycle="lost", count=0))
    assert hall.alerts() == [("table_lost", 1)]


VOID = Ruled(
    round=1, deal=event().bookings[1, 1].deal, decision=Void(), author="Tao", role="table_arbiter", reason="tiles fell"
)


def test_each_ruling_made_at_a_table_is_an_alert_that_says_what_who_and_why(hall: Hall) -> None:
    hall.hear(*log(1, *steps(1), VOID, replace(VOID, reason="again")))
    assert hall.alerts() == [("ruled_at_table", 1)] * 2
    told = hall.ear.told("alert")["text"]
    assert [word in told for word in ("void", f"deal {VOID.deal}", "Tao", "again")] == [True] * 4


def test_a_fine_that_a_result_brings_is_an_alert_that_says_whose_how_much_who_and_why(hall: Hall) -> None:
    fine = Fine(imp=8, reason="the hand was not valid", author="Tao")
    hall.hear(*whole_play(1, 1, OUTCOMES[1], {"north": fine}))
    assert hall.alerts() == [("fined_at_table", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    north = event().players[event().bookings[1, 1].players["north"]].name
    told = alert.values["fines"], alert.values["author"], alert.values["reason"]
    assert told == (f"{north} 8 IMP", "Tao", "the hand was not valid")


def test_one_that_comes_after_the_correction_period_is_told_as_that_too(hall: Hall) -> None:
    hall.hear(*whole_play(1))
    hall.scorer.rulings.give(draft(hall.scorer.state, Deadline(at=NOW)), HEAD)
    hall.ear.forget()
    hall.clock.read = lambda: NOW + 1
    hall.hear(fact(1, 6, VOID))
    assert sorted(hall.alerts()) == [("ruled_after_end", 1), ("ruled_at_table", 1)]


PLAY = (1, 1)
ADJUSTED = Adjusted(gives=dict.fromkeys(event().bookings[PLAY].players.values(), "nobody"))
OTHERWISE: list[AnyDecision] = [Void(), ADJUSTED, correct(OUTCOMES[2], None)]


def settle(hall: Hall, decision: AnyDecision) -> str:
    """Rule on the play before its table has reported it. Return the ruling's id."""
    entry = hall.scorer.rulings.give(draft(hall.scorer.rulings.room, decision, PLAY), HEAD)
    hall.ear.forget()
    return entry.id


@pytest.mark.parametrize("decision", OTHERWISE)
def test_a_result_of_a_play_that_was_settled_otherwise_is_told_with_the_ruling(
    hall: Hall, decision: AnyDecision
) -> None:
    id_ = settle(hall, decision)
    hall.hear(*whole_play(1))
    assert hall.alerts() == [("settled_before", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    assert (alert.values["ruling"], alert.values["author"], alert.values["round"]) == (id_, HEAD.name, 1)


def test_a_result_that_says_what_was_ruled_alerts_nobody(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(*whole_play(1, 1, OUTCOMES[1]))
    assert hall.alerts() == []


def test_a_fine_that_the_ruling_does_not_have_is_told(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(*whole_play(1, 1, OUTCOMES[1], {"north": Fine(imp=4, reason="false hu")}))
    assert hall.alerts() == [("settled_before", 1), ("fined_at_table", 1)]


def test_a_ruling_that_was_taken_back_before_settles_nothing(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    hall.ear.forget()
    hall.hear(*whole_play(1))
    assert hall.alerts() == []


def test_with_the_ruling_taken_back_the_four_players_result_counts(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.hear(*whole_play(1))
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    assert hall.scorer.rulings.room.play(PLAY).points == result(1).points
