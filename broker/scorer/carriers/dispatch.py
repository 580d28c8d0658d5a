"""Which carrier goes to which table next, and which tables are slow. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from broker.scorer.carriers.forecast import Forecast, Span
from broker.scorer.carriers.pace import Pace
from broker.scorer.carriers.progress import Leg, Progress, Way

Urgency = Literal["now", "ready", "later"]
"""`now`: a table waits for it; `ready`: it is free, its next table still plays; `later`: it is in play itself."""

ORDER: Final[tuple[Urgency, ...]] = ("now", "ready", "later")


@dataclass(frozen=True, slots=True)
class Move:
    """A carrier's next way. `from_table` None: from where the carriers are kept."""

    deal: int
    copy: int
    copies: int
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
    copies: int
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


def moves(progress: Progress, forecast: Forecast) -> tuple[Move, ...]:
    """Give each carrier's next way, the most urgent first."""
    open_at, copies = _first_open(progress), progress.copies
    found = [
        move
        for (deal, copy), way in progress.ways.items()
        if (move := _move(progress, forecast, open_at, (deal, copy, copies[deal]), way)) is not None
    ]
    return tuple(sorted(found, key=lambda m: (ORDER.index(m.urgency), _when(m), m.round, m.to_table)))


def _when(move: Move) -> int:
    return move.free_at.usual if move.free_at else 0


def _move(
    progress: Progress, forecast: Forecast, open_at: Mapping[int, int], carrier: tuple[int, int, int], way: Way
) -> Move | None:
    here, after = _split(progress, way)
    if after is None:
        return None
    in_play = here is not None and progress.stage(here) != "recorded"
    urgency: Urgency = "later" if in_play else "now" if after.round <= open_at[after.table] else "ready"
    return Move(
        *carrier,
        from_table=here.table if here else None,
        to_table=after.table,
        round=after.round,
        urgency=urgency,
        laid_out=progress.stage(after) == "laid_out",
        free_at=forecast.plays.get(here.key) if here and in_play else None,
    )


def _split(progress: Progress, way: Way) -> tuple[Leg | None, Leg | None]:
    """Give the play where the carrier is, and the next one that it goes to.

    The last play that has been played or is under way is where it is: a play before it without a result is one whose
    result has not arrived, or that was left out.
    """
    touched = [at for at, leg in enumerate(way) if progress.stage(leg) in {"recorded", "under_way"}]
    at = touched[-1] if touched else -1
    return (way[at] if touched else None), (way[at + 1] if at + 1 < len(way) else None)


def _first_open(progress: Progress) -> dict[int, int]:
    """Give of each table its first round that is not over: it waits for what it plays then."""
    found: dict[int, int] = {}
    for leg in progress.legs:
        if leg.key not in progress.recorded:
            found[leg.table] = min(leg.round, found.get(leg.table, leg.round))
    return found


def carriers(progress: Progress) -> Iterator[Carrier]:
    """Say where each carrier is, by deal."""
    copies = progress.copies
    for (deal, copy), way in sorted(progress.ways.items()):
        here, after = _split(progress, way)
        in_play = here is not None and progress.stage(here) != "recorded"
        left = len(way) - way.index(after) if after else 0
        yield Carrier(deal, copy, copies[deal], here.table if here else None, in_play, left)


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
