"""The centre gets each row of a hall once, whatever happens to the line between them."""

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
from broker.halls.link import MAX_WINDOW, MIN_WINDOW, ROWS_PER_MESSAGE, FromCentre, HallLink
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
    """Return all messages of the tables of a hall."""
    (tables,) = [one.numbers for one in HALLS if one.name == hall]
    return [message for table in sorted(tables) for message in whole_log(table)]


def facts_at(place: Places) -> list[tuple[int, int, str]]:
    """Return table, sequence number and id of all facts at the centre."""
    journal = place.centre.scorer._journal
    return sorted((m.table, m.seq, m.id) for m in journal.messages() if isinstance(m, LogMessage))


def told_at_tables(made: Places) -> set[tuple[int, int]]:
    """Return table and sequence number of the facts which receipts say that the centre has."""
    receipts = [(table, hall.told(table)) for hall in made.halls.values() for table in range(1, 5)]
    return {(table, seq) for table, centre in receipts if centre for seq in range(1, centre.upto + 1)}


def counted_at(place: Place, *, anew: bool) -> tuple[object, ...]:
    """Return a desk's totals over all tables, as it has them or computed afresh."""
    scorer = place.scorer
    view = (Dashboard(scorer.live, lambda: "", time.monotonic) if anew else scorer.dashboard).view()
    return view.lost, view.apart, view.halls


ALL = sorted((one.table, one.seq, one.id) for one in whole_event())


def test_the_centre_has_the_facts_of_all_halls_and_their_common_standings(tmp_path: Path) -> None:
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
        assert {one.table for one in parsed if one} == {None}  # nothing is sent to tables: they are in the halls


def test_the_centre_shows_for_each_table_whether_its_hall_is_connected(tmp_path: Path) -> None:
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
        assert (paris.lifecycle, paris.clock_span) == ("gone", "")  # the will was written long ago


def test_a_hall_publishes_no_deal_before_all_halls_have_played_it(tmp_path: Path) -> None:
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
    """Lose all rows of Paris; return after how many seconds each repetition is sent."""
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
    """Return how many rows a hall has sent that were not carried."""
    return len([row for one in place.line.heard("/row") if isinstance(one, HallRow) for row in one.each()])


def test_a_hall_waits_longer_after_each_timeout_until_a_receipt_comes(tmp_path: Path) -> None:
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


def test_a_receipt_for_repeated_rows_does_not_shorten_the_timeout(tmp_path: Path) -> None:
    """Nobody knows which of the two has arrived: a centre that is always late would be sent everything twice."""
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


def test_rows_are_not_repeated_after_their_receipt(tmp_path: Path) -> None:
    with places(tmp_path) as made:
        paris = made.halls["paris"]
        made.carry()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("broker.halls.link.ROWS_PER_MESSAGE", 2)
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
    return [one for one in facts_at(made) if one[0] in (1, 2)]


ALTERED_TIME = "UPDATE journal SET received_at = 1 << 60 WHERE height = {}"

ALL_OF_PARIS = [one for one in ALL if one[0] in (1, 2)]


def test_a_halls_standby_continues_after_the_last_row_that_the_centre_has(tmp_path: Path) -> None:
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


def test_a_hall_that_begins_again_repeats_all_rows_if_they_were_lost(tmp_path: Path) -> None:
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


def test_a_restored_centre_gets_what_it_lacks_from_a_hall_that_had_begun_again(tmp_path: Path) -> None:
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


def test_a_lost_receipt_is_repeated_when_the_hall_announces_itself(tmp_path: Path) -> None:
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


def test_the_list_of_complete_deals_is_repeated(tmp_path: Path) -> None:
    """A hall may miss what is published while it connects, and at the end of an event nothing changes any more."""
    with places(tmp_path) as made:
        for name, hall in made.halls.items():
            hall.hear(*said_in(name))
        made.carry()
        made.halls["paris"].scorer.state.release(frozenset())  # as if it had missed it
        made.centre.ear.forget()
        made.centre.step()
        assert made.centre.ear.heard("/centre") == []
        made.clock[0] += SILENT_S
        made.centre.step()
        made.carry_down("paris")
        assert made.halls["paris"].scorer.state.snapshot().complete == frozenset(event().expected)


