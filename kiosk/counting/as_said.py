"""What is asked of a hand where no wall tells it: who drew the winning tile, and which kongs are concealed. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from broker.contract.counting import Laid
from broker.rules.laid_hand import KONG, Group
from broker.rules.said_hand import SaidHand, sort_as_said

DRAWN, CONCEALED = "t", "g"
"""Keys."""

ANSWERS: Final[dict[bool | None, str]] = {None: "count_unsaid", True: "self_drawn", False: "count_discarded"}


class Question(NamedTuple):
    """What is asked beside a hand: the key that answers it, its name, and the answer as it stands."""

    key: str
    name: str
    answer: str
    """The name of a sentence, or a text as it is."""
    strong: bool = False
    """It is not what goes without saying."""


def yes_or_no(key: str, name: str, *, yes: bool) -> Question:
    """Give a question that is answered so."""
    return Question(key, name, "do_riichi_yes" if yes else "do_riichi_no", strong=yes)


@dataclass(frozen=True, slots=True)
class AsSaid:
    """The answers."""

    self_drawn: bool | None = None
    """None: nobody has said, and nothing is asked of the scorer before."""
    concealed: frozenset[int] = frozenset()
    """Numbers of the groups that are concealed kongs, of those that can be."""

    def sort(self, groups: Sequence[Group]) -> SaidHand:
        """Give the hand. Raises RuleError with the codes of `sort_as_said`."""
        kongs = self.concealed & {*_kongs(groups)}
        return sort_as_said(groups, self_drawn=bool(self.self_drawn), concealed_kongs=kongs)

    def laid(self, groups: Sequence[Group]) -> Laid:
        """Give what is told of it."""
        kongs = tuple(sorted(self.concealed & {*_kongs(groups)}))
        return Laid(self_drawn=bool(self.self_drawn), concealed_kongs=kongs)

    def press(self, key: str, groups: Sequence[Group]) -> "AsSaid":
        """Take a key: whose tile it was, or the next choice of concealed kongs."""
        if key == DRAWN:
            return replace(self, self_drawn=not self.self_drawn)
        if key == CONCEALED:
            kongs = _kongs(groups)
            chosen = sum(1 << at for at, kong in enumerate(kongs) if kong in self.concealed) + 1
            return replace(self, concealed=frozenset(kong for at, kong in enumerate(kongs) if chosen >> at & 1))
        return self

    def questions(self, groups: Sequence[Group]) -> Iterator[Question]:
        """Give what is asked of this hand."""
        yield Question(DRAWN, "count_tile", ANSWERS[self.self_drawn], strong=self.self_drawn is None)
        if kongs := _kongs(groups):
            chosen = ", ".join(str(kong) for kong in kongs if kong in self.concealed)
            yield Question(CONCEALED, "count_concealed_kong", chosen or "do_riichi_no", strong=bool(chosen))


def _kongs(groups: Sequence[Group]) -> tuple[int, ...]:
    """Give the numbers of the groups that are kongs."""
    return tuple(number for number, group in enumerate(groups[1:-1], 2) if len(group) == KONG)
