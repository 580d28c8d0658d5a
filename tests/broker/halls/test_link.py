"""What a hall has, the centre gets: each row once, whatever becomes of the line between them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.protocol import LogMessage, topics
from broker.scorer.state import EventState
from broker.store import RefusedRow
from broker.web import card_state
from tests.broker.halls.places import CENTRE, HALLS, Place, Places, places
from tests.broker.scorer.small import event, whole_event, whole_log
from tests.examples import COSTLY


def said_in(hall: str) -> list[LogMessage]:
    """Return all that the tables of a hall say."""
    (tables,) = [one.numbers for one in HALLS if one.name == hall]
    return [message for table in sorted(tables) for message in whole_log(table)]


def facts_at(place: Places) -> list[tuple[int, int, str]]:
    """Return table, number and id of all facts at the centre."""
    journal = place.centre.scorer._journal
    return sorted((m.table, m.seq, m.id) for m in journal.messages() if isinstance(m, LogMessage))


ALL = sorted((one.table, one.seq, one.id) for one in whole_event())


def test_the_centre_has_the_facts_of_all_halls_and_their_standings_together(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        made.carry()
        assert facts_at(made) == ALL
        refused: list[RefusedRow] = [*made.centre.scorer._journal.refused()]
        assert refused == []
        whole = EventState(event())
        whole.load(whole_event())
        view = made.centre.scorer.feed.current
        assert list(view.standings) == list(whole.snapshot().standings)
        assert [(one.name, one.behind, one.refused, one.lifecycle) for one in view.halls] == [
            ("paris", 0, 0, "there"),
            ("osaka", 0, 0, "there"),
        ]


def test_the_tables_of_a_hall_say_at_the_centre_whether_it_is_in_contact(tmp_path: Path) -> None:
    with places(tmp_path) as made:

        def states() -> list[str]:
            return [card_state(table) for table in made.centre.scorer.feed.current.tables]

        assert states() == ["unheard"] * 4
        made.halls["paris"].step()
        made.carry_up("paris")
        assert states() == ["hall_there", "hall_there", "unheard", "unheard"]
        made.halls["paris"].scorer.hall.close()  # type: ignore[union-attr]  # a hall has a link
        made.carry_up("paris")
        assert states() == ["hall_away", "hall_away", "unheard", "unheard"]


def test_no_deal_is_public_in_a_hall_before_all_halls_have_played_it(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris, osaka = made.halls["paris"], made.halls["osaka"]
        paris.hear(*said_in("paris"))
        made.carry()
        assert paris.scorer.state.plays_in == 8
        assert paris.scorer.snapshot.complete == frozenset()
        assert len(paris.scorer.feed.current.standings) == len(paris.scorer.state.event.players)
        osaka.hear(*said_in("osaka"))
        assert osaka.scorer.snapshot.complete == frozenset()
        made.carry()
        everything = frozenset(event().expected)
        assert [one.scorer.snapshot.complete for one in (paris, osaka, made.centre)] == [everything] * 3


def waits(made: Places, count: int) -> list[int]:
    """Return after how many seconds each the rows of Paris, all of which are lost, are sent again."""
    hall, found = made.halls["paris"], list[int]()
    hall.line.forget()
    for _ in range(count):
        began = made.clock[0]
        while not rows_sent(hall):
            made.clock[0] += 1
            hall.step()
        hall.line.forget()
        found.append(int(made.clock[0] - began))
    return found


def rows_sent(place: Place) -> int:
    """Return how many rows a hall has sent and nobody has carried."""
    return sum(topic == topics.HALL_ROW.at("cup", hall="paris") for topic, *_ in place.line.said)


def test_each_time_in_vain_a_hall_waits_longer_and_after_a_receipt_as_short_as_at_first(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        first, *others = [message for table in (1, 2) for message in whole_log(table)]
        made.carry()
        made.halls["paris"].hear(first)
        assert waits(made, 6) == [6, 11, 21, 41, 61, 61]
        made.carry()
        made.halls["paris"].hear(*others[:3])
        made.carry_up("paris")
        made.carry_down("paris")
        made.halls["paris"].hear(*others[3:])
        assert waits(made, 3) == [6, 11, 21]
        made.carry()
        assert [one for one in facts_at(made) if one[0] in (1, 2)] == [one for one in ALL if one[0] in (1, 2)]


def test_a_receipt_of_rows_that_were_sent_twice_does_not_make_a_hall_hasty(tmp_path: Path) -> None:
    """Which of the two has arrived nobody knows: a centre that is always late would be sent everything twice."""
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        made.carry()
        paris.hear(*whole_log(1)[:4])
        made.clock[0] += 6
        paris.step()
        made.carry_up("paris")
        made.carry_down("paris")
        paris.hear(*whole_log(1)[4:])
        assert waits(made, 2) == [11, 21]


def test_of_rows_that_the_centre_has_none_is_sent_again_once_its_receipt_is_there(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        made.carry()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("broker.halls.link.AT_ONCE", 2)
            for message in whole_log(1)[:8]:
                paris.hear(message)
            said = rows_sent(paris)
            assert said == 8
            made.clock[0] += 6
            paris.step()
            assert rows_sent(paris) == said + 2
            made.carry_up("paris")
            made.carry_down("paris")
            assert rows_sent(paris) == 0


def of_paris(made: Places) -> list[tuple[int, int, str]]:
    """Return the facts of Paris at the centre."""
    return [one for one in facts_at(made) if one[0] in (1, 2)]


ALL_OF_PARIS = [one for one in ALL if one[0] in (1, 2)]


def test_a_hall_goes_on_after_the_row_that_the_centre_has_where_its_standby_takes_over(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.halls["paris"].hear(*said_in("paris")[:10])
        made.carry()
        made.copy("paris")
        made.restore("paris")
        made.halls["paris"].hear(*said_in("paris")[10:])
        made.carry_down("paris")
        assert rows_sent(made.halls["paris"]) == len(ALL_OF_PARIS) - 10
        made.carry()
        assert of_paris(made) == ALL_OF_PARIS


def test_a_hall_that_begins_again_sends_its_rows_again_where_all_of_them_are_lost(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        paris.hear(*said_in("paris")[:10])
        made.copy("paris")
        paris.hear(*said_in("paris")[10:12])
        made.carry()
        made.restore("paris")
        paris = made.halls["paris"]
        paris.hear(said_in("paris")[12])
        made.carry_down("paris")
        assert rows_sent(paris) == paris.scorer._journal.height
        paris.cut()
        paris.heal()
        paris.hear(*said_in("paris")[10:])
        made.carry()
        assert of_paris(made) == ALL_OF_PARIS


def test_a_centre_that_is_restored_gets_what_it_lacks_from_a_hall_that_had_begun_again(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        made.halls["paris"].hear(*said_in("paris")[:10])
        made.copy("paris")
        made.halls["paris"].hear(*said_in("paris")[10:12])
        made.carry()
        made.copy(CENTRE)
        made.restore("paris")
        made.halls["paris"].hear(*said_in("paris")[10:])
        made.carry()
        made.restore(CENTRE)
        assert of_paris(made) != ALL_OF_PARIS
        made.carry()
        assert of_paris(made) == ALL_OF_PARIS


def test_a_receipt_that_is_lost_is_said_again_when_the_hall_says_that_it_is_there(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        made.carry()
        paris.cut()
        paris.heal()
        paris.hear(*said_in("paris"))
        assert rows_sent(paris) == 0
        made.centre.ear.forget()
        made.carry()
        assert of_paris(made) == ALL_OF_PARIS


def draw_mishap(made: Places, name: str, data: st.DataObject) -> None:
    """Let something happen between a hall and the centre, or to one of them."""
    hall = made.halls[name]

    def take_over() -> None:
        made.copy(name)
        made.restore(name)

    mishaps: dict[str, Callable[[], object]] = {
        "carried, and all that was ever said comes again": lambda: (
            made.carry_down(name, stale=True),
            made.carry_up(name),
        ),
        "lost, doubled and mixed up": lambda: made.carry_up(name, data.draw(st.lists(st.integers(0, 30), max_size=60))),
        "cut": hall.cut,
        "healed": hall.heal,
        "late": lambda: made.wait(name),
        "copied": lambda: made.copy(data.draw(st.sampled_from((CENTRE, name)))),
        "restored": lambda: made.restore(data.draw(st.sampled_from((CENTRE, name)))),
        "taken over by a standby": take_over,
    }
    mishaps[data.draw(st.sampled_from(sorted(mishaps)))]()


@settings(max_examples=max(4, COSTLY.max_examples))
@given(data=st.data())
def test_whatever_is_lost_doubled_mixed_up_or_restored_the_centre_has_every_fact_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    with places(tmp_path_factory.mktemp("places")) as made:
        to_come = {name: said_in(name) for name in made.halls}
        for name in (CENTRE, *made.halls):
            made.copy(name)
        for _ in range(data.draw(st.integers(2, 10))):
            name = data.draw(st.sampled_from(sorted(made.halls)))
            count = data.draw(st.integers(0, 12))
            made.halls[name].hear(*to_come[name][:count])
            del to_come[name][:count]
            draw_mishap(made, name, data)
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
            hall.heal()
        made.carry(200)
        assert facts_at(made) == ALL
        assert [*made.centre.scorer._journal.refused()] == []
