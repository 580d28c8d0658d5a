"""When each play will be over: every table plays its rounds in order, every carrier comes when it is free. Pure.

A play begins when its table has finished the one before, its carrier has come from the table before, and the clock of
its session has begun; it then takes as long as plays do (`pace`). What is under way ends no earlier than now.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.scorer.carriers.pace import Pace
from broker.scorer.carriers.progress import Leg, PlayKey, Progress


@dataclass(frozen=True, slots=True)
class Span:
    """A moment that is to come: as it usually would be, and the range, ms since 1970."""

    usual: int
    early: int
    late: int


@dataclass(frozen=True)
class Forecast:
    """When each play that has no result yet will be over."""

    plays: Mapping[PlayKey, Span]

    def round(self, number: int) -> Span | None:
        """Say when the last table finishes a round; None: it is over."""
        return _last([span for (_, round_), span in self.plays.items() if round_ == number])

    def rounds(self, first: int, last: int) -> Span | None:
        """Say when the last table finishes the last of some rounds; None: they are over."""
        return _last([span for (_, round_), span in self.plays.items() if first <= round_ <= last])


def forecast(progress: Progress, pace: Pace) -> Forecast:
    """Follow all tables and carriers to the end, at three speeds."""
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
