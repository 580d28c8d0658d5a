"""Receipts tell a hall's tables which of their facts the centre has, and never name one that it lacks."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import AtCentre
from broker.scorer.publisher import PAUSE_S
from tests.broker.halls.places import CENTRE, Places, places
from tests.broker.halls.test_link import said_in
from tests.broker.scorer.small import signed, whole_log


def of_paris(made: Places) -> list[AtCentre | None]:
    return [made.halls["paris"].told(table) for table in (1, 2)]


def test_a_tables_receipt_says_which_facts_the_centre_has_confirmed(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris, facts = made.halls["paris"], whole_log(1)
        paris.hear(*facts[:4])
        assert made.halls["paris"].told(1) is None
        made.carry_down("paris")
        assert made.halls["paris"].told(1) == AtCentre(upto=0)
        made.carry()
        assert of_paris(made) == [AtCentre(upto=4), AtCentre(upto=0)]
        paris.hear(*facts[4:])
        assert made.halls["paris"].told(1) == AtCentre(upto=4)
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=len(facts))


def test_facts_after_a_gap_are_not_confirmed(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        facts = whole_log(1)[:4]
        made.halls["paris"].hear(facts[0], *facts[2:])
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=1)
        made.halls["paris"].hear(facts[1])
        assert made.halls["paris"].told(1) == AtCentre(upto=1)
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=4)


def test_catching_up_sends_each_table_only_one_receipt(tmp_path: Path) -> None:
    with places(tmp_path) as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker.halls.link.ROWS_PER_MESSAGE", 2)
        paris = made.halls["paris"]
        made.carry()
        paris.hear(*said_in("paris"))
        paris.ear.forget()
        made.carry(100)
        assert [len(paris.ear.heard(f"receipt/{table}")) for table in (1, 2)] == [1, 1]
        assert of_paris(made) == [AtCentre(upto=len(whole_log(table))) for table in (1, 2)]


def test_a_fact_refused_by_the_centre_stays_listed_after_a_restart(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        facts = whole_log(1)[:6]
        made.halls["paris"].hear(*facts[:4])
        made.copy("paris")
        made.halls["paris"].hear(facts[4])
        made.carry()
        made.restore("paris")
        made.halls["paris"].hear(signed(replace(facts[4], id="another-fact")), facts[5])
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=6, lacks=(5,))
        made.restart(CENTRE)
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=6, lacks=(5,))


def test_a_hall_restarted_without_a_link_knows_what_the_centre_has(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris, facts = made.halls["paris"], whole_log(1)
        paris.hear(*facts[:4])
        made.carry()
        paris.hear(facts[4])
        made.clock[0] += 60
        paris.step()
        made.restart("paris")
        made.halls["paris"].cut()
        made.halls["paris"].hear(facts[5])
        assert made.halls["paris"].told(1) == AtCentre(upto=4)
        view = made.halls["paris"].scorer.feed.current.centre
        assert view is not None
        assert view.rows - view.upto == 2


def test_tables_learn_that_a_restored_centre_has_less_until_it_catches_up(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        facts = whole_log(1)
        made.halls["paris"].hear(*facts[:4])
        made.carry()
        made.copy(CENTRE)
        made.halls["paris"].hear(*facts[4:])
        made.carry()
        made.halls["paris"].cut()
        made.restore(CENTRE)
        made.halls["paris"].heal()
        made.clock[0] += PAUSE_S
        made.carry_down("paris")
        assert made.halls["paris"].told(1) == AtCentre(upto=4)
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=len(facts))
