"""What is asked of a hand that has won under riichi rules. Pure.

The keys: those of `as_said.py`, and `i` (riichi, double, open), `p` (ippatsu), `m` (last tile, replacement tile or
robbed kan, first turn), `f` (red fives), `j` (how many indicators are turned).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from broker.contract.counting import RiichiDeclared, SaidOfRiichi, WinMoment
from broker.contract.words import Seat, Wind
from broker.rules.said_hand import SaidHand
from kiosk.counting.as_said import AsSaid, Question, yes_or_no
from kiosk.counting.lying import MOST_INDICATORS, Serials, WithIndicators, with_indicators
from kiosk.sight import HandSight, Winner

T = TypeVar("T")

CLOSED: Final[tuple[RiichiDeclared, ...]] = ("riichi", "double_riichi")
OPEN: Final[tuple[RiichiDeclared, ...]] = ("open_riichi", "double_open_riichi")

PLAIN: Final = {None: "do_riichi_no", "riichi": "do_riichi_yes"}
"""Answers to whether there was riichi; of other kinds it is their name."""

RED_SUITS: Final = 3


@dataclass(frozen=True, slots=True)
class Known:
    """What the table knows of the win by itself."""

    round_wind: Wind
    dealer: Seat
    deposit: bool | None = None
    """Whether the winner has laid one; None where nothing is laid down, and riichi is only said."""
    open_riichi: bool = False
    """Whether there is open riichi."""
    red_fives: bool = False
    """Whether red fives count."""
    any_hand: bool = False
    """Whether this hand needs no yaku: it is the one after eight counters."""
    dead_wall: tuple[int, ...] = ()
    """The five indicators from the left, then those under them; none where no wall was read."""


@dataclass(frozen=True, slots=True)
class OfRiichi:
    """What was said of the win."""

    known: Known
    laid: AsSaid = field(default_factory=AsSaid)
    riichi: RiichiDeclared | None = None
    ippatsu: bool = False
    moment: WinMoment | None = None
    red_fives: int = 0
    turned: int | None = None
    """How many indicators; None: one, and one for each kan of the winner's."""

    def hand(self, sight: HandSight, winner: Winner) -> SaidHand:  # noqa: ARG002 - another book's asks whose it is
        """Give the hand. Raises RuleError with the codes of `with_indicators`."""
        return with_indicators(sight, self.laid).hand

    def groups(self, sight: HandSight) -> Serials:
        """Give the serials of the hand by groups. Raises RuleError as `hand`."""
        return with_indicators(sight, self.laid).groups

    @property
    def ready(self) -> bool:
        """Whether all is said that has to be."""
        return self.laid.self_drawn is not None

    def press(self, key: str, sight: HandSight, winner: Winner) -> "OfRiichi":
        """Take a key; one that means nothing of this hand leaves everything as it is. Raises RuleError as `hand`."""
        if key not in {question.key for question in self.questions(sight, winner)}:
            return self
        lies, said = with_indicators(sight, self.laid), self.said(sight, winner)
        match key:
            case "i":
                after = replace(self, riichi=_after(self._kinds, said.riichi))
            case "p":
                after = replace(self, ippatsu=not self.ippatsu)
            case "m":
                after = replace(self, moment=_after(self._moments(lies.hand), said.moment))
            case "f":
                after = replace(self, red_fives=(self.red_fives + 1) % (RED_SUITS + 1))
            case "j":
                after = replace(self, turned=self._turned(lies.hand) % MOST_INDICATORS + 1)
            case _:
                after = replace(self, laid=self.laid.press(key, lies.groups))
        return after

    def questions(self, sight: HandSight, winner: Winner) -> Iterator[Question]:
        """Ask what neither tiles nor table can tell, where the hand allows it. Raises RuleError as `hand`."""
        lies, said = with_indicators(sight, self.laid), self.said(sight, winner)
        yield from self.laid.questions(lies.groups)
        if len(self._kinds) > 1 and _is_closed(lies.hand):
            yield Question(
                "i", "count_riichi", PLAIN.get(said.riichi, str(said.riichi)), strong=said.riichi is not None
            )
        if said.riichi:
            yield yes_or_no("p", "count_ippatsu", yes=said.ippatsu)
        if self.ready:
            yield Question("m", "count_moment", _named(said), strong=said.moment is not None)
        if self.known.red_fives:
            yield Question("f", "count_red_fives", str(self.red_fives), strong=self.red_fives > 0)
        if self.known.dead_wall:
            turned = self._turned(lies.hand)
            yield Question("j", "count_turned", str(turned), strong=turned > 1)

    def said(self, sight: HandSight, winner: Winner) -> SaidOfRiichi:  # noqa: ARG002 - as above
        """Give what was said that this hand allows: what it asked of an earlier one is not said of another.

        Raises RuleError as `hand`.
        """
        lies = with_indicators(sight, self.laid)
        riichi, (dora, ura) = self._declared(lies.hand), self._indicators(lies)
        return SaidOfRiichi(
            laid=self.laid.laid(lies.groups),
            round_wind=self.known.round_wind,
            dealer=self.known.dealer,
            riichi=riichi,
            ippatsu=self.ippatsu and riichi is not None,
            moment=self.moment if self.moment in self._moments(lies.hand) else None,
            red_fives=self.red_fives if self.known.red_fives else 0,
            dora=dora,
            ura=ura if riichi else (),
        )

    def _indicators(self, lies: WithIndicators) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Give the serials of the indicators, and of those under them: of the dead wall, or as they lie."""
        wall = self.known.dead_wall
        if not wall:
            return lies.dora, lies.ura
        turned = self._turned(lies.hand)
        return wall[:turned], wall[MOST_INDICATORS : MOST_INDICATORS + turned]

    def _turned(self, hand: SaidHand) -> int:
        return self.turned or min(MOST_INDICATORS, 1 + hand.kongs)

    @property
    def _kinds(self) -> tuple[RiichiDeclared | None, ...]:
        """How riichi may have been declared: a table at which deposits are laid knows whether it was."""
        kinds = CLOSED + OPEN if self.known.open_riichi else CLOSED
        return {None: (None, *kinds), True: kinds, False: (None,)}[self.known.deposit]

    def _declared(self, hand: SaidHand) -> RiichiDeclared | None:
        if not _is_closed(hand):
            return None
        return self.riichi if self.riichi in self._kinds else self._kinds[0]

    def _moments(self, hand: SaidHand) -> tuple[WinMoment | None, ...]:
        kan: tuple[WinMoment, ...] = ("kan",) if hand.has_kong or not hand.self_drawn else ()
        first: tuple[WinMoment, ...] = () if hand.melds or self._declared(hand) else ("first_turn",)
        return (None, "last_tile", *kan, *first)


def _named(said: SaidOfRiichi) -> str:
    """Give the name of the moment: a drawn tile's and a claimed one's are not the same."""
    if said.moment is None:
        return "do_riichi_no"
    return f"count_{said.moment}_{'drawn' if said.laid.self_drawn else 'claimed'}"


def _is_closed(hand: SaidHand) -> bool:
    return all(meld.concealed for meld in hand.melds)


def _after(choices: Sequence[T], now: T) -> T:
    """Give the next choice, after the last one the first."""
    return choices[(choices.index(now) + 1) % len(choices)]
