"""What a hall has, the centre gets: each row once, whatever becomes of the line between them."""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import connect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.event import CentreAddress
from broker.halls.link import AT_ONCE, LEAST_ON_WAY, MOST_ON_WAY, FromCentre, HallLink
from broker.protocol import (
    LONGEST_ROW,
    SILENT_S,
    Call,
    Confirmed,
    HallReceipt,
    HallRow,
    LogMessage,
    SigningKey,
    decode,
    encode,
    topics,
)
from broker.protocol.link import Incoming, LinkChanged, LinkDown, LinkRefused
from broker.scorer import EventState
from broker.scorer.dashboard import Dashboard
from broker.store import Journal, RefusedRow
from broker.web.render import card_state
from tests.broker.halls.places import CENTRE, HALLS, Place, Places, Wire, places
from tests.broker.scorer.hall import NOW, STORE, Clock, open_journal
from tests.broker.scorer.small import event, fact, whole_event, whole_log
from tests.examples import COSTLY


def said_in(hall: str) -> list[LogMessage]:
    """Return all that the tables of a hall say."""
    (tables,) = [one.numbers for one in HALLS if one.name == hall]
    return [message for table in sorted(tables) for message in whole_log(table)]


def facts_at(place: Places) -> list[tuple[int, int, str]]:
    """Return table, number and id of all facts at the centre."""
    journal = place.centre.scorer._journal
    return sorted((m.table, m.seq, m.id) for m in journal.messages() if isinstance(m, LogMessage))


def told_at_tables(made: Places) -> set[tuple[int, int]]:
    """Return table and number of the facts of which tables are told that the centre has them."""
    receipts = [(table, hall.told(table)) for hall in made.halls.values() for table in range(1, 5)]
    return {(table, seq) for table, centre in receipts if centre for seq in range(1, centre.upto + 1)}


def counted_at(place: Place, *, anew: bool) -> tuple[object, ...]:
    """Return what a desk shows that is counted over all tables, as it stands there or counted anew."""
    scorer = place.scorer
    view = (Dashboard(scorer.live, lambda: "", time.monotonic) if anew else scorer.dashboard).view()
    return view.lost, view.apart, view.halls


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
        parsed = [topics.parse_topic(one) for one in made.centre.ear.story]
        assert {one.table for one in parsed if one} == {None}  # tables are in halls, and hear nothing of it


def test_the_tables_of_a_hall_say_at_the_centre_whether_it_is_in_contact(tmp_path: Path) -> None:
    with places(tmp_path) as made:

        def states() -> list[str]:
            return [card_state(table) for table in made.centre.scorer.feed.current.tables]

        assert states() == ["unheard"] * 4
        made.halls["paris"].step()
        made.carry_up("paris")
        assert states() == ["hall_there", "hall_there", "unheard", "unheard"]
        link = made.halls["paris"].scorer.live.hall
        assert link is not None
        clock = made.centre.scorer._clock
        assert isinstance(clock, Clock)
        clock.read = lambda: NOW + 3_600_000
        link.close()
        made.carry_up("paris")
        assert states() == ["hall_away", "hall_away", "unheard", "unheard"]
        (paris, _) = made.centre.scorer.feed.current.halls
        assert (paris.lifecycle, paris.clock_span) == ("gone", "")  # a will was written long ago


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
    return len([row for one in place.line.heard("/row") if isinstance(one, HallRow) for row in one.each()])


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


ALTERED_TIME = "UPDATE journal SET received_at = 1 << 60 WHERE height = {}"

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


