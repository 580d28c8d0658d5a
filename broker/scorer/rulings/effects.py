"""What a ruling would move: everybody's IMPs and places before and after, and the plays that are compared anew."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import msgspec
from msgspec import Struct

from broker.contract.words import Imp, Seat
from broker.scorer.rulings.changes import Change
from broker.scorer.rulings.entry import PlayKey
from broker.scoring.compare import Exact, Group
from broker.scoring.plays import ScoredPlay
from broker.scoring.ranking import Ranked
from broker.scoring.written import written


class Moved(Struct, frozen=True):
    """One player or team whose IMPs or place would be others. `before` and `after` are None where there is no line."""

    name: str
    place_before: int | None
    place_after: int | None
    imp_before: Imp | None
    imp_after: Imp | None
    by: Imp
    """How many IMPs more, or below zero fewer."""


class PlayMoved(Struct, frozen=True):
    """One play that would be compared otherwise: each seat's IMPs before and after; None where it is in no datum."""

    table: int
    round: int
    deal: int
    before: Mapping[Seat, Imp] | None
    after: Mapping[Seat, Imp] | None


class Effects(Struct, frozen=True):
    """Everything that a ruling would move."""

    players: tuple[Moved, ...]
    teams: tuple[Moved, ...]
    plays: tuple[PlayMoved, ...]
    change: Change
    """What the ruling itself says, before and after."""

    @property
    def mark(self) -> str:
        """Tell whether these are the effects that somebody has looked at.

        Places are left out: in a full hall they move all the time, and no ruling could ever be published.
        """
        imps = [(one.name, one.by) for one in (*self.players, *self.teams) if one.by]
        return hashlib.sha256(msgspec.json.encode((imps, self.plays))).hexdigest()


def moved(before: Iterable[Ranked], after: Iterable[Ranked]) -> tuple[Moved, ...]:
    """Compare two standings: those who move, by the place they would have."""
    had, has = ({line.name: line for line in lines} for lines in (before, after))
    found = [_moved(name, had.get(name), has.get(name)) for name in {**has, **had}]
    return tuple(one for one in found if one.by or one.place_before != one.place_after)


def _moved(name: str, had: Ranked | None, has: Ranked | None) -> Moved:
    return Moved(
        name=name,
        place_before=had.place if had else None,
        place_after=has.place if has else None,
        imp_before=written(had.imp) if had else None,
        imp_after=written(has.imp) if has else None,
        by=written(Fraction(has.imp if has else 0) - Fraction(had.imp if had else 0)),
    )


Compared = Mapping[PlayKey, tuple[int, Mapping[Seat, Exact]]]
"""Of each compared play its deal and its IMPs, before fines and awards."""


def plays_moved(before: Compared, after: Compared) -> tuple[PlayMoved, ...]:
    """Compare the IMPs of plays; those that stay as they are, are left out."""
    keys = sorted({key for key in {**before, **after} if before.get(key) != after.get(key)}, key=lambda key: key[::-1])
    return tuple(_play(key, before.get(key), after.get(key)) for key in keys)


def _play(
    key: PlayKey, had: tuple[int, Mapping[Seat, Exact]] | None, has: tuple[int, Mapping[Seat, Exact]] | None
) -> PlayMoved:
    deal = (has or had or (0, {}))[0]
    return PlayMoved(key[0], key[1], deal, _written(had), _written(has))


def _written(found: tuple[int, Mapping[Seat, Exact]] | None) -> dict[Seat, Imp] | None:
    return {seat: written(imp) for seat, imp in found[1].items()} if found else None


def of_groups(groups: Iterable[Group], key_of: Callable[[ScoredPlay], PlayKey]) -> Compared:
    """Give the IMPs of all plays of some groups."""
    return {key_of(one.play): (one.play.deal, one.imp) for group in groups for one in group.plays}
