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


def test_a_batch_makes_one_alert_of_each_kind_and_table() -> None:
    book = AlertBook()
    found = Concern("device_waits", 1, values={"device": "a1"}), Concern("device_waits", 1, values={"device": "b2"})
    others = Concern("device_waits", 2, values={"device": "c3"}), Concern("two_devices", 1)
    assert book.add([*found, *others], 7) == (found[1], *others)


def test_a_batch_makes_only_so_many_alerts() -> None:
    book = AlertBook()
    assert len(book.add([Concern("two_devices", table) for table in range(1, 100)], 7)) == MOST_AT_ONCE


def test_the_most_recent_alerts_are_stored_newest_first() -> None:
    book = AlertBook()
    for table in range(1, MOST_PER_CODE + 6):
        book.add([Concern("two_devices", table)], 7)
    assert [alert.table for alert in book.newest_first()] == list(range(MOST_PER_CODE + 5, 5, -1))


def test_alerts_about_devices_do_not_displace_a_fouled_deal() -> None:
    book = AlertBook()
    book.add([Concern("fouled", 1, values={"deal": 1})], 7)
    for about in range(2 * MOST_PER_CODE):
        book.add([Concern("device_unwell", 2, about=about, values={"what": "button: stuck"})], 7)
    codes = [alert.code for alert in book.newest_first()]
    assert codes == ["device_unwell"] * MOST_PER_CODE + ["fouled"]


def test_frequent_alerts_of_one_device_do_not_displace_those_of_other_tables(hall: Hall) -> None:
    """For instance a loose contact, or somebody with the table's password."""
    hall.hear(replace(state(2), health={"camera": "camera_gone"}))
    for count in range(4 * MOST_PER_CODE):
        hall.hear(replace(state(1, count=count + 1), health={} if count % 2 else {"buttons": "device_unplugged"}))
    unwell = [one.table for one in hall.scorer.feed.current.alerts if one.code == "device_unwell"]
    assert (len(unwell), unwell[-1]) == (MOST_PER_CODE, 2)


def test_the_same_alert_is_repeated_only_after_a_pause() -> None:
    book = AlertBook()
    times = [0, PAUSE_MS - 1, 2 * PAUSE_MS - 2, 3 * PAUSE_MS - 2, 3 * PAUSE_MS - 1]
    assert [len(book.add([Concern("two_devices", 1)], now)) for now in times] == [1, 0, 0, 1, 0]


def test_alerts_of_another_kind_or_table_do_not_wait() -> None:
    book = AlertBook()
    kinds = (("two_devices", 1), ("two_devices", 2), ("table_lost", 1), ("two_devices", 1))
    told = [book.add([Concern(code, table)], 7) for code, table in kinds]
    assert [len(one) for one in told] == [1, 1, 1, 0]


def test_a_clock_that_is_set_back_silences_no_alert() -> None:
    book = AlertBook()
    assert [len(book.add([Concern("two_devices", 1)], now)) for now in (3_600_000, 0)] == [1, 1]


def test_a_flood_of_rubbish_makes_one_alert(hall: Hall) -> None:
    for _ in range(30):
        hall.scorer._inbox.put(Incoming("hm/cup/table/1/log", b"?", lambda: None))
    hall.scorer.step(timeout=0)
    hall.arrive("hm/cup/table/1/log", b"?")
    assert hall.alerts() == [("malformed", 1)]


def test_rubbish_from_one_table_does_not_hide_that_from_another(hall: Hall) -> None:
    for table in (1, 2):
        hall.arrive(f"hm/cup/table/{table}/log", b"?")
    assert hall.alerts() == [("malformed", 1), ("malformed", 2)]


def test_the_alert_of_a_refused_message_has_its_topic(hall: Hall) -> None:
    hall.arrive("hm/cup/table/3/log", b"?")
    assert hall.ear.told("alert")["topic"] == "hm/cup/table/3/log"


