"""Copies of an event have its people: made while the desk writes, restored as they were at the copy."""

from contextlib import closing
from pathlib import Path

from broker.people.door import Door
from broker.people.orders import Given, Orders
from broker.store.backup.making import make
from broker.store.backup.restoring import choose, restore
from tests.broker.people.conftest import BY, NOON, PASSWORD, Hand
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME

PAUSE = Given((1,), "pause", 0, "fire alarm", "Anne")


def test_accounts_orders_and_the_log_are_in_a_copy_without_what_was_not_yet_kept(tmp_path: Path, clock: Hand) -> None:
    event, stick = event_folder(tmp_path / "event", until_round(3)), tmp_path / "stick"
    stick.mkdir()
    with closing(Door(event, clock)) as door:
        door.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
        kept = Orders(door.store).keep("order-1", PAUSE, "anne", NOON)
        with door.store.commit():
            Orders(door.store).keep("order-2", PAUSE, "anne", NOON)
            make(event, NAME, stick, NOON, keep=3)
        accounts, log = door.accounts.all(), door.audit.newest(10)
    source, manifest, _ = choose(stick, NAME)
    restore(source, manifest, tmp_path / "restored")
    with closing(Door(tmp_path / "restored", clock)) as restored:
        assert Orders(restored.store).newest(10) == [kept]
        assert (restored.accounts.all(), restored.audit.newest(10)) == (accounts, log)
        assert restored.accounts.who_has("anne", PASSWORD) == accounts[0]
