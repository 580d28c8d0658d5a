"""Reconstruct a play from what lies on the table at its end: the rivers in order, the melds, the remaining hands.

In a duplicate play everybody draws only from their own wall, in a known order, and each tile has a serial. So the tray
to which a tile was dealt tells who drew it and when at the earliest, and another player's tile in a meld was that
player's discard. Still open are when a claimed tile was discarded and when a kong was declared. The search goes through
all orders of draws, discards and claims that the turns allow, step by step. Equal positions are examined once, so all
plays that fit can be counted without listing them.

A step that is the same in all of them is proved. Any other step gets the share of the plays that contain it, which is
its probability if nothing is known of the players.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, compress, product, takewhile
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import RuleError
from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules.deal import NEXT_SEAT, ROWS, Deal, SerialTray
from broker.rules.mcr.hand import McrMeld
from broker.rules.mcr.play_search import GAP, DealtTiles, DeclaredMeld, LaidTable, OrderedStep, PlaySearch, Serial
from broker.rules.mcr.turns import Action, ActionKind
from broker.rules.points import Outcome


class Ending(Struct, frozen=True):
    """How the play ended, as it was recorded."""

    outcome: Outcome
    winning: int | None = None
    """The winning tile, wherever it lies. None: the last tile of the discarder's river, or the last one drawn."""


class PlayStep(Struct, frozen=True):
    """A step of the play, and the share of the fitting plays in which its player's n-th step is this one."""

    action: Action
    """In the referee's form. `tile` is None for an unread discard that may be of several kinds."""
    serial: int | None
    """The tile drawn, discarded, claimed or added; None if unknown."""
    share: Fraction

    @property
    def certainty(self) -> Literal["proved", "likely", "ambiguous"]:
        """How certain the step is: the same in all plays that fit, in more than half of them, or neither."""
        if self.share == 1:
            return "proved"
        return "likely" if 2 * self.share > 1 else "ambiguous"


class FoundPlay(Struct, frozen=True, dict=True):
    """The plays that fit what lies on the table, and the one of them whose steps are the most likely."""

    steps: tuple[PlayStep, ...]
    plays: int
    """The number of orders that fit."""
    ltw: bool | None
    """Whether the last tile of the wall was reached at the end; None if plays of both kinds fit."""
    self_drawn: bool | None = False
    """Whether the winner drew the winning tile; None if so recorded but the winner's hand was not read completely."""
    out_of_turn: Seat | None = None
    """The seat that drew out of turn, if no regular play fits; None also if several seats are possible."""
    irregular: bool = False
    """Whether somebody drew out of turn in all plays that fit."""
    reversed_rivers: tuple[Seat, ...] = ()
    """The seats whose rivers lie the wrong way round in the most likely play."""

    @property
    def proved(self) -> bool:
        """Whether only one play fits."""
        return all(step.share == 1 for step in self.steps)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The steps in the referee's form, with a `no_claim` after each unclaimed discard."""
        done = []
        for at, step in enumerate(self.steps):
            done.append(step.action)
            following = self.steps[at + 1].action.do if at + 1 < len(self.steps) else "draw"
            if step.action.do == "discard" and following == "draw":
                done.append(Action("no_claim"))
        return tuple(done)


MOST_UNREAD: Final = 3
"""The most unread tiles in melds for which all possibilities are tried."""

REVERSED_LIKELIHOOD: Final = Fraction(1, 100)
"""How likely a river is to lie the wrong way round, relative to one that lies as it was read."""


