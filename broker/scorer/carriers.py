"""Forecast where each carrier is and goes next, how long plays take, and when rounds and sessions end. Pure functions.

The forecast follows every table and carrier to the end. A play begins when its table and its carrier are free and the
clock of its session has started. It then takes as long as plays do (`play_pace`). A play under way ends now or later.

A play is measured from one result of a table to its next, including restoring and carrying, within a session. The range
covers four of five measured plays. Medians are used, so that a table that waited for an arbiter does not slow down the
forecast for all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median, quantiles
from typing import Final, Literal

from broker.event import ASSUMED_MS, MINUTE_MS
from broker.rulings import PlayKey

Stage = Literal["to_come", "laid_out", "under_way", "recorded"]
"""`laid_out`: the table reports that it is restoring the deal; `under_way`: its tiles were verified."""

CarrierKey = tuple[int, int]
"""Deal, and number of the copy from 1."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One play of the plan: a table needs a deal's carrier in a round."""

    round: int
    table: int
    deal: int

    @property
    def key(self) -> PlayKey:
        """The play's table and round."""
        return self.table, self.round


@dataclass(frozen=True)
class Progress:
    """The plan, and its progress at one time. Times are wall clock, ms since 1970."""

    legs: tuple[Leg, ...]
    now: int
    recorded: Mapping[PlayKey, int] = field(default_factory=dict)
    """When each result was accepted."""
    at_work: Mapping[int, tuple[int, Stage]] = field(default_factory=dict)
    """The current round and stage of each busy table."""
    begins: Mapping[int, int] = field(default_factory=dict)
    """When a round starts by the plan's clocks, for rounds that must not start earlier."""
    last_of_session: frozenset[int] = frozenset()
    """Rounds followed by a long break."""

    @cached_property
    def ways(self) -> "Mapping[CarrierKey, Way]":
        """The route of each carrier."""
        return by_carrier(self.legs)

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """The number of carriers of each deal."""
        return most_at_once(self.legs)

    def stage(self, leg: Leg) -> Stage:
        """Return the stage of a play."""
        if leg.key in self.recorded:
            return "recorded"
        round_, stage = self.at_work.get(leg.table, (0, "to_come"))
        return stage if round_ == leg.round else "to_come"


NO_ROUND: Final = 0

Way = tuple[Leg, ...]


def by_carrier(legs: Iterable[Leg]) -> dict[CarrierKey, Way]:
    """Return the route of each carrier: its plays in order, by deal and copy (from 1).

    A deal has as many carriers as there are tables that play it at once, since the plan could not work with fewer. A
    play gets the copy that has been free longest, so that the copies of a deal share its tables evenly.
    """
    ordered = sorted(legs, key=lambda leg: (leg.deal, leg.round, leg.table))
    copies = most_at_once(ordered)
    ways: dict[CarrierKey, list[Leg]] = {}
    for leg in ordered:
        last = {copy: ways.get((leg.deal, copy), []) for copy in range(1, copies[leg.deal] + 1)}
        copy = min(last, key=lambda one: (last[one][-1].round if last[one] else NO_ROUND, one))
        ways.setdefault((leg.deal, copy), []).append(leg)
    return {carrier: tuple(way) for carrier, way in ways.items()}


def most_at_once(legs: Iterable[Leg]) -> dict[int, int]:
    """Return, for each deal, the largest number of tables that play it in the same round."""
    found: dict[int, int] = {}
    for (deal, _), count in Counter((leg.deal, leg.round) for leg in legs).items():
        found[deal] = max(count, found.get(deal, 0))
    return found


ENOUGH: Final = 4
"""Measured plays needed before their times are used."""

LONGEST: Final = 180 * MINUTE_MS
"""A longer time is a break, or a clock that was set."""


