"""When arbiters are told of copies that are not made: once, then now and then, and when it is over."""

from broker.store.backup.watch import REMIND_MS, Report, Watch


def test_trouble_is_said_once_then_now_and_then_until_it_is_over() -> None:
    watch = Watch(1000, 0)
    full, gone = Report(well=False, text="full"), Report(well=False, text="gone")
    assert watch.made(1) is None
    assert [watch.failed("full", 2), watch.failed("full", 3), watch.failed("gone", 4)] == [full, None, gone]
    assert [watch.failed("gone", 3 + REMIND_MS), watch.failed("gone", 4 + REMIND_MS)] == [None, gone]
    assert [watch.made(5 + REMIND_MS), watch.made(6 + REMIND_MS)] == [
        Report(well=True, text="copies of the event are made again"),
        None,
    ]


def test_a_copy_that_does_not_come_to_its_end_is_said() -> None:
    watch = Watch(1000, 0)
    assert [watch.looked(3000), watch.looked(3002)] == [None, watch._said]
    assert watch._said is not None
    assert "does not answer" in watch._said.text