def play_from_rivers(
    deal: Deal,
    order: Mapping[Seat, SerialTray],
    laid: Mapping[Seat, LaidSeat],
    ending: Ending,
) -> FoundPlay:
    """Return the plays of a deal that fit. `order` has the serials of its tiles as they were dealt.

    A river may have been laid or read from its end; the two are equally likely if its image did not show the direction.

    Raises RuleError `tile_laid_twice`, `unknown_serial`, `tile_of_another`, `not_a_meld`, `winning_tile_unknown`,
    `too_much_unread` or `no_play_fits`.
    """
    tiles = DealtTiles.of(deal, order)
    as_read = _reversed_rivers(laid, ())
    for table in _possible_tables(as_read, ending, tiles):
        _check_tiles(table, tiles)
    for irregular in (False, True):
        fits = [
            _Fit(tuple(seat for seat in reversed_seats if not laid[seat].either_end), search)
            for reversed_seats in _reversals(laid)
            for table in _possible_tables(_reversed_rivers(laid, reversed_seats), ending, tiles)
            for search in _searches(table, tiles, irregular=irregular)
            if search.plays
        ]
        if fits:
            return replace(_summary(fits, tiles, irregular=irregular), self_drawn=_is_self_drawn(laid, ending.outcome))
    tables = _possible_tables(as_read, ending, tiles)
    searches = chain.from_iterable(_searches(table, tiles, irregular=False) for table in tables)
    stuck = max(searches, key=lambda search: search.furthest, default=None)
    why = stuck.why if stuck else "no set can be made with what was read of a meld"
    raise RuleError("no_play_fits", f"no order of draws, discards and claims gives what lies there: {why}")


def _possible_tables(laid: Mapping[Seat, LaidSeat], ending: Ending, tiles: DealtTiles) -> Iterator[LaidTable]:
    """Yield the possible tables without the winning discard, which lies in its river, in a kong or in a winner's hand.

    If the winning tile was not seen and its discarder's river ends with an unread tile, it may also be that one.
    """
    seats = {seat: laid.get(seat, LaidSeat()) for seat in SEATS}
    outcome, winning = ending.outcome, ending.winning
    if outcome.discarder is None:
        yield LaidTable(_with_winning_tile(seats, ending), outcome, winning, None)
        return
    own = seats[outcome.discarder]
    if winning is None:
        winning = own.river[-1] if own.river else None
    if not winning or tiles.seat.get(winning) != outcome.discarder:
        text = f"which of {outcome.discarder}'s tiles won? It is not the last of that river"
        raise RuleError("winning_tile_unknown", text)
    for seat, one in seats.items():
        if one.hand is not None and seat in outcome.winners:
            seats[seat] = replace(one, hand=_without(one.hand, winning))
    robbed = any(winning in meld for meld in own.melds)
    if robbed or winning in own.river:
        melds = tuple(_without(meld, winning) for meld in own.melds)
        seats[outcome.discarder] = replace(own, river=_without(own.river, winning), melds=melds)
        yield LaidTable(seats, outcome, winning, robbed)
        return
    yield LaidTable(seats, outcome, winning, None)
    if own.river[-1:] == (None,):
        seats = {**seats, outcome.discarder: replace(own, river=own.river[:-1])}
        yield LaidTable(seats, outcome, winning, robbed=False)


def _without(serials: tuple[Serial, ...], serial: int) -> tuple[Serial, ...]:
    return tuple(one for one in serials if one != serial)


def _with_winning_tile(seats: Mapping[Seat, LaidSeat], ending: Ending) -> Mapping[Seat, LaidSeat]:
    """Add a self-drawn winning tile to the winner's hand if it lies apart."""
    return {
        seat: replace(one, hand=(*one.hand, ending.winning))
        if seat in ending.outcome.winners and one.hand is not None and ending.winning not in (None, *one.hand)
        else one
        for seat, one in seats.items()
    }


def _check_tiles(table: LaidTable, tiles: DealtTiles) -> None:
    """Refuse tiles that cannot lie where they were read, whatever the play was."""
    lying = [serial for one in table.seats.values() for serial in _serials(one)]
    if table.outcome.discarder is not None:
        lying.append(table.winning)
    for serial, times in Counter(serial for serial in lying if serial).items():
        if serial not in tiles.seat:
            raise RuleError("unknown_serial", f"serial {serial} is in no tray of this deal")
        if times > 1:
            raise RuleError("tile_laid_twice", f"serial {serial} lies in two places")
    for seat, one in table.seats.items():
        for own in (*one.river, *(one.hand or ())):
            if own and tiles.seat[own] != seat:
                text = f"serial {own} lies before {seat}, and only {tiles.seat[own]} can have drawn it"
                raise RuleError("tile_of_another", text)