@dataclass(frozen=True, slots=True)
class PlayPace:
    """Time for a play in ms: usual, quick and slow. `measured`: from how many plays; assumed if below ENOUGH."""

    usual: int
    quick: int
    slow: int
    measured: int

    @property
    def assumed(self) -> bool:
        """Whether the times are assumed rather than measured."""
        return self.measured < ENOUGH


def play_pace(progress: Progress, planned_minutes: int | None = None) -> PlayPace:
    """Measure the plays so far. Until there are enough of them, use the plan's time for a play."""
    times = sorted(measured_times(progress))
    if len(times) < ENOUGH:
        usual = planned_minutes * MINUTE_MS if planned_minutes else ASSUMED_MS
        return PlayPace(usual, usual * 3 // 4, usual * 5 // 4, len(times))
    tenths = quantiles(times, n=10, method="inclusive")
    return PlayPace(int(median(times)), int(tenths[0]), int(tenths[-1]), len(times))


def measured_times(progress: Progress) -> Iterator[int]:
    """Yield the time of each play whose table has played the round before it in the same session."""
    for (table, round_), at in progress.recorded.items():
        before = progress.recorded.get((table, round_ - 1))
        if before is not None and round_ - 1 not in progress.last_of_session and 0 < at - before <= LONGEST:
            yield at - before


@dataclass(frozen=True, slots=True)
class Span:
    """A forecast time: the usual one, and the range, in ms since 1970."""

    usual: int
    early: int
    late: int


@dataclass(frozen=True)
class Forecast:
    """When each play without a result will end."""

    plays: Mapping[PlayKey, Span]

    def round(self, number: int) -> Span | None:
        """Return when the last table finishes a round, or None if the round is over."""
        return _last([span for (_, round_), span in self.plays.items() if round_ == number])

    def rounds(self, first: int, last: int) -> Span | None:
        """Return when the last table finishes a range of rounds, or None if they are over."""
        return _last([span for (_, round_), span in self.plays.items() if first <= round_ <= last])


def forecast_carriers(progress: Progress, pace: PlayPace) -> Forecast:
    """Simulate all tables and carriers to the end, at the usual, quick and slow pace."""
    carrier_of = {leg.key: carrier for carrier, way in progress.ways.items() for leg in way}
    legs = sorted(progress.legs, key=lambda leg: (leg.round, leg.table))
    runs = [_run(progress, legs, carrier_of, takes) for takes in (pace.usual, pace.quick, pace.slow)]
    return Forecast({key: Span(*(run[key] for run in runs)) for key in runs[0]})


def _run(
    progress: Progress, legs: list[Leg], carrier_of: Mapping[PlayKey, tuple[int, int]], takes: int
) -> dict[PlayKey, int]:
    table_free: dict[int, int] = {}
    carrier_free: dict[tuple[int, int], int] = {}
    ends: dict[PlayKey, int] = {}
    opens = 0
    for leg in legs:
        opens = max(opens, progress.begins.get(leg.round, 0))
        carrier = carrier_of[leg.key]
        end = progress.recorded.get(leg.key)
        if end is None:
            began = max(table_free.get(leg.table, opens), carrier_free.get(carrier, opens), opens)
            running = progress.stage(leg) != "to_come"
            end = max((began if running and began else max(began, progress.now)) + takes, progress.now)
            ends[leg.key] = end
        table_free[leg.table] = max(end, table_free.get(leg.table, 0))
        carrier_free[carrier] = max(end, carrier_free.get(carrier, 0))
    return ends


def _last(spans: list[Span]) -> Span | None:
    if not spans:
        return None
    return Span(*(max(times) for times in zip(*((s.usual, s.early, s.late) for s in spans), strict=True)))


Urgency = Literal["now", "ready", "later"]
"""`now`: a table waits for the carrier; `ready`: it is free, but its next table still plays; `later`: it is in use."""

ORDER: Final[tuple[Urgency, ...]] = ("now", "ready", "later")


@dataclass(frozen=True, slots=True)
class CarrierMove:
    """The next move of a carrier. `from_table` None: from where the carriers are stored."""

    deal: int
    copy: int
    copies: int
    from_table: int | None
    to_table: int
    round: int
    urgency: Urgency
    laid_out: bool
    """Whether the table reports that it is restoring this deal. If so, the carrier may be there already."""
    free_at: Span | None
    """When the carrier's current play will end, or None if it is free."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """Where a carrier is."""

    deal: int
    copy: int
    copies: int
    table: int | None
    """None: not brought to any table yet."""
    in_play: bool
    left: int
    """Plays still to come for this carrier, without the current one."""


@dataclass(frozen=True, slots=True)
class SlowTable:
    """A table that is behind, with the time since its last result, or since its session began."""

    table: int
    round: int
    for_ms: int


def carrier_moves(progress: Progress, forecast: Forecast) -> tuple[CarrierMove, ...]:
    """Return the next move of each carrier, the most urgent first."""
    open_at, copies = _first_open(progress), progress.copies
    found = [
        move
        for (deal, copy), way in progress.ways.items()
        if (move := _move(progress, forecast, open_at, (deal, copy, copies[deal]), way)) is not None
    ]
    found.sort(key=lambda m: (ORDER.index(m.urgency), m.free_at.usual if m.free_at else 0, m.round, m.to_table))
    return tuple(found)


def _move(
    progress: Progress, forecast: Forecast, open_at: Mapping[int, int], carrier: tuple[int, int, int], way: Way
) -> CarrierMove | None:
    here, after = _split(progress, way)
    if after is None:
        return None
    in_play = here is not None and progress.stage(here) != "recorded"
    urgency: Urgency = "later" if in_play else "now" if after.round <= open_at[after.table] else "ready"
    return CarrierMove(
        *carrier,
        from_table=here.table if here else None,
        to_table=after.table,
        round=after.round,
        urgency=urgency,
        laid_out=progress.stage(after) == "laid_out",
        free_at=forecast.plays.get(here.key) if here and in_play else None,
    )


def _split(progress: Progress, way: Way) -> tuple[Leg | None, Leg | None]:
    """Return the play at which the carrier is, and the next play that needs it.

    The carrier is at the last of its plays that is recorded or under way. An earlier play without a result has not been
    reported yet, or was left out.
    """
    touched = [at for at, leg in enumerate(way) if progress.stage(leg) in {"recorded", "under_way"}]
    at = touched[-1] if touched else -1
    return (way[at] if touched else None), (way[at + 1] if at + 1 < len(way) else None)


def _first_open(progress: Progress) -> dict[int, int]:
    """Return, for each table, its first round without a result, whose carrier it waits for."""
    found: dict[int, int] = {}
    for leg in progress.legs:
        if leg.key not in progress.recorded:
            found[leg.table] = min(leg.round, found.get(leg.table, leg.round))
    return found


def carrier_places(progress: Progress) -> Iterator[Carrier]:
    """Yield where each carrier is, by deal."""
    copies = progress.copies
    for (deal, copy), way in sorted(progress.ways.items()):
        here, after = _split(progress, way)
        in_play = here is not None and progress.stage(here) != "recorded"
        left = len(way) - way.index(after) if after else 0
        yield Carrier(deal, copy, copies[deal], here.table if here else None, in_play, left)


def slow_tables(progress: Progress, pace: PlayPace) -> tuple[SlowTable, ...]:
    """Return the tables that take longer over a play than nine of ten plays took, slowest first."""
    found: list[SlowTable] = []
    for table, (round_, stage) in progress.at_work.items():
        since = progress.recorded.get((table, round_ - 1), progress.begins.get(round_))
        if round_ - 1 in progress.last_of_session:
            since = progress.begins.get(round_)
        if since is not None and stage != "to_come" and progress.now - since > pace.slow:
            found.append(SlowTable(table, round_, progress.now - since))
    return tuple(sorted(found, key=lambda one: -one.for_ms))
