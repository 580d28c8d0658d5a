"""Which carrier goes to which table next, and which tables are slow. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from broker.scorer.carriers.forecast import Forecast, Span
from broker.scorer.carriers.pace import Pace
from broker.scorer.carriers.progress import Leg, Progress, by_carrier

Urgency = Literal["now", "ready", "later"]
"""`now`: a table waits for it; `ready`: it is free, its next table still plays; `later`: it is in play itself."""

ORDER: Final[tuple[Urgency, ...]] = ("now", "ready", "later")


@dataclass(frozen=True, slots=True)
class Move:
    """A carrier's next way. `from_table` None: from where the carriers are kept."""

    deal: int
    copy: int
    from_table: int | None
    to_table: int
    round: int
    urgency: Urgency
    laid_out: bool
    """The table says that it restores this deal: the carrier may be there already."""
    free_at: Span | None
    """When its play where it is will be over; None: it is free."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """Where a carrier is."""

    deal: int
    copy: int
    table: int | None
    """None: not yet brought to any."""
    in_play: bool
    left: int
    """Plays that it has still to come to, the present one not counted."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A table that is behind: minutes since its last result, or since its session began."""

    table: int
    round: int
    for_ms: int


def moves(progress: Progress, forecast: Forecast, copies: int = 1) -> tuple[Move, ...]:
    """Give each carrier's next way, the most urgent first."""
    found = [
        move
        for (deal, copy), way in by_carrier(progress.legs, copies).items()
        if (move := _move(progress, forecast, (deal, copy), way)) is not None
    ]
    return tuple(sorted(found, key=lambda m: (ORDER.index(m.urgency), _when(m), m.round, m.to_table)))


def _when(move: Move) -> int:
    return move.free_at.usual if move.free_at else 0


def _move(progress: Progress, forecast: Forecast, carrier: tuple[int, int], way: tuple[Leg, ...]) -> Move | None:
    here, after = _split(progress, way)
    if after is None:
        return None
    in_play = here is not None and progress.stage(here) != "recorded"
    urgency: Urgency = "later" if in_play else "now" if _wanted(progress, after) else "ready"
    return Move(
        *carrier,
        from_table=here.table if here else None,
        to_table=after.table,
        round=after.round,
        urgency=urgency,
        laid_out=progress.stage(after) == "laid_out",
        free_at=forecast.plays.get(here.key) if here and in_play else None,
    )


def _split(progress: Progress, way: tuple[Leg, ...]) -> tuple[Leg | None, Leg | None]:
    """Give the play where the carrier is, and the next one that it goes to.

    The last play that has been played or is under way is where it is: a play before it without a result is one whose
    result has not arrived, or that was left out.
    """
    touched = [at for at, leg in enumerate(way) if progress.stage(leg) in {"recorded", "under_way"}]
    at = touched[-1] if touched else -1
    return (way[at] if touched else None), (way[at + 1] if at + 1 < len(way) else None)


def _wanted(progress: Progress, leg: Leg) -> bool:
    """Say whether a table has finished all that comes before a play."""
    return all(
        other.key in progress.recorded
        for other in progress.legs
        if other.table == leg.table and other.round < leg.round
    )


def carriers(progress: Progress, copies: int = 1) -> Iterator[Carrier]:
    """Say where each carrier is, by deal."""
    for (deal, copy), way in sorted(by_carrier(progress.legs, copies).items()):
        here, after = _split(progress, way)
        in_play = here is not None and progress.stage(here) != "recorded"
        left = len(way) - way.index(after) if after else 0
        yield Carrier(deal, copy, here.table if here else None, in_play, left)


def slow(progress: Progress, pace: Pace) -> tuple[Slow, ...]:
    """Name the tables at work on one play for longer than nine of ten plays took, the slowest first."""
    found: list[Slow] = []
    for table, (round_, stage) in progress.at_work.items():
        since = progress.recorded.get((table, round_ - 1), progress.begins.get(round_))
        if round_ - 1 in progress.last_of_session:
            since = progress.begins.get(round_)
        if since is not None and stage != "to_come" and progress.now - since > pace.slow:
            found.append(Slow(table, round_, progress.now - since))
    return tuple(sorted(found, key=lambda one: -one.for_ms))
