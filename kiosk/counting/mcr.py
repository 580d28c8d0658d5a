"""What is asked of a hand that has won under MCR. Pure.

The keys: `l` (last tile), `k` (replacement tile, robbed kong), `o` (the three others lay open); where nothing has read
the walls also those of `as_said.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from broker.contract.counting import SaidOfMcr
from broker.rules.laid_hand import LaidHand, sort_out
from broker.rules.said_hand import SaidHand
from kiosk.counting.as_said import AsSaid, Question, yes_or_no
from kiosk.counting.lying import Serials, serials
from kiosk.sight import HandSight, Winner

AnyHand = LaidHand | SaidHand


@dataclass(frozen=True, slots=True)
class OfMcr:
    """What was said of the win. `laid`: how the hand lies, where nothing has read the walls."""

    laid: AsSaid | None = None
    last_tile: bool = False
    kong: bool = False
    last_of_kind: bool = False

    def hand(self, sight: HandSight, winner: Winner) -> AnyHand:
        """Give the hand. Raises RuleError with the codes of `serials`, and of `sort_out` or `sort_as_said`."""
        groups = serials(sight)
        return sort_out(groups, winner.play.order, winner.seat) if self.laid is None else self.laid.sort(groups)

    def groups(self, sight: HandSight) -> Serials:
        """Give the serials of the hand by groups. Raises RuleError as `serials`."""
        return serials(sight)

    @property
    def ready(self) -> bool:
        """Whether all is said that has to be."""
        return self.laid is None or self.laid.self_drawn is not None

    def press(self, key: str, sight: HandSight, winner: Winner) -> "OfMcr":
        """Take a key; one that means nothing of this hand leaves everything as it is. Raises RuleError as `hand`."""
        hand = self.hand(sight, winner)
        if key == "l" and hand.may_be_last_tile:
            return replace(self, last_tile=not self.last_tile)
        if key == "k" and self._may_be_kong(hand):
            return replace(self, kong=not self.kong)
        if key == "o":
            return replace(self, last_of_kind=not self.last_of_kind)
        if self.laid is not None:
            return replace(self, laid=self.laid.press(key, serials(sight)))
        return self

    def questions(self, sight: HandSight, winner: Winner) -> Iterator[Question]:
        """Ask what the tiles cannot tell, where the hand allows it. Raises RuleError as `hand`."""
        hand, said = self.hand(sight, winner), self.said(sight, winner)
        if self.laid is not None:
            yield from self.laid.questions(serials(sight))
        if hand.may_be_last_tile:
            yield yes_or_no("l", "count_last_tile", yes=said.last_tile)
        if self._may_be_kong(hand):
            yield yes_or_no("k", "count_replacement" if hand.self_drawn else "count_robbed", yes=said.kong)
        yield yes_or_no("o", "count_last_of_kind", yes=said.last_of_kind)

    def said(self, sight: HandSight, winner: Winner) -> SaidOfMcr:
        """Give what was said that this hand allows: what it asked of an earlier one is not said of another.

        Raises RuleError as `hand`.
        """
        hand, laid = self.hand(sight, winner), None
        if self.laid is not None:
            laid = self.laid.laid(serials(sight))
        return SaidOfMcr(
            last_tile=self._said_last_tile(hand),
            kong=self.kong and self._may_be_kong(hand),
            last_of_kind=self.last_of_kind,
            laid=laid,
        )

    def _said_last_tile(self, hand: AnyHand) -> bool:
        return self.last_tile and hand.may_be_last_tile

    def _may_be_kong(self, hand: AnyHand) -> bool:
        """Say whether it is asked for a replacement tile or, of a claimed tile, a robbed kong."""
        return hand.has_kong if hand.self_drawn else not self._said_last_tile(hand)
