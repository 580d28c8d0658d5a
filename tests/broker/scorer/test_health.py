"""How devices are is told to arbiters: once when unwell, once when well again."""

from msgspec.structs import replace

from broker.scorer.alerts import MOST_AT_ONCE
from broker.scorer.health import HealthWatch
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import state


def told(hall: Hall) -> list[tuple[str, str]]:
    """Give code and text of the alerts that were published since the last look."""
    alerts = [(one.code, one.text) for one in hall.ear.heard("alert")]  # type: ignore[attr-defined]  # alerts all
    hall.ear.forget()
    return alerts


def test_a_device_that_is_unwell_is_told_once_and_when_it_is_well_again(hall: Hall) -> None:
    ill = replace(state(1, count=1), health={"buttons": "device_unplugged"})
    hall.hear(ill)
    assert told(hall) == [("device_unwell", "table 1: buttons: device_unplugged")]
    hall.hear(replace(ill, count=2, unsent=3))
    assert told(hall) == []
    hall.hear(replace(ill, count=3, health={}))
    assert told(hall) == [("device_well", "table 1: buttons is well again")]


def test_of_several_parts_only_what_is_news_is_told(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"camera": "camera_gone", "button-east": "button_stuck"}))
    assert told(hall) == [("device_unwell", "table 1: camera: camera_gone; button-east: button_stuck")]
    hall.hear(replace(state(1, count=2), health={"camera": "camera_gone", "scanner": "device_unplugged"}))
    assert told(hall) == [("device_unwell", "table 1: scanner: device_unplugged; button-east is well again")]


def test_a_device_that_comes_and_goes_is_told_each_time_however_soon(hall: Hall) -> None:
    for count in range(4):
        hall.hear(replace(state(1, count=count + 1), health={} if count % 2 else {"buttons": "device_unplugged"}))
    assert [code for code, _ in told(hall)] == ["device_unwell", "device_well"] * 2


def test_what_came_and_went_within_one_batch_is_told_as_neither(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"buttons": "device_unplugged"}), state(1, count=2))
    assert told(hall) == []


def test_a_table_that_is_lost_is_not_told_to_be_well(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"buttons": "box_silent"}))
    hall.hear(state(1, lifecycle="lost", count=0))
    assert [code for code, _ in told(hall)] == ["device_unwell", "table_lost"]


def test_what_the_scorer_has_refused_is_told_as_refused_and_not_as_health(hall: Hall) -> None:
    hall.hear(replace(state(1), health={"refused": "not_planned"}))
    assert told(hall) == []


def test_what_is_too_much_for_one_batch_is_told_with_the_next() -> None:
    watch = HealthWatch()
    for table in range(1, MOST_AT_ONCE + 6):
        watch.hear(replace(state(1), table=table, health={"buttons": "box_silent"}))
    first = watch.concerns()[:MOST_AT_ONCE]
    watch.told(first)
    assert [one.table for one in watch.concerns()] == list(range(MOST_AT_ONCE + 1, MOST_AT_ONCE + 6))


def test_a_hostile_text_is_cut_to_what_an_alert_can_hold(hall: Hall) -> None:
    hall.hear(replace(state(1), health={f"part-{number}": "x" * 500 for number in range(16)}))
    ((code, text),) = told(hall)
    assert (code, len(text)) == ("device_unwell", 500)