def _serials(one: LaidSeat) -> tuple[Serial, ...]:
    """Return all tiles in front of a seat."""
    return (*one.river, *chain.from_iterable(one.melds), *(one.hand or ()))


def _reversals(laid: Mapping[Seat, LaidSeat]) -> Iterator[tuple[Seat, ...]]:
    """Yield the sets of seats whose rivers may be read from their ends, starting with none."""
    reversible = [seat for seat in SEATS if seat in laid and len(laid[seat].river) > 1]
    choices = product((False, True), repeat=len(reversible))
    yield from sorted((tuple(compress(reversible, choice)) for choice in choices), key=len)


def _reversed_rivers(laid: Mapping[Seat, LaidSeat], reversed_seats: Sequence[Seat]) -> Mapping[Seat, LaidSeat]:
    """Reverse some rivers. Empty places after the last tile are not gaps."""
    return {
        seat: replace(one, river=_without_trailing_gaps(one.river[::-1] if seat in reversed_seats else one.river))
        for seat, one in laid.items()
    }


def _without_trailing_gaps(river: tuple[Serial, ...]) -> tuple[Serial, ...]:
    gaps = sum(1 for _ in takewhile(lambda serial: serial == GAP, reversed(river)))
    return river[: len(river) - gaps]


def _melds_of(read: LaidTable, tiles: DealtTiles) -> Iterator[tuple[DeclaredMeld, ...]]:
    """Yield the melds: once, or if tiles were not read, once for each combination of tiles that may lie there."""
    laid = [(seat, meld) for seat, one in read.seats.items() for meld in one.melds]
    unread = [(at, place) for at, (_, meld) in enumerate(laid) for place, serial in enumerate(meld) if serial is None]
    if len(unread) > MOST_UNREAD:
        raise RuleError("too_much_unread", f"{len(unread)} tiles of melds are not read; {MOST_UNREAD} at most")
    if not unread:
        yield tuple(_meld(seat, meld, at, tiles) for at, (seat, meld) in enumerate(laid))
        return
    seen = {read.winning, *chain.from_iterable(_serials(one) for one in read.seats.values())}
    free = [serial for serial in tiles.seat if serial not in seen]
    completions = [_completions(seat, meld, free, tiles) for seat, meld in laid]
    for chosen in product(*completions):
        serials = list(chain.from_iterable(chosen))
        if len(set(serials)) == len(serials):
            seats = (seat for seat, _ in laid)
            yield tuple(_meld(seat, meld, at, tiles) for at, (seat, meld) in enumerate(zip(seats, chosen, strict=True)))


def _completions(seat: Seat, meld: tuple[Serial, ...], free: Sequence[int], tiles: DealtTiles) -> list[tuple[int, ...]]:
    """Return all possible forms of a meld, given its unread tiles."""
    read, missing = [serial for serial in meld if serial is not None], meld.count(None)
    found: list[tuple[int, ...]] = []
    for more in product(free, repeat=missing):
        whole = (*read, *more)
        if list(more) == sorted(set(more)) and _is_meld(seat, whole, tiles):
            found.append(whole)
    return found


def _is_meld(seat: Seat, serials: tuple[int, ...], tiles: DealtTiles) -> bool:
    try:
        _meld(seat, serials, 0, tiles)
    except RuleError:
        return False
    return True