def test_which_deals_are_over_is_said_again_where_a_hall_has_missed_it(tmp_path: Path) -> None:
    """What is published while a hall connects may pass it by, and at the end nothing changes any more."""
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        made.carry()
        made.halls["paris"].scorer.state.release(frozenset())  # as if it had not heard it
        made.centre.ear.forget()
        made.centre.step()
        assert made.centre.ear.heard("/centre") == []
        made.clock[0] += SILENT_S
        made.centre.step()
        made.carry_down("paris")
        assert made.halls["paris"].scorer.state.snapshot().complete == frozenset(event().expected)


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
def test_whatever_is_lost_doubled_mixed_up_or_restored_the_centre_has_every_fact_once_and_tables_know_that(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    with places(tmp_path_factory.mktemp("places")) as made:
        to_come, ever = {name: said_in(name) for name in made.halls}, set[tuple[int, int, str]]()
        for name in (CENTRE, *made.halls):
            made.copy(name)
        for _ in range(data.draw(st.integers(2, 10))):
            name = data.draw(st.sampled_from(sorted(made.halls)))
            count = data.draw(st.integers(0, 12))
            made.halls[name].hear(*to_come[name][:count])
            del to_come[name][:count]
            draw_mishap(made, name, data)
            ever.update(facts_at(made))
            assert told_at_tables(made) <= {one[:2] for one in ever}
            for place in (made.centre, *made.halls.values()):
                assert counted_at(place, anew=False) == counted_at(place, anew=True)
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
            hall.heal()
        made.carry(200)
        assert facts_at(made) == ALL
        assert [*made.centre.scorer._journal.refused()] == []
        assert told_at_tables(made) == {one[:2] for one in ALL}


def with_rows(journal: Journal, count: int) -> None:
    """Add so many facts of one table to a hall's journal, as hours without a link leave them."""
    with journal.commit():
        for seq in range(1, count + 1):
            journal.append(fact(1, seq, Confirmed(round=1, deal=1)), received_at=seq)


class Centre:
    """Takes what a hall sends, and says so after each round."""

    def __init__(self, hall: HallLink, line: Wire, key: SigningKey) -> None:
        self._hall, self._line, self._key = hall, line, key
        self.heights: list[int] = []
        self.most_at_once = 0

    def take(self) -> None:
        """Take all that is on the way."""
        rows = [row for one in self._line.heard("/row") if isinstance(one, HallRow) for row in one.each()]
        self._line.forget()
        self.most_at_once = max(self.most_at_once, len(rows))
        self.heights += [one.height for one in rows]
        last = rows[-1] if rows else None
        receipt = HallReceipt(
            id="hall-receipt",
            event="cup",
            seq=1,
            hall="paris",
            attempt=0,
            upto=self.heights[-1] if self.heights else 0,
            link=last.link if last else None,
        )
        topic = topics.HALL_RECEIPT.at("cup", hall="paris")
        self._hall.take(FromCentre(Incoming(topic, encode(self._key.sign(receipt)), lambda: None)))


@dataclass
class Line:
    """A hall's link on its journal, the line on which it speaks, and a centre that answers."""

    hall: HallLink
    wire: Wire
    centre: Centre
    journal: Journal
    clock: list[float]

    def steps(self, count: int) -> None:
        """Let the hall do what there is to do, so many times."""
        for _ in range(count):
            self.hall.step()

    def on_its_way(self, seconds: list[float]) -> list[int]:
        """Return how many rows are on their way, each time until a receipt comes after so many seconds."""
        found = list[int]()
        for took in seconds:
            self.steps(2 * MOST_ON_WAY // AT_ONCE)
            found.append(-len(self.centre.heights))
            self.clock[0] += took
            self.centre.take()
            found[-1] += len(self.centre.heights)
        return found


@contextmanager
def line_of(folder: Path) -> Iterator[Line]:
    """Return a hall that is connected with a centre, which has nothing yet."""
    folder.mkdir(exist_ok=True)
    key, wire, clock = SigningKey.new(), Wire(), [0.0]
    with open_journal(folder) as journal:
        address = CentreAddress("paris", "Paris", ("127.0.0.1:1",), key.public)
        hall = HallLink(address, "cup", journal, lambda: (), lambda: NOW, lambda: clock[0])
        hall._link = wire
        made = Line(hall, wire, Centre(hall, wire, key), journal, clock)
        hall.take(FromCentre(LinkChanged(up=True)))
        made.centre.take()
        yield made


def catch_up(folder: Path, count: int) -> tuple[Centre, int]:
    """Let a hall come back after hours; return what the centre has got, and the most memory that it took."""
    with line_of(folder) as line:
        line.hall.take(FromCentre(LinkChanged(up=False)))
        line.wire.there = False
        with_rows(line.journal, count)
        for _ in range(1000):
            line.clock[0] += 20.0
            line.steps(1)
        assert line.wire.said == []
        line.wire.there = True
        line.hall.take(FromCentre(LinkChanged(up=True)))
        tracemalloc.start()
        for _ in range(count):
            line.centre.take()
            if len(line.centre.heights) == count:
                break
            line.clock[0] += 0.2
            line.steps(1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return line.centre, peak


def test_after_hours_without_a_link_a_hall_sends_all_once_a_hundred_at_a_time_in_as_little_memory(
    tmp_path: Path,
) -> None:
    """So tables do not wait, however much waits."""
    (few, little), (many, much) = (catch_up(tmp_path / str(count), count) for count in (500, 3000))
    assert many.heights == [*range(1, 3001)]
    assert (few.most_at_once, many.most_at_once) == (AT_ONCE, AT_ONCE)
    assert much < 2 * little


def test_as_much_is_on_its_way_as_suits_the_centre(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        with_rows(line.journal, 8 * MOST_ON_WAY)
        soon = line.on_its_way([0.1] * 6)
        assert soon == [LEAST_ON_WAY * 2**at for at in range(5)] + [MOST_ON_WAY]
        assert line.on_its_way([2.0] * 2) == [MOST_ON_WAY] * 2
        late = line.on_its_way([2.1] * 6)
        assert late == [*(MOST_ON_WAY // 2**at for at in range(5)), LEAST_ON_WAY]


def test_rows_are_sent_in_few_messages_that_a_broker_takes(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        long = [fact(1, seq, Call(round=1, deal=1, open=True)) for seq in range(1, 51)]
        with line.journal.commit():
            for one in long:
                line.journal.append(one, 1, encode(one).ljust(LONGEST_ROW // 2))
        line.steps(10)
        sizes = [len(payload) for topic, payload, _ in line.wire.said if topic.endswith("/row")]
        assert max(sizes) <= topics.HALL_ROW.limit
        assert len(sizes) == 7
        line.centre.take()
        assert line.centre.heights == [*range(1, 51)]


@pytest.mark.parametrize("character", [" ", "東", "\U0001f004", '"'])
def test_the_longest_row_that_a_hall_sends_is_one_that_a_broker_takes(tmp_path: Path, character: str) -> None:
    """Its length is counted in characters, whatever they take on the way."""
    with line_of(tmp_path) as line:
        with line.journal.commit():
            for seq, length in ((1, LONGEST_ROW), (2, LONGEST_ROW + 1)):
                line.journal.append(fact(1, seq, Call(round=1, deal=1, open=True)), 1, (character * length).encode())
        line.steps(3)
        rows = [payload for topic, payload, _ in line.wire.said if topic.endswith("/row")]
        assert max(map(len, rows)) <= topics.HALL_ROW.limit
        sent = [row.body for payload in rows for row in decode(HallRow, payload).each()]
        assert sent == [character * LONGEST_ROW, ""]


def test_a_row_with_a_changed_byte_that_is_no_text_keeps_no_other_row_from_the_centre(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        with_rows(line.journal, 3)
        with closing(connect(tmp_path / STORE)) as store:
            store.execute("DROP TRIGGER journal_append_only_update")
            (body,) = store.execute("SELECT body FROM journal WHERE height = 2").fetchone()
            store.execute("UPDATE journal SET body = ? WHERE height = 2", (body.replace(b"cup", b"\xe3up"),))
            store.commit()
        line.steps(1)
        line.centre.take()
        assert line.centre.heights == [1, 2, 3]


@pytest.mark.parametrize("changed", ["DELETE FROM journal WHERE height = {}", ALTERED_TIME])
@pytest.mark.parametrize("height", [5, 8])
def test_a_row_that_is_missing_or_has_no_time_keeps_no_other_row_from_the_centre(
    tmp_path: Path, changed: str, height: int
) -> None:
    with places(tmp_path) as made:
        made.carry()
        made.halls["paris"].cut()
        made.halls["paris"].hear(*said_in("paris"))
        with closing(connect(tmp_path / "paris" / STORE)) as store:
            for kind in ("delete", "update"):
                store.execute(f"DROP TRIGGER journal_append_only_{kind}")
            (lost,) = store.execute("SELECT table_no, seq FROM journal WHERE height = ?", (height,))
            store.execute(changed.format(height))
            store.commit()
        made.halls["paris"].heal()
        made.carry()
        assert [one for one in ALL_OF_PARIS if one not in of_paris(made)] == [(*lost, f"t{lost[0]}-fact-{lost[1]}")]
        made.halls["paris"].cut()
        made.halls["paris"].heal()
        assert made.at_centre._positions["paris"].attempt == 0
        made.restart("paris")
        made.halls["paris"].hear(*said_in("paris"))
        made.carry()
        assert of_paris(made) == ALL_OF_PARIS


def test_a_hall_waits_longer_for_a_centre_that_is_slow_to_answer(tmp_path: Path) -> None:
    """What is on its way to a busy centre arrives without being sent again."""
    with line_of(tmp_path) as line:
        with_rows(line.journal, 2 * LEAST_ON_WAY)
        assert line.on_its_way([4.0]) == [LEAST_ON_WAY]
        line.steps(1)
        line.wire.forget()
        waited = 0
        while not line.wire.heard("/row"):
            waited += 1
            line.clock[0] += 1
            line.steps(1)
        assert waited == 17


def test_a_hall_says_that_it_is_not_let_in_until_it_is_or_nobody_answers(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        said = []
        for why in (LinkRefused("not you"), None, LinkDown("nobody answers"), LinkRefused("not you")):
            line.hall.take(FromCentre(LinkChanged(up=False, why=why)))
            said.append(line.hall.view().turned_away)
        line.hall.take(FromCentre(LinkChanged(up=True)))
        assert [*said, line.hall.view().turned_away] == [True, True, False, True, False]
        assert line.hall.view().tried == ("127.0.0.1:1",)