def test_two_fouled_deals_at_one_table_make_two_alerts(hall: Hall) -> None:
    _, *rest = steps(1)
    hall.hear(*log(1, restored(1, 1, OTHER_FORM), *rest, restored(1, 2, OTHER_FORM)))
    assert hall.alerts() == [("fouled", 1), ("fouled", 1)]


def test_each_conflicting_fact_makes_an_alert(hall: Hall) -> None:
    hall.hear(fact(1, 1, restored(1)), fact(1, 2, restored(1)))
    hall.hear(fact(1, 1, restored(1), at=2), fact(1, 2, restored(1), at=2))
    assert hall.alerts() == [("conflict", 1), ("conflict", 1)]


def test_a_concern_beyond_the_limit_is_reported_when_it_recurs() -> None:
    book = AlertBook()
    flood = [Concern("two_devices", table) for table in range(1, MOST_AT_ONCE + 2)]
    assert [len(book.add(flood, now)) for now in (7, 8)] == [MOST_AT_ONCE, 1]


def test_an_alert_has_its_time_and_reason(hall: Hall) -> None:
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


def test_a_normal_play_makes_no_alert(hall: Hall) -> None:
    hall.hear(*whole_play(1), state(1), state(2))
    assert hall.alerts() == []


def test_each_concern_has_its_code(hall: Hall) -> None:
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


def test_two_devices_at_one_table_are_reported_once() -> None:
    watch = TableStates()
    first, second = state(1), state(1, device="kiosk-0002")
    third = state(1, device="kiosk-0003")
    told = [list(watch.apply(one)) for one in (first, second, first, second, third)]
    concern = Concern("two_devices", 1)
    assert told == [[], [concern], [], [], [concern]]


@pytest.mark.parametrize("end", ["lost", "disconnected"])
def test_a_device_that_replaces_one_that_is_gone_makes_no_alert(end: Lifecycle) -> None:
    watch = TableStates()
    watch.apply(state(1, lifecycle=end))
    assert list(watch.apply(state(1, device="kiosk-0002"))) == []
    assert watch.last[1].device == "kiosk-0002"


def test_a_card_shows_the_last_state_and_before_that_the_first_players(hall: Hall) -> None:
    names = {seat: f"Player {int(player[1:])}" for seat, player in event().bookings[1, 1].players.items()}
    before = hall.scorer.feed.current.tables[0]
    assert (before.lifecycle, before.state, before.players) == (None, None, names)
    hall.hear(state(1))
    table = hall.scorer.feed.current.tables[0]
    assert (table.lifecycle, table.state, table.round, table.players) == ("ready", "playing", 1, names)


def test_an_old_state_that_arrives_late_changes_nothing() -> None:
    """A broker may deliver a message that was not acknowledged after the retained one."""
    watch = TableStates()
    for count in (2, 1):
        watch.apply(state(1, count=count, calling=count == 2))
    assert watch.last[1].calling
    watch.apply(state(1, start=2, count=1))
    assert not watch.last[1].calling


def test_the_last_state_of_a_lost_device_is_kept() -> None:
    watch = TableStates()
    watch.apply(state(1, count=5, calling=True))
    watch.apply(replace(state(1, lifecycle="lost", count=0), state="waiting", round=None, deal=None))
    last = watch.last[1]
    assert (last.lifecycle, last.state, last.round, last.calling) == ("lost", "playing", 1, True)
    watch.apply(state(1, count=6))
    assert watch.last[1].lifecycle == "ready"


def test_the_last_will_of_an_earlier_start_is_ignored() -> None:
    watch = TableStates()
    watch.apply(state(1, start=2))
    watch.apply(state(1, lifecycle="lost", start=1, count=0))
    assert watch.last[1].lifecycle == "ready"


def test_a_standings_file_that_cannot_be_written_only_makes_an_alert(hall: Hall) -> None:
    (hall.folder / "standings.csv").unlink()
    (hall.folder / "standings.csv").mkdir()
    hall.hear(*whole_play(1))
    assert hall.alerts() == [("standings_unwritten", None)]
    assert hall.scorer.feed.current.plays_in == 1