def _meld(seat: Seat, laid: Sequence[Serial], number: int, tiles: DealtTiles) -> DeclaredMeld:
    """Classify a meld. Raises RuleError `not_a_meld`."""
    serials = tuple(serial for serial in laid if serial is not None)
    faces = sorted(tiles.face(serial) for serial in serials)
    others = [serial for serial in serials if tiles.seat[serial] != seat]
    alike = len(set(faces)) == 1
    kind = "kong" if len(serials) == len(SEATS) else "pung" if alike else "chow"
    McrMeld(kind, tuple(faces))
    if len(others) > 1 or (not others and kind != "kong"):
        raise RuleError("not_a_meld", f"{len(others)} tiles of {seat}'s {kind} were drawn by others: one is claimed")
    claimed = others[0] if others else None
    source = None if claimed is None else tiles.seat[claimed]
    if kind == "chow" and source is not None and NEXT_SEAT[source] != seat:
        raise RuleError("not_a_meld", f"{seat} has a chow with a tile of {source}, who does not sit before")
    do: ActionKind = (
        "chow" if kind == "chow" else "pung" if kind == "pung" else "melded_kong" if others else "concealed_kong"
    )
    own = tuple(sorted(tiles.place[serial] for serial in serials if serial != claimed))
    return DeclaredMeld(seat, do, serials, own, source, claimed, faces[0], 1 << 2 * number, 2 << 2 * number)


class _Fit(NamedTuple):
    """One reading of the table, with the plays that fit it."""

    reversed_rivers: tuple[Seat, ...]
    """The seats whose rivers lie the wrong way round, of those whose image showed the direction."""
    search: PlaySearch

    @property
    def weight(self) -> Fraction:
        """How likely each of its plays is, relative to one in which all rivers lie as they were read."""
        return REVERSED_LIKELIHOOD ** len(self.reversed_rivers)


def _searches(table: LaidTable, tiles: DealtTiles, *, irregular: bool) -> Iterator[PlaySearch]:
    return (PlaySearch(tiles, table, melds, irregular=irregular) for melds in _melds_of(table, tiles))


def _summary(fits: Sequence[_Fit], tiles: DealtTiles, *, irregular: bool) -> FoundPlay:
    """Combine all fits into one result."""
    total = sum(fit.weight * fit.search.plays for fit in fits)
    shares: dict[OrderedStep, Fraction] = {}
    for fit in fits:
        for ordered, plays in fit.search.counts().items():
            shares[ordered] = shares.get(ordered, Fraction(0)) + fit.weight * plays / total
    weights = {ordered: float(share) for ordered, share in shares.items()}
    (_, play), best = max(((fit.search.likeliest(weights), fit) for fit in fits), key=lambda one: one[0][0])
    steps = [PlayStep(ordered.step.action, ordered.step.serial, shares[ordered]) for ordered in play if ordered.step]
    ends = [end for fit in fits for end in fit.search.ends]
    out_of_turn, ltw = {end.out_of_turn for end in ends}, {end.turns.ltw for end in ends}
    return FoundPlay(
        tuple(_with_unread(steps, fits, tiles)),
        sum(fit.search.plays for fit in fits),
        ltw.pop() if len(ltw) == 1 else None,
        out_of_turn=out_of_turn.pop() if len(out_of_turn) == 1 else None,
        irregular=irregular,
        reversed_rivers=best.reversed_rivers,
    )


def _is_self_drawn(laid: Mapping[Seat, LaidSeat], outcome: Outcome) -> bool | None:
    """Return whether the winner surely drew the winning tile: all of their hand was read, and is made of own tiles."""
    if outcome.win != "self_drawn":
        return False
    hands = [laid[seat].hand if seat in laid else None for seat in outcome.winners]
    return True if all(hand is not None and None not in hand for hand in hands) else None


def _with_unread(steps: Iterable[PlayStep], fits: Sequence[_Fit], tiles: DealtTiles) -> Iterator[PlayStep]:
    """Assign a tile to each unread discard: one that had been drawn by then and lies nowhere else."""
    possible = {seat: frozenset[int]().union(*(fit.search.unread_candidates(seat) for fit in fits)) for seat in SEATS}
    drawn = {seat: set(tiles.trays[seat][: ROWS[0]]) for seat in SEATS}
    for step in steps:
        (seat, *_) = step.action.actors
        if step.action.do == "draw" and step.serial is not None:
            drawn[seat].add(step.serial)
        if step.action.do == "discard" and step.serial is None:
            serial = max(drawn[seat] & possible[seat], key=tiles.place.__getitem__)
            drawn[seat].remove(serial)
            action = replace(step.action, tile=tiles.face(serial))
            yield PlayStep(action, serial, step.share / len(possible[seat]))
        else:
            yield step
