"""Plays are reconstructed from the tiles that tables read, stored with the event, and change nothing that counts."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import ValidationError, convert
from msgspec.structs import replace

from broker.event import Event, HandRecord, read_hands, write_hands
from broker.protocol import SEATS, LaidSeat, Seat, TilesLaid
from broker.rules import RuleError
from broker.rules.mcr import FoundPlay, play_from_rivers
from broker.scorer import play_finder, standings_csv
from broker.scorer.intake import MOST_LAID
from broker.scorer.play_finder import MOST_UNREAD, MOST_UNREAD_IN_MELDS, SEARCHED, WRITE_PAUSE_S
from broker.sim.laid import LaidTiles, laid_play
from broker.sim.player import SimulatedPlayer
from broker.sim.table import DealTable
from broker.store import Journal, SqliteJournal
from tests.broker.rules.variants import OEDMC
from tests.broker.scorer.hall import Hall, make_hall
from tests.broker.scorer.small import deals, event, fact, plan, registry, steps
from tests.broker.sim.playing import JUDGE

KEEPS: Final = Event(replace(plan(), keep_plays=True), deals(), registry())
TABLE: Final = 1
DEAL: Final = event().bookings[TABLE, 1].deal


@cache
def played() -> LaidTiles:
    """Play the first deal of the table, and return all tiles as laid at its end."""
    players = {seat: SimulatedPlayer(1.0, Random(f"kept {seat}")) for seat in SEATS}
    deal = event().open_deal(DEAL)
    ended = DealTable(deal, OEDMC, JUDGE).play(players)
    return laid_play(deal, ended.actions, ended.outcome, 1, order=event().order(DEAL), gaps=True)


DEALT: Final = event().open_deal(DEAL)


def laid(**changes: LaidSeat) -> TilesLaid:
    return TilesLaid(
        round=1,
        deal=DEAL,
        seats={**played().laid, **cast("dict[Seat, LaidSeat]", changes)},
        winning=played().ending.winning,
    )


class Seconds:
    """A clock that advances when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def started(folder: Path, journal: Journal, of: Event = KEEPS, seconds: Seconds | None = None) -> Hall:
    """Start a scorer that is connected."""
    hall = make_hall(folder, journal, of, seconds or Seconds())
    hall.connect(up=True)
    return hall


@pytest.fixture
def recorded(tmp_path: Path, journal: SqliteJournal) -> Hall:
    """A scorer that has the result of the play, in an event that stores plays."""
    hall = started(tmp_path, journal)
    for seq, one in enumerate(steps(TABLE, 1, played().ending.outcome), 1):
        hall.hear(fact(TABLE, seq, one))
    return hall


def next_seq(hall: Hall) -> int:
    return max(hall.scorer.live.intake.books[TABLE].accepted) + 1


def keep(hall: Hall, said: TilesLaid) -> dict[str, Any]:
    """Report the laid tiles. Return the table's answer."""
    hall.hear(fact(TABLE, next_seq(hall), said))
    return answered(hall)


def searched(hall: Hall) -> None:
    """Wait until the scorer has finished its searches."""
    hall.scorer._plays._thread.submit(int).result()  # the thread has finished its earlier work by then
    hall.scorer.step(timeout=0)


def answered(hall: Hall) -> dict[str, Any]:
    searched(hall)
    answer: dict[str, Any] = hall.ear.told(f"counted/{TABLE}")["answer"]
    return answer


def test_a_play_is_found_and_stored_and_its_table_learns_how_much_is_proved(recorded: Hall) -> None:
    found = keep(recorded, laid())
    (kept,) = read_hands(recorded.folder)
    assert (kept.round, kept.table, kept.deal) == (1, TABLE, DEAL)
    assert (found["kind"], found["round"], found["steps"]) == ("found", 1, len(played().done))
    assert 0 < found["proved"] == found["steps"] - len(kept.unproved)
    assert [topic for topic, _, retain in recorded.ear.said if "counted" in topic and retain] == []