def test_only_the_current_device_can_be_lost(hall: Hall) -> None:
    hall.hear(state(1, device="kiosk-0002"), state(1, device="kiosk-0001", lifecycle="lost"))
    assert hall.alerts() == []
    assert hall.scorer.feed.current.tables[0].lifecycle == "ready"


def test_a_device_that_returns_with_an_older_journal_is_accepted() -> None:
    watch = TableStates()
    for one in (state(1, start=17), state(1, start=17, lifecycle="lost"), state(1, start=3, calling=True)):
        watch.apply(one)
    assert (watch.last[1].lifecycle, watch.last[1].calling) == ("ready", True)


def test_a_refusal_is_reported_once_however_often_its_message_is_sent(hall: Hall) -> None:
    """Otherwise an unreliable cable would push all other alerts out of the book."""
    strange = fact(1, 1, restored(2))
    for _ in range(3):
        hall.hear(strange)
    assert hall.alerts() == [("not_planned", 1)]


def test_a_lost_table_is_reported_once(hall: Hall) -> None:
    hall.hear(state(1))
    for _ in range(2):
        hall.hear(state(1, lifecycle="lost", count=0))
    assert hall.alerts() == [("table_lost", 1)]


VOID = Ruled(
    round=1, deal=event().bookings[1, 1].deal, decision=Void(), author="Tao", role="table_arbiter", reason="tiles fell"
)


def test_each_ruling_at_a_table_makes_an_alert_with_kind_author_and_reason(hall: Hall) -> None:
    hall.hear(*log(1, *steps(1), VOID, replace(VOID, reason="again")))
    assert hall.alerts() == [("ruled_at_table", 1)] * 2
    told = hall.ear.told("alert")["text"]
    assert [word in told for word in ("void", f"deal {VOID.deal}", "Tao", "again")] == [True] * 4


def test_a_fine_in_a_result_makes_an_alert_with_player_amount_author_and_reason(hall: Hall) -> None:
    fine = Fine(imp=8, reason="the hand was not valid", author="Tao")
    hall.hear(*whole_play(1, 1, OUTCOMES[1], {"north": fine}))
    assert hall.alerts() == [("fined_at_table", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    north = event().players[event().bookings[1, 1].players["north"]].name
    told = alert.values["fines"], alert.values["author"], alert.values["reason"]
    assert told == (f"{north} 8 IMP", "Tao", "the hand was not valid")


def test_a_ruling_at_a_table_after_the_correction_period_makes_a_second_alert(hall: Hall) -> None:
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
def test_a_result_of_a_play_settled_otherwise_makes_an_alert_with_the_ruling(hall: Hall, decision: AnyDecision) -> None:
    id_ = settle(hall, decision)
    hall.hear(*whole_play(1))
    assert hall.alerts() == [("settled_before", 1)]
    (alert,) = hall.scorer.feed.current.alerts
    assert (alert.values["ruling"], alert.values["author"], alert.values["round"]) == (id_, HEAD.name, 1)


def test_a_result_equal_to_the_ruling_makes_no_alert(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(*whole_play(1, 1, OUTCOMES[1]))
    assert hall.alerts() == []


def test_a_fine_that_the_ruling_lacks_makes_an_alert(hall: Hall) -> None:
    settle(hall, correct(OUTCOMES[1], None))
    hall.hear(*whole_play(1, 1, OUTCOMES[1], {"north": Fine(imp=4, reason="false hu")}))
    assert hall.alerts() == [("settled_before", 1), ("fined_at_table", 1)]


def test_a_withdrawn_ruling_settles_nothing(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    hall.ear.forget()
    hall.hear(*whole_play(1))
    assert hall.alerts() == []


def test_once_the_ruling_is_withdrawn_the_confirmed_result_counts(hall: Hall) -> None:
    id_ = settle(hall, Void())
    hall.hear(*whole_play(1))
    hall.scorer.rulings.give(draft(hall.scorer.rulings.room, Undo(ruling=id_)), HEAD)
    assert hall.scorer.rulings.room.play(PLAY).points == result(1).points