def draw_mishap(made: Places, name: str, data: st.DataObject) -> None:
    """Let a mishap befall a hall, the centre, or the line between them."""
    hall = made.halls[name]

    def take_over() -> None:
        made.copy(name)
        made.restore(name)

    mishaps: dict[str, Callable[[], object]] = {
        "carried, with all earlier messages of the centre": lambda: (
            made.carry_down(name, stale=True),
            made.carry_up(name),
        ),
        "lost, doubled, reordered": lambda: made.carry_up(name, data.draw(st.lists(st.integers(0, 30), max_size=60))),
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
def test_despite_any_loss_repetition_or_restore_the_centre_gets_every_fact_once(
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
    """Add `count` facts of one table to a hall's journal, as after hours without a link."""
    with journal.commit():
        for seq in range(1, count + 1):
            journal.append(fact(1, seq, Confirmed(round=1, deal=1)), received_at=seq)


class Centre:
    """Receives a hall's rows and sends a receipt each time."""

    def __init__(self, hall: HallLink, line: Wire, key: SigningKey) -> None:
        self._hall, self._line, self._key = hall, line, key
        self.heights: list[int] = []
        self.most_at_once = 0

    def take(self) -> None:
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
        self._hall.receive(FromCentre(Incoming(topic, encode(self._key.sign(receipt)), lambda: None)))


@dataclass
class Line:
    """A hall's link with its journal, its line, and a centre that answers."""

    hall: HallLink
    wire: Wire
    centre: Centre
    journal: Journal
    clock: list[float]

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.hall.step()

    def on_its_way(self, seconds: list[float]) -> list[int]:
        """Return for each delay of a receipt, in seconds, how many rows are sent before it comes."""
        found = list[int]()
        for took in seconds:
            self.steps(2 * MAX_WINDOW // ROWS_PER_MESSAGE)
            found.append(-len(self.centre.heights))
            self.clock[0] += took
            self.centre.take()
            found[-1] += len(self.centre.heights)
        return found


@contextmanager
def line_of(folder: Path) -> Iterator[Line]:
    """Connect a hall with a centre that has nothing yet."""
    folder.mkdir(exist_ok=True)
    key, wire, clock = SigningKey.new(), Wire(), [0.0]
    with open_journal(folder) as journal:
        address = CentreAddress("paris", "Paris", ("127.0.0.1:1",), key.public)
        hall = HallLink(address, "cup", journal, lambda: (), lambda: NOW, lambda: clock[0])
        hall._link = wire
        made = Line(hall, wire, Centre(hall, wire, key), journal, clock)
        hall.receive(FromCentre(LinkChanged(up=True)))
        made.centre.take()
        yield made


def catch_up(folder: Path, count: int) -> tuple[Centre, int]:
    """Let a hall catch up after hours; return the centre, and the peak memory in bytes."""
    with line_of(folder) as line:
        line.hall.receive(FromCentre(LinkChanged(up=False)))
        line.wire.there = False
        with_rows(line.journal, count)
        for _ in range(1000):
            line.clock[0] += 20.0
            line.steps(1)
        assert line.wire.said == []
        line.wire.there = True
        line.hall.receive(FromCentre(LinkChanged(up=True)))
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


def test_after_hours_without_a_link_a_hall_sends_everything_once_in_bounded_memory(
    tmp_path: Path,
) -> None:
    """Tables do not have to wait, however much there is to send."""
    (few, little), (many, much) = (catch_up(tmp_path / str(count), count) for count in (500, 3000))
    assert many.heights == [*range(1, 3001)]
    assert (few.most_at_once, many.most_at_once) == (ROWS_PER_MESSAGE, ROWS_PER_MESSAGE)
    assert much < 2 * little


def test_the_number_of_unconfirmed_rows_adapts_to_the_centre(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        with_rows(line.journal, 8 * MAX_WINDOW)
        soon = line.on_its_way([0.1] * 6)
        assert soon == [MIN_WINDOW * 2**at for at in range(5)] + [MAX_WINDOW]
        assert line.on_its_way([2.0] * 2) == [MAX_WINDOW] * 2
        late = line.on_its_way([2.1] * 6)
        assert late == [*(MAX_WINDOW // 2**at for at in range(5)), MIN_WINDOW]


def test_rows_are_sent_in_few_messages_within_the_brokers_limit(tmp_path: Path) -> None:
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
def test_the_longest_row_fits_in_a_message(tmp_path: Path, character: str) -> None:
    """Its length is counted in characters, however many bytes they take in the message."""
    with line_of(tmp_path) as line:
        with line.journal.commit():
            for seq, length in ((1, LONGEST_ROW), (2, LONGEST_ROW + 1)):
                line.journal.append(fact(1, seq, Call(round=1, deal=1, open=True)), 1, (character * length).encode())
        line.steps(3)
        rows = [payload for topic, payload, _ in line.wire.said if topic.endswith("/row")]
        assert max(map(len, rows)) <= topics.HALL_ROW.limit
        sent = [row.body for payload in rows for row in decode(HallRow, payload).each()]
        assert sent == [character * LONGEST_ROW, ""]


def test_a_row_that_is_not_text_does_not_hold_up_other_rows(tmp_path: Path) -> None:
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
def test_a_missing_row_or_one_without_a_valid_time_does_not_hold_up_others(
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
    """Rows on their way to a busy centre arrive without being repeated."""
    with line_of(tmp_path) as line:
        with_rows(line.journal, 2 * MIN_WINDOW)
        assert line.on_its_way([4.0]) == [MIN_WINDOW]
        line.steps(1)
        line.wire.forget()
        waited = 0
        while not line.wire.heard("/row"):
            waited += 1
            line.clock[0] += 1
            line.steps(1)
        assert waited == 17


def test_a_hall_shows_that_it_is_refused_until_it_is_connected_or_nobody_answers(tmp_path: Path) -> None:
    with line_of(tmp_path) as line:
        said = []
        for why in (LinkRefused("not you"), None, LinkDown("nobody answers"), LinkRefused("not you")):
            line.hall.receive(FromCentre(LinkChanged(up=False, why=why)))
            said.append(line.hall.view().turned_away)
        line.hall.receive(FromCentre(LinkChanged(up=True)))
        assert [*said, line.hall.view().turned_away] == [True, True, False, True, False]
        assert line.hall.view().tried == ("127.0.0.1:1",)