def test_finding_a_play_changes_nothing_that_counts(recorded: Hall) -> None:
    before = recorded.scorer.snapshot
    keep(recorded, laid())
    after = recorded.scorer.snapshot
    assert standings_csv(after.standings, event().origin_of) == standings_csv(before.standings, event().origin_of)
    assert recorded.scorer.feed.current.plays_in == 1
    assert not [code for code, _ in recorded.alerts() if code != "play_recorded"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda own: {"east": LaidSeat(river=own["south"].river), "south": LaidSeat()}, "tile_of_another"),
        (lambda own: {"east": replace(own["east"], river=own["east"].river[3:])}, "no_play_fits"),
        (lambda _: {"east": LaidSeat(river=(None,) * (MOST_UNREAD + 1))}, "too_much_unread"),
        (lambda _: {"east": LaidSeat(melds=((None,) * (MOST_UNREAD_IN_MELDS + 1),))}, "too_much_unread"),
    ],
)
def test_tiles_that_do_not_fit_get_one_code_and_store_nothing(
    recorded: Hall, change: Callable[[Mapping[Seat, LaidSeat]], dict[str, LaidSeat]], code: str
) -> None:
    assert keep(recorded, laid(**change(played().laid)))["code"] == code
    assert read_hands(recorded.folder) == ()


def test_a_group_that_is_not_a_meld_reveals_no_face(recorded: Hall) -> None:
    own = [serial for row in event().order(DEAL)["east"] for serial in row]
    other = event().order(DEAL)["north"][0][0]
    alone = ({"east": LaidSeat(melds=((*two, other),))} for two in pairwise(own[:6]))
    said = {keep(recorded, replace(laid(), seats=one))["code"] for one in alone}
    assert said == {"no_play_fits"}


def test_an_event_that_stores_no_plays_searches_none(tmp_path: Path, journal: SqliteJournal) -> None:
    hall = started(tmp_path, journal, event())
    for seq, one in enumerate(steps(TABLE, 1, played().ending.outcome), 1):
        hall.hear(fact(TABLE, seq, one))
    assert (keep(hall, laid())["code"], read_hands(hall.folder)) == ("not_kept_here", ())


SERIALS: Final = st.none() | st.integers(1, 136)


@given(st.sampled_from(SEATS), st.lists(st.lists(SERIALS, max_size=4).map(tuple), max_size=2).map(tuple))
def test_every_search_ends_with_a_play_or_a_code(seat: Seat, melds: tuple[tuple[int | None, ...], ...]) -> None:
    assume(sum(meld.count(None) for meld in melds) <= MOST_UNREAD_IN_MELDS)
    said = {**played().laid, seat: replace(played().laid[seat], melds=melds)}
    with suppress(RuleError):
        assert play_from_rivers(DEALT, event().order(DEAL), said, played().ending).steps


@pytest.mark.parametrize("wrong", [{"melds": [[0, 5, 6]]}, {"hand": [0]}, {"melds": [[1, 2, 3, 4, 5]]}])
def test_a_gap_is_only_in_a_river_and_a_meld_has_at_most_four_tiles(wrong: dict[str, Any]) -> None:
    assert convert({"river": [0, None, 136]}, LaidSeat).river == (0, None, 136)
    with pytest.raises(ValidationError):
        convert(wrong, LaidSeat)


