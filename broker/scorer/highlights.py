"""Remarkable deals: the largest differences, the largest gains in IMPs, and hands that only one table found."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

from broker.i18n import N_, SEAT_NAMES, Message
from broker.protocol import SEATS, Seat
from broker.scorer.sheets import DealSheet, GroupSheet, PlayLine, SeatLine, deal_sheet
from broker.scorer.snapshot import Snapshot

Kind = Literal["spread", "swing", "found"]

TEXTS: Final[Mapping[Kind, Message]] = {
    "spread": N_("{seat} scored from {low} (table {lowest}) to {high} (table {highest})."),
    "swing": N_("{imp} IMP for {name}, {seat} at table {table}."),
    "found": N_("Of {tables} tables, only {name} won as {seat}: a hand of {value} at table {table}."),
}

TITLES: Final[Mapping[Kind, Message]] = {
    "spread": N_("Where tables differed most"),
    "swing": N_("The most IMPs at one table"),
    "found": N_("Hands that only one player found"),
}

OF_EACH: Final = 3
"""Highlights of each kind per event."""

LEAST_TABLES: Final = 4
"""If fewer tables have played a deal, a single win is not remarkable."""


class Highlight(NamedTuple):
    """One highlight. `size` is compared with others of the same kind."""

    kind: Kind
    deal: int
    seat: Seat
    size: Fraction
    values: Mapping[str, Any]
    """Values for the text. `low`, `high` and `imp` are shown with a sign."""


SUMS: Final = ("low", "high", "imp")


def highlight_text(_: Callable[..., str], one: Highlight, signed: Callable[[Any], str]) -> str:
    """Return the text in the reader's language. `signed` formats sums."""
    values = {name: signed(value) if name in SUMS else value for name, value in one.values.items()}
    return _(TEXTS[one.kind], seat=_(SEAT_NAMES[one.seat]), **values)


def deal_highlights(sheet: DealSheet) -> list[Highlight]:
    """Return the greatest highlight of each kind in a deal, in the order of `TEXTS`."""
    found = [one for group in sheet.groups for one in _of_group(sheet.deal, group)]
    return [one for of_kind in greatest(found, 1).values() for one in of_kind]


def event_highlights(snapshot: Snapshot) -> dict[Kind, list[Highlight]]:
    """Return the greatest highlights of each kind among all deals that every table has played."""
    return greatest(one for deal in sorted(snapshot.complete) for one in deal_highlights(deal_sheet(snapshot, deal)))


def greatest(found: Iterable[Highlight], count: int = OF_EACH) -> dict[Kind, list[Highlight]]:
    """Return the `count` greatest of each kind, greatest first, in the order of `TEXTS`. Ties keep their order."""
    down = sorted(found, key=lambda one: -one.size)
    return {kind: of_kind[:count] for kind in TEXTS if (of_kind := [one for one in down if one.kind == kind])}


def _of_group(deal: int, group: GroupSheet) -> Iterator[Highlight]:
    for seat in SEATS:
        scored = [(line.points, play) for play in group.plays if (line := play.seats[seat]).points is not None]
        if len(scored) > 1:
            (low, lowest), (high, highest) = (end(scored, key=_points) for end in (min, max))
            values = {"low": low, "lowest": lowest.table, "high": high, "highest": highest.table}
            if high > low:
                yield Highlight("spread", deal, seat, Fraction(high - low), values)
        yield from (_swing(deal, seat, play) for play in group.plays if Fraction(play.seats[seat].imp or 0) > 0)
        won = [play for play in group.plays if play.seats[seat].hand_value is not None]
        if len(won) == 1 and len(group.plays) >= LEAST_TABLES:
            yield _found(deal, seat, won[0], len(group.plays))


def _points(scored: tuple[int | None, PlayLine]) -> int:
    return scored[0] or 0


def _swing(deal: int, seat: Seat, play: PlayLine) -> Highlight:
    line = play.seats[seat]
    imp = line.imp or 0
    return Highlight("swing", deal, seat, Fraction(imp), {"imp": imp, "name": _player_name(line), "table": play.table})


def _found(deal: int, seat: Seat, play: PlayLine, tables: int) -> Highlight:
    line = play.seats[seat]
    value = line.hand_value or 0
    values = {"name": _player_name(line), "value": value, "table": play.table, "tables": tables}
    return Highlight("found", deal, seat, Fraction(value), values)


def _player_name(line: SeatLine) -> str:
    """Return the name of who played, which may be a substitute."""
    return line.sat or line.name
