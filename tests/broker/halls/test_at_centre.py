"""A table of a hall is told which of its facts the centre has, too: never of one that is not there."""

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


def test_a_table_is_told_that_the_centre_has_its_facts_once_that_has_said_so(tmp_path: Path) -> None:
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


def test_beyond_a_fact_that_the_hall_itself_lacks_nothing_is_said_to_be_there(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        facts = whole_log(1)[:4]
        made.halls["paris"].hear(facts[0], *facts[2:])
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=1)
        made.halls["paris"].hear(facts[1])
        assert made.halls["paris"].told(1) == AtCentre(upto=1)
        made.carry()
        assert made.halls["paris"].told(1) == AtCentre(upto=4)


def test_while_much_is_to_be_sent_no_table_is_told_of_each_part_of_it(tmp_path: Path) -> None:
    with places(tmp_path) as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker.halls.link.AT_ONCE", 2)
        paris = made.halls["paris"]
        made.carry()
        paris.hear(*said_in("paris"))
        paris.ear.forget()
        made.carry(100)
        assert [len(paris.ear.heard(f"receipt/{table}")) for table in (1, 2)] == [1, 1]
        assert of_paris(made) == [AtCentre(upto=len(whole_log(table))) for table in (1, 2)]


def test_a_fact_that_the_centre_has_refused_is_named_also_after_its_restart(tmp_path: Path) -> None:
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


def test_what_the_centre_has_is_known_after_a_restart_of_the_hall_without_a_link(tmp_path: Path) -> None:
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


def test_a_table_is_told_that_a_restored_centre_has_less_until_that_has_it_again(tmp_path: Path) -> None:
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