def test_a_search_that_fails_unexpectedly_is_answered_too(recorded: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("nobody foresaw it")

    monkeypatch.setattr(play_finder, "find_play", fail)
    assert keep(recorded, laid())["code"] == "play_not_kept"
    monkeypatch.undo()
    assert keep(recorded, laid())["steps"] == len(played().done)


def test_no_play_is_searched_before_its_result(tmp_path: Path, journal: SqliteJournal) -> None:
    hall = started(tmp_path, journal)
    for seq, one in enumerate(steps(TABLE, 1, played().ending.outcome)[:-1], 1):
        hall.hear(fact(TABLE, seq, one))
    assert keep(hall, laid())["code"] == "play_unknown"


def test_the_number_of_reports_per_play_is_limited(recorded: Hall) -> None:
    first = next_seq(recorded)
    recorded.hear(*(fact(TABLE, first + at, laid()) for at in range(MOST_LAID + 1)))
    assert recorded.ear.told(f"receipt/{TABLE}")["refused"][-1]["code"] == "too_many_facts"


def test_a_restarted_scorer_searches_only_plays_that_are_not_stored(recorded: Hall) -> None:
    keep(recorded, laid())
    kept = read_hands(recorded.folder)
    write_hands(recorded.folder, ())
    again = started(recorded.folder, recorded.journal)
    assert answered(again)["steps"] == len(played().done)
    assert read_hands(recorded.folder) == kept
    assert searches(started(recorded.folder, recorded.journal)) == []


def searches(hall: Hall) -> list[Any]:
    """Return the answers of a scorer that has just started."""
    searched(hall)
    return [json.loads(body)["answer"] for topic, body, _ in hall.ear.said if "counted" in topic]


def test_a_repeated_report_is_searched_after_the_scorer_ended_early(recorded: Hall) -> None:
    keep(recorded, laid())
    recorded.scorer._plays.close()
    with pytest.raises(RuntimeError):  # the scorer ends while it handles this
        keep(recorded, laid(east=LaidSeat(river=(None,) * (MOST_UNREAD + 1))))
    (answer,) = searches(started(recorded.folder, recorded.journal))
    assert answer["code"] == "too_much_unread"


def test_a_play_that_did_not_fit_is_searched_again_only_with_another_outcome(
    recorded: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keep(recorded, laid(east=LaidSeat(river=(None,) * (MOST_UNREAD + 1))))["code"] == "too_much_unread"
    searched(recorded)
    assert searches(started(recorded.folder, recorded.journal)) == []
    monkeypatch.setattr(play_finder, "_mark", lambda message, _: f"{message.id} a-ruling-since")
    (answer,) = searches(started(recorded.folder, recorded.journal))
    assert answer["code"] == "too_much_unread"


def test_an_answer_waits_for_a_connection(recorded: Hall) -> None:
    recorded.connect(up=False)
    recorded.hear(fact(TABLE, next_seq(recorded), laid()))
    assert searches(recorded) == []
    recorded.connect(up=True)
    (answer,) = searches(recorded)
    assert answer["steps"] == len(played().done)


def test_plays_are_written_together_and_the_rest_at_the_end(tmp_path: Path, journal: SqliteJournal) -> None:
    seconds, written = Seconds(), list[int]()
    hall = started(tmp_path, journal, seconds=seconds)
    plays = hall.scorer._plays

    def find(number: int) -> None:
        hand = HandRecord(number, TABLE, DEAL, ())
        message = fact(TABLE, number, replace(laid(), round=number))
        plays._thread.submit(plays._search, message, "mark", lambda _: (FoundPlay((), 1, None), hand)).result()
        hall.scorer.step(timeout=0)
        written.append(len(read_hands(tmp_path)))

    for number in (1, 2, 3):
        find(number)
    seconds.now += WRITE_PAUSE_S
    hall.scorer.step(timeout=0)
    searched(hall)
    written.append(len(read_hands(tmp_path)))
    find(4)
    plays.close()
    assert (written, len(read_hands(tmp_path))) == ([1, 1, 1, 3, 3], 4)


def test_plays_that_cannot_be_written_are_written_later(recorded: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(play_finder, "write_hands", fail)
    assert keep(recorded, laid())["steps"] == len(played().done)
    searched(recorded)
    assert recorded.journal.stored_values(SEARCHED) == {}
    monkeypatch.undo()
    recorded.scorer._plays.close()
    assert len(read_hands(recorded.folder)) == 1


def test_a_centre_stores_plays_and_answers_no_table(recorded: Hall) -> None:
    recorded.scorer._plays.answers = False
    recorded.hear(fact(TABLE, next_seq(recorded), laid()))
    assert (searches(recorded), len(read_hands(recorded.folder))) == ([], 1)
