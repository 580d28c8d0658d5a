"""Where carriers are, where they go next, and when a round is over."""

from hypothesis import given
from hypothesis import strategies as st

from broker.event import ASSUMED_MS, MINUTE_MS
from broker.scorer.carriers import (
    Leg,
    PlayPace,
    Progress,
    by_carrier,
    carrier_moves,
    carrier_places,
    forecast_carriers,
    play_pace,
    slow_tables,
)

TEN = PlayPace(10 * MINUTE_MS, 8 * MINUTE_MS, 15 * MINUTE_MS, 20)
START = 1_800_000_000_000


def round_robin(tables: int, rounds: int) -> tuple[Leg, ...]:
    """Return a plan in which deals move between tables: table 1 has deal 1 in round 1, deal 2 in round 2 and so on."""
    return tuple(
        Leg(round_, table, (table + round_ - 2) % tables + 1)
        for round_ in range(1, rounds + 1)
        for table in range(1, tables + 1)
    )


def at(minute: int) -> int:
    return START + minute * MINUTE_MS


def state(now: int = 0, recorded: dict[tuple[int, int], int] | None = None, **more: object) -> Progress:
    known = {key: at(minute) for key, minute in (recorded or {}).items()}
    return Progress(round_robin(3, 3), at(now), known, **more)  # type: ignore[arg-type] # fields by name


def test_before_the_event_every_carrier_goes_to_its_first_table() -> None:
    found = carrier_moves(state(), forecast_carriers(state(), TEN))
    assert [(m.deal, m.from_table, m.to_table, m.urgency) for m in found] == [
        (1, None, 1, "now"),
        (2, None, 2, "now"),
        (3, None, 3, "now"),
    ]


def test_a_free_carrier_moves_now_if_its_next_table_waits_and_is_ready_if_not() -> None:
    progress = state(12, {(1, 1): 10, (3, 1): 11}, at_work={2: (1, "under_way")})
    found = {m.deal: m for m in carrier_moves(progress, forecast_carriers(progress, TEN))}
    # Round 2: table 1 has deal 2, table 2 deal 3, table 3 deal 1.
    assert {deal: (m.from_table, m.to_table, m.urgency) for deal, m in found.items()} == {
        1: (1, 3, "now"),
        3: (3, 2, "ready"),
        2: (2, 1, "later"),
    }
    assert found[1].free_at is None
    assert found[2].free_at is not None


def test_a_carrier_is_at_the_table_that_verified_its_tiles() -> None:
    progress = state(12, {(1, 1): 10, (3, 1): 11}, at_work={3: (2, "under_way")})
    (one,) = [c for c in carrier_places(progress) if c.deal == 1]
    assert (one.table, one.in_play, one.left) == (3, True, 1)


def test_a_table_that_restores_a_deal_may_have_its_carrier_already() -> None:
    progress = state(12, {(1, 1): 10, (3, 1): 11}, at_work={3: (2, "laid_out")})
    (move,) = [m for m in carrier_moves(progress, forecast_carriers(progress, TEN)) if m.deal == 1]
    assert (move.to_table, move.urgency, move.laid_out) == (3, "now", True)


def test_a_carrier_without_further_plays_does_not_move() -> None:
    done = {(table, round_): 10 * round_ for table in (1, 2, 3) for round_ in (1, 2, 3)}
    assert carrier_moves(state(40, done), forecast_carriers(state(40, done), TEN)) == ()
    assert [c.left for c in carrier_places(state(40, done))] == [0, 0, 0]


def test_a_round_ends_with_its_last_table_and_the_next_waits_for_its_carrier() -> None:
    progress = state(12, {(1, 1): 10, (3, 1): 11}, at_work={2: (1, "under_way")}, begins={1: START})
    told = forecast_carriers(progress, TEN)
    first, second = told.round(1), told.round(2)
    assert first is not None
    assert second is not None
    assert (first.usual, first.early, first.late) == (at(12), at(12), at(15))
    # Table 1 needs deal 2, which table 2 still has until minute 12 (or 15).
    assert (second.usual, second.late) == (at(22), at(30))


def test_no_play_begins_before_the_clock_of_its_session() -> None:
    told = forecast_carriers(state(0, begins={1: at(0), 3: at(90)}), TEN)
    last = told.round(3)
    assert last is not None
    assert last.usual == at(100)
    assert told.rounds(1, 2) == told.round(2)


def test_the_pace_is_the_median_of_measured_plays_without_breaks() -> None:
    known = {(1, 1): 10, (1, 2): 20, (2, 1): 9, (2, 2): 21, (3, 1): 11, (3, 2): 55, (1, 3): 32}
    measured = play_pace(state(60, known))
    assert (measured.usual, measured.measured, measured.assumed) == (12 * MINUTE_MS, 4, False)
    paused = play_pace(state(60, known, last_of_session=frozenset({1})))
    assert (paused.usual, paused.measured, paused.assumed) == (ASSUMED_MS, 1, True)
    assert play_pace(state(), 30).usual == 30 * MINUTE_MS


def test_a_table_is_slow_if_its_play_takes_longer_than_nine_of_ten() -> None:
    progress = state(30, {(1, 1): 10, (2, 1): 20}, at_work={1: (2, "under_way"), 2: (2, "laid_out")})
    (found,) = slow_tables(progress, TEN)
    assert (found.table, found.round, found.for_ms) == (1, 2, 20 * MINUTE_MS)


@given(st.integers(2, 6), st.integers(1, 6), st.integers(1, 3))
def test_every_play_has_one_carrier_and_no_carrier_two_tables_in_a_round(tables: int, rounds: int, copies: int) -> None:
    legs = tuple(Leg(leg.round, leg.table, -(-leg.deal // copies)) for leg in round_robin(tables, rounds))
    ways = by_carrier(legs)
    assert {copy for _, copy in ways} == set(range(1, min(copies, tables) + 1))
    assert sorted((leg for way in ways.values() for leg in way), key=str) == sorted(legs, key=str)
    for way in ways.values():
        assert len({leg.round for leg in way}) == len(way)


def test_two_carriers_of_a_deal_serve_two_tables_in_the_same_round() -> None:
    legs = (Leg(1, 1, 1), Leg(1, 2, 1), Leg(2, 3, 1))
    assert by_carrier(legs) == {(1, 1): (legs[0], legs[2]), (1, 2): (legs[1],)}


@given(st.data())
def test_a_forecast_is_never_in_the_past_nor_before_known_results(data: st.DataObject) -> None:
    legs = round_robin(4, 4)
    known = {leg.key: at(10 * leg.round) for leg in legs if leg.round == 1 or data.draw(st.booleans())}
    progress = Progress(legs, at(25), known)
    told = forecast_carriers(progress, TEN)
    assert set(told.plays) == {leg.key for leg in legs} - set(known)
    assert all(progress.now <= span.early <= span.usual <= span.late for span in told.plays.values())
